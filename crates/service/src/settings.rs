//! How a local deployment behaves: what it may do, where it may read, and, for rehearsals, how slow
//! it is and what fails.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use super::{object_storage, text::encoders::Encoders};

/// The settings of a deployment.
#[derive(Clone, Debug)]
pub struct DeploymentSettings {
    /// Whether media may be added at all (the flag `ADD_MEDIA_ENABLED` of the interface document).
    pub add_media: bool,
    /// Whether callers have write access.
    pub write_access: bool,
    /// The folders below which `process/add_media` may read, absolute and canonical; the folders of
    /// the datasets are always among them.
    pub readable_roots: Vec<PathBuf>,
    /// The program that decodes the first frame of a video; without it videos are skipped.
    pub ffmpeg: Option<PathBuf>,
    /// A person's own encoders; without them texts find captions and labels only.
    pub encoders: Option<Arc<Encoders>>,
    /// How object storage is reached.
    pub storage: object_storage::StorageSettings,
    /// How long every operation and export takes at least, so that states that pass in a moment can be
    /// looked at.
    pub simulated_delay: Duration,
    /// What ends badly, so that rare states can be looked at.
    pub injected_failures: BTreeSet<InjectedFailure>,
}

impl Default for DeploymentSettings {
    fn default() -> Self {
        Self {
            add_media: true,
            write_access: true,
            readable_roots: Vec::new(),
            ffmpeg: None,
            encoders: None,
            storage: object_storage::StorageSettings::default(),
            simulated_delay: Duration::ZERO,
            injected_failures: BTreeSet::new(),
        }
    }
}

impl DeploymentSettings {
    /// The settings of a person's own machine: with the programs that are on `PATH`.
    #[must_use]
    pub fn detect() -> Self {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let ffmpeg = std::env::split_paths(&paths).map(|folder| folder.join("ffmpeg"));
        Self { ffmpeg: ffmpeg.into_iter().find(|program| program.is_file()), ..Self::default() }
    }
}

/// A part of the service that can be made to fail on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InjectedFailure {
    /// `add_media` answers 500: the upload to storage failed.
    Upload,
    /// `add_media` and `reindex` answer 500: the pipeline could not be triggered.
    Trigger,
    /// An accepted addition ends in ERROR.
    AddMedia,
    /// A reindex ends in ERROR.
    Reindex,
    /// An export ends in FAILED.
    Export,
    /// `search-image-similarity` answers 500.
    Search,
}

impl InjectedFailure {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Upload, Self::Trigger, Self::AddMedia, Self::Reindex, Self::Export, Self::Search];

    /// The word on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Trigger => "trigger",
            Self::AddMedia => "add_media",
            Self::Reindex => "reindex",
            Self::Export => "export",
            Self::Search => "search",
        }
    }

    /// Reads the word of the command line.
    #[must_use]
    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failing| failing.as_str() == raw.trim())
    }
}
