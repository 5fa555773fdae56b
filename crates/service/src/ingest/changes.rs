//! Changes since the last scan, by size and modification time only: an unchanged folder is
//! recognized without opening a file.

use std::{collections::BTreeMap, path::PathBuf};

use super::scan::{FolderScan, ScannedFile};
use crate::store::indexed_files::KnownFile;

/// The difference between a scan and the known files.
#[derive(Clone, Debug, Default)]
pub struct FolderChanges {
    /// Files that are new or modified, with the content hash if known.
    pub added_or_modified: Vec<(ScannedFile, Option<[u8; 32]>)>,
    /// Known files that no longer exist.
    pub removed: Vec<PathBuf>,
}

impl FolderChanges {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added_or_modified.is_empty() && self.removed.is_empty()
    }
}

/// Compares a scan with the known files.
#[must_use]
pub fn diff(survey: &FolderScan, mut known: BTreeMap<PathBuf, KnownFile>) -> FolderChanges {
    let mut changes = FolderChanges::default();
    for found in &survey.files {
        match known.remove(&found.path) {
            Some(old) if old.stamp == found.stamp => {}
            old => changes
                .added_or_modified
                .push((found.clone(), old.and_then(|old| old.content_hash))),
        }
    }
    changes.removed = known.into_keys().collect();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::indexed_files::FileStat;

    #[test]
    fn new_changed_and_vanished_files_are_told_apart() {
        let found = |path: &str, size| ScannedFile {
            path: path.into(),
            stamp: FileStat { size, modified: 7 },
        };
        let survey = FolderScan {
            files: vec![found("changed", 2), found("new", 1), found("same", 1)],
            skipped: Vec::new(),
        };
        let known = ["changed", "gone", "same"].map(|path| {
            let stamp = FileStat { size: 1, modified: 7 };
            (PathBuf::from(path), KnownFile { stamp, content_hash: Some([3; 32]) })
        });
        let changes = diff(&survey, BTreeMap::from(known));
        let expected = vec![(found("changed", 2), Some([3; 32])), (found("new", 1), None)];
        assert_eq!(changes.added_or_modified, expected);
        assert_eq!(changes.removed, [PathBuf::from("gone")]);
        assert!(!changes.is_empty());
    }
}
