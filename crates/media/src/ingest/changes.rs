//! Changes since the last scan, by size and time only, so that no unchanged file is opened.

use std::{collections::BTreeMap, path::PathBuf};

use super::scan::{FolderScan, ScannedFile};
use crate::file_stat::KnownFile;

/// A file to open, with its content hash if known.
pub type FileToExtract = (ScannedFile, Option<[u8; 32]>);

#[derive(Clone, Debug, Default)]
pub struct FolderChanges {
    /// Files that are new or modified.
    pub added_or_modified: Vec<FileToExtract>,
    pub removed: Vec<PathBuf>,
}

impl FolderChanges {
    pub fn is_empty(&self) -> bool {
        self.added_or_modified.is_empty() && self.removed.is_empty()
    }
}

pub fn diff(scan: &FolderScan, mut known: BTreeMap<PathBuf, KnownFile>) -> FolderChanges {
    let mut changes = FolderChanges::default();
    for file in &scan.files {
        match known.remove(&file.path) {
            Some(old) if old.stat.is_unchanged_in(file.stat) => {}
            old => {
                let content_hash = old.and_then(|old| old.content_hash);
                changes.added_or_modified.push((file.clone(), content_hash));
            }
        }
    }
    changes.removed = known.into_keys().collect();
    changes
}
