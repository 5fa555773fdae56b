//! What only a local service knows about a dataset, because only a local service reads the folder of the dataset.

use serde::{Deserialize, Serialize};

use crate::EncodingProgress;

#[derive(Clone, Debug, PartialEq)]
pub struct LocalDataset {
    /// Whether the folder of the dataset is missing, unreadable or empty. A disk that is not connected often leaves an
    /// empty folder behind.
    pub folder_missing: bool,
    /// The number of uploaded files. They exist only in the index folder.
    pub uploads: u64,
    /// The number of files and folders that a pattern excludes from the dataset. The content of an excluded folder is
    /// not counted.
    pub excluded: u64,
    /// The patterns that the user has chosen. Those in the folder's own file are not among them.
    pub patterns: PatternLists,
    /// How far the media are encoded, while the process that was asked encodes them.
    pub encoding: Option<EncodingProgress>,
}

/// The maximum number of patterns that include files, and of those that exclude files.
pub const MAX_PATTERNS: usize = 1_000;

/// The patterns of files that belong to a dataset, in the syntax of `.gitignore`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternLists {
    /// A picture or video has to match one of these. No pattern includes everything.
    pub include: Vec<String>,
    /// Files and folders that match one of these are left out.
    pub exclude: Vec<String>,
}

/// What a rescan of the folder of a dataset has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescanResult {
    /// The changes since the folder was indexed. `None` if the folder is compared in the background, because it is in
    /// object storage.
    pub changes: Option<FileChanges>,
    /// Whether the dataset is indexed again.
    pub is_indexing: bool,
}

/// The numbers of files that are different from what was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileChanges {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}
