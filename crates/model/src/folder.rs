//! The listing of a local folder, for the file picker.

use std::{ffi::OsString, path::PathBuf};

use crate::{FileKind, SafeText};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderListing {
    pub path: PathBuf,
    /// At most [`FolderListing::MAX_ENTRIES`].
    pub entries: Vec<FolderEntry>,
    pub omitted: usize,
}

impl FolderListing {
    pub const MAX_ENTRIES: usize = 5_000;

    pub fn entry_path(&self, entry: &FolderEntry) -> PathBuf {
        self.path.join(&entry.file_name)
    }
}

/// A file or folder. Links are resolved; pipes, sockets and devices are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    pub name: SafeText,
    /// The name as the file system has it, for building paths.
    pub file_name: OsString,
    pub is_folder: bool,
    pub bytes: u64,
}

impl FolderEntry {
    pub fn is_picture(&self) -> bool {
        !self.is_folder
            && FileKind::from_name(&self.file_name.to_string_lossy()) == FileKind::Picture
    }
}
