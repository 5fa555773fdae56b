//! Finds media by the names that a file from elsewhere gives them. The names are matched as those in sidecars are.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use super::file_index::FileIndex;
use crate::ingest::{FileStat, FolderScan, ScannedFile};

/// The paths of the media of a dataset.
pub struct MediaPaths(FolderScan);

/// The names by which media are found.
pub struct MediaNames<'a>(FileIndex<'a>);

impl MediaPaths {
    pub fn new(paths: impl Iterator<Item = PathBuf>) -> Self {
        let stat = FileStat { size: 0, modified: 0 };
        let files = paths.map(|path| ScannedFile { path, stat }).collect();
        Self(FolderScan { files, ..FolderScan::default() })
    }

    pub fn names(&self) -> MediaNames<'_> {
        MediaNames(FileIndex::of_media(&self.0))
    }
}

impl<'a> MediaNames<'a> {
    /// Returns the path of the only media item that a name fits, or why there is none.
    pub fn find(&self, name: &str) -> Result<&'a Path, String> {
        self.0.resolve(name, Path::new("")).map_err(Cow::into_owned)
    }
}
