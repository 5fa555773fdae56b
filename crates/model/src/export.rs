//! Exports: what is asked for, what the service says of it, and when it is over.

use std::{fmt, path::PathBuf};

use crate::{ExportTaskId, Link, SafeText, inspection::NameSample};

/// The format of the metadata file in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ExportFormat {
    /// `metadata.json`.
    Json,
    /// `metadata.parquet`.
    #[default]
    Parquet,
}

impl ExportFormat {
    /// The word on the wire and on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Reads the wire's word, any case.
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.trim().to_lowercase().as_str() {
            "json" => Some(Self::Json),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// What is to be exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSpec {
    /// Name of the ZIP: one safe component ending in `.zip`.
    pub file_name: ArchiveName,
    /// Format of the metadata.
    pub format: ExportFormat,
    /// Whether the pictures come along.
    pub include_images: bool,
}

/// The name of an archive: a single file name that is safe to create, ending in `.zip`.
#[derive(Clone, PartialEq, Eq)]
pub struct ArchiveName(String);

impl ArchiveName {
    /// Makes a safe name of whatever is given: the last path component, without control or
    /// reserved characters, leading dots or dashes, at most 200 bytes.
    pub fn new(raw: &str) -> Self {
        let base = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut stem: String = base
            .chars()
            .map(|c| if c.is_control() || r#"<>:"|?*"#.contains(c) { '_' } else { c })
            .filter(|&c| SafeText::name(c.encode_utf8(&mut [0; 4])).as_str().chars().eq([c]))
            .collect();
        if stem.to_lowercase().ends_with(".zip") {
            stem.truncate(stem.len() - 4);
        }
        while stem.len() > 190 {
            stem.pop();
        }
        let stem = stem.trim_start_matches(['.', '-', ' ']).trim_end_matches(['.', ' ']);
        let reserved = ["con", "prn", "aux", "nul"].contains(&stem.to_lowercase().as_str());
        let stem = if stem.is_empty() || reserved { "export" } else { stem };
        Self(format!("{stem}.zip"))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Where an export stands, as the service tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportState {
    /// Not over: the word as it came, or empty when the service gave none.
    Running(SafeText),
    /// The archive can be fetched once a link is there.
    Completed,
    /// Over, without an archive: FAILED, REJECTED or CANCELLED, as it came.
    Failed(SafeText),
}

impl ExportState {
    /// Reads a status word. An unknown word means the work goes on.
    pub fn parse(raw: &str) -> Self {
        match raw.trim().to_uppercase().as_str() {
            "COMPLETED" => Self::Completed,
            "FAILED" | "REJECTED" | "CANCELED" | "CANCELLED" => {
                Self::Failed(SafeText::name(raw.trim()))
            }
            _ => Self::Running(SafeText::name(raw.trim())),
        }
    }

    /// The word on screen.
    pub fn word(&self) -> &str {
        match self {
            Self::Running(word) if word.is_empty() => "PENDING",
            Self::Running(word) | Self::Failed(word) => word.as_str(),
            Self::Completed => "COMPLETED",
        }
    }
}

/// One answer about an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportTask {
    /// Identifier to poll with.
    pub id: ExportTaskId,
    /// Where it stands.
    pub state: ExportState,
    /// Percent done, where the service tells it.
    pub progress: Option<u8>,
    /// A time-limited link to the archive; present with COMPLETED.
    pub download: Option<Link>,
    /// Words of the service about the result.
    pub message: Option<SafeText>,
}

/// What a finished download holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Entries whose checksums were verified.
    pub entries: usize,
    /// How many of them are pictures below `images/`.
    pub images: usize,
}

/// What came out of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// The folder that everything lies below.
    pub folder: PathBuf,
    /// Files written.
    pub files: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Entries that were refused, each with the reason.
    pub rejected_entries: NameSample,
    /// The file that joins rows and pictures, if it was asked for.
    pub index_file: Option<PathBuf>,
}
