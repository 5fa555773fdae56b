//! What is in a folder of this machine, for choosing from.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::SafeText;

/// The files and folders of one folder, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderListing {
    /// The folder, as it was asked for.
    pub path: PathBuf,
    /// At most [`Folder::MOST`] of what is in it.
    pub entries: Vec<FolderEntry>,
    /// How many more there are.
    pub omitted: usize,
}

impl FolderListing {
    /// Entries that are listed.
    pub const MAX_ENTRIES: usize = 5_000;

    /// The whole path of one of its entries.
    pub fn path_of(&self, entry: &FolderEntry) -> PathBuf {
        self.path.join(&entry.file_name)
    }
}

/// One file or folder. Links are what they lead to; pipes, sockets and devices are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name, printable.
    pub name: SafeText,
    /// Its name as the file system has it, to build paths from.
    pub file_name: OsString,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Size of a file in bytes.
    pub bytes: u64,
}

impl FolderEntry {
    /// The endings of the pictures that are opened here, lower case.
    const PICTURE_EXTENSIONS: [&str; 6] = ["jpg", "jpeg", "png", "webp", "gif", "bmp"];

    /// Whether it is a file named as a picture that is opened here.
    pub fn is_picture(&self) -> bool {
        let ending = Path::new(&self.file_name).extension();
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        !self.is_folder
            && ending.is_some_and(|ending| Self::PICTURE_EXTENSIONS.contains(&ending.as_str()))
    }
}
