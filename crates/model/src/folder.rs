//! The listing of a local folder, for the file picker.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::SafeText;

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
    const PICTURE_EXTENSIONS: [&str; 6] = ["jpg", "jpeg", "png", "webp", "gif", "bmp"];

    pub fn is_picture(&self) -> bool {
        let extension = Path::new(&self.file_name).extension();
        let extension = extension.map(|extension| extension.to_string_lossy().to_lowercase());
        !self.is_folder
            && extension.is_some_and(|it| Self::PICTURE_EXTENSIONS.contains(&it.as_str()))
    }
}
