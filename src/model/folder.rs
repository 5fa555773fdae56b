//! What is in a folder of this machine, for choosing from.

use std::{ffi::OsString, path::PathBuf};

use crate::model::SafeText;

/// The files and folders of one folder, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The folder, as it was asked for.
    pub path: PathBuf,
    /// At most [`Folder::MOST`] of what is in it.
    pub entries: Vec<FolderEntry>,
    /// How many more there are.
    pub left_off: usize,
}

impl Folder {
    /// Entries that are listed.
    pub const MOST: usize = 5_000;
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
