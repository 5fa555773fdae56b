//! The settings of a deployment: permissions, folders, programs, and simulated failures. A store on a server records
//! the settings that all its processes must share.

use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf, str::FromStr, time::Duration};

use crate::error::LocalError;
use tessera_media::{ingest::disk_quota::DiskQuota, object_storage};
use tessera_model::{PatternLists, keyword_enum};
use tessera_retrieval::ModelChoice;
use tessera_search::{similarity::MAX_EXACT_ROWS, text::language::LanguageChoice};
use tessera_store::{
    QueryError, Store, export, extraction::RANGE_FILES, postgres::StoreAddress,
    search_table::SearchTableLimits, setting,
};

#[derive(Clone, Debug)]
pub struct DeploymentSettings {
    /// Whether media may be added (`ADD_MEDIA_ENABLED` in the API document).
    pub add_media: bool,
    pub write_access: bool,
    /// Absolute, canonical folders that `process/add_media` may read, in addition to the folders of the datasets.
    pub readable_roots: Vec<PathBuf>,
    /// The program that decodes the frames of videos, with `ffprobe` beside it. Without it, videos are skipped.
    pub ffmpeg: Option<PathBuf>,
    /// The user's own model, which the datasets of opened folders get. Without a model, texts match captions and labels
    /// only.
    pub model: ModelChoice,
    /// The language of the captions in folders that are added. `None` keeps the language that was chosen before.
    pub caption_language: Option<LanguageChoice>,
    /// The files of folders that are added. `None` keeps the patterns that were chosen before.
    pub patterns: Option<PatternLists>,
    /// The address of the store on a server, or `None` for a file in the index folder.
    pub store: Option<StoreAddress>,
    pub storage: object_storage::StorageSettings,
    /// The folder of a bucket for uploads, the archives of exports, and new thumbnails and pictures of frames. Without
    /// it, files are on disk, and pictures are in the store.
    pub bucket: Option<object_storage::ObjectUri>,
    pub disk: DiskQuota,
    /// The limits that decide which datasets of a store on a server are searched by the database.
    pub search_tables: SearchTableLimits,
    /// The number of indexing tasks that this process runs at a time, in addition to one export. With 0, the process
    /// runs neither, and workers run both.
    pub jobs: usize,
    /// The number of files of an indexing task that one worker extracts at a time, with a store on a server. Other
    /// workers extract further files meanwhile.
    pub range_files: usize,
    /// The number of images and frames, or of objects, up to which one worker computes the neighbor graph and
    /// near-duplicates alone, with a store on a server. Above this number, they are computed in ranges by all workers
    /// that have nothing else to do.
    pub unshared_members: usize,
    /// Whether the index files of a dataset are written when an indexing task on the dataset has ended, for searches of
    /// this process. If not, the first search writes them.
    pub prepare_indexes: bool,
    pub original_paths: OriginalPaths,
    /// The maximum number of exports that may be waiting or running.
    pub max_unfinished_exports: u64,
    /// The time for which an export is kept after it has ended.
    pub export_retention: Duration,
    /// The minimum duration of every export, and of each status during an indexing task. The minimum makes short
    /// statuses observable.
    pub simulated_delay: Duration,
    /// The failures to inject, so that rare states can be observed.
    pub injected_failures: BTreeSet<InjectedFailure>,
}

/// Disk space that exports without images never use, in bytes.
const METADATA_RESERVE: u64 = 64 << 20;

impl Default for DeploymentSettings {
    fn default() -> Self {
        Self {
            add_media: true,
            write_access: true,
            readable_roots: Vec::new(),
            ffmpeg: None,
            model: ModelChoice::Keep,
            caption_language: None,
            patterns: None,
            store: None,
            storage: object_storage::StorageSettings::default(),
            bucket: None,
            disk: DiskQuota::default(),
            search_tables: SearchTableLimits::default(),
            jobs: 1,
            range_files: RANGE_FILES,
            unshared_members: MAX_EXACT_ROWS,
            prepare_indexes: true,
            original_paths: OriginalPaths::Hidden,
            max_unfinished_exports: 32,
            export_retention: Duration::from_hours(24),
            simulated_delay: Duration::ZERO,
            injected_failures: BTreeSet::new(),
        }
    }
}

impl DeploymentSettings {
    /// Returns settings with the programs that are on `PATH`.
    pub fn detect() -> Self {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let mut ffmpeg = std::env::split_paths(&paths).map(|folder| folder.join("ffmpeg"));
        let is_complete =
            |ffmpeg: &PathBuf| ffmpeg.is_file() && ffmpeg.with_file_name("ffprobe").is_file();
        Self { ffmpeg: ffmpeg.find(is_complete), ..Self::default() }
    }

    /// Returns the quota of an export. Metadata is small, so it may use more of a disk that is nearly full.
    pub(crate) fn disk_of_exports(&self, include_images: bool) -> DiskQuota {
        if include_images {
            self.disk.clone()
        } else {
            self.disk.with_reserve_up_to(METADATA_RESERVE)
        }
    }
}

/// Whether previews contain the paths of originals on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginalPaths {
    /// The form for other processes and machines, because the API document lists no paths.
    Hidden,
    /// The form for a client in the same process.
    Shown,
}

keyword_enum!(
    InjectedFailure {
        /// `add_media` responds 500: the upload to storage failed.
        Upload = "upload",
        /// `add_media` and `reindex` respond 500: the pipeline could not be triggered.
        Trigger = "trigger",
        /// An accepted addition ends in ERROR.
        AddMedia = "add_media",
        /// A reindex ends in ERROR.
        Reindex = "reindex",
        /// An export ends in FAILED.
        Export = "export",
        /// `search-image-similarity` responds 500.
        Search = "search",
    }
);

impl FromStr for InjectedFailure {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        Self::from_keyword(raw.trim())
            .ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// The number of bytes of a model's fingerprint that are shown.
const SHOWN_BYTES: usize = 6;

const NO_BUCKET: &str = "no bucket";

/// A setting that all processes have in common: its name in the store, its option, and its value in the form in which
/// errors show it.
type CommonSetting = (&'static str, &'static str, String);

/// Records the settings, unless different ones are recorded already. If the bucket was changed, exports whose archives
/// are in the former one become failed.
///
/// # Errors
/// Another process of the store has a different bucket or model, or the store fails.
pub(crate) fn record_settings(
    store: &Store,
    settings: &DeploymentSettings,
) -> Result<(), LocalError> {
    if settings.store.is_none() {
        return Ok(());
    }
    store.write(|tx| {
        for (name, _, given) in common_settings(settings) {
            setting::find_or_insert(tx, name, given.as_bytes())?;
        }
        let former = setting::remove(tx, setting::FORMER_BUCKET)?;
        let has_changed = |former: &[u8]| {
            former != NO_BUCKET.as_bytes() && former != bucket_name(settings).as_bytes()
        };
        if former.is_some_and(|former| has_changed(&former)) {
            export::fail_completed(
                tx,
                "the archive is in the former bucket; start the export again",
            )?;
        }
        Ok(())
    })?;
    require_recorded_settings(store, settings)
}

/// Compares the settings with the recorded ones.
///
/// # Errors
/// Another process of the store has a different bucket or model, or the store fails.
pub(crate) fn require_recorded_settings(
    store: &Store,
    settings: &DeploymentSettings,
) -> Result<(), LocalError> {
    let Some(address) = &settings.store else { return Ok(()) };
    for (name, option, given) in common_settings(settings) {
        let recorded = store.read(|c| {
            let value = setting::find(c, name)?;
            value.map(String::from_utf8).transpose().map_err(QueryError::value)
        })?;
        if let Some(recorded) = recorded.filter(|recorded| *recorded != given) {
            let address = address.clone();
            return Err(LocalError::OtherSetting { address, option, given, recorded });
        }
    }
    Ok(())
}

fn common_settings(settings: &DeploymentSettings) -> [CommonSetting; 2] {
    [
        (setting::BUCKET, "--bucket", bucket_name(settings)),
        (setting::MODEL, "--model", model_name(settings)),
    ]
}

fn bucket_name(settings: &DeploymentSettings) -> String {
    match &settings.bucket {
        Some(bucket) => format!("the bucket {}", bucket.to_string().trim_end_matches('/')),
        None => NO_BUCKET.to_owned(),
    }
}

fn model_name(settings: &DeploymentSettings) -> String {
    let Some(model) = settings.model.encoder() else { return "no model".to_owned() };
    let mut name = "the model ".to_owned();
    for byte in &model.fingerprint()[..SHOWN_BYTES] {
        // Writing cannot fail, because a string accepts everything.
        let _ = write!(name, "{byte:02x}");
    }
    name
}
