//! The listing of a local folder for the file picker, and the query that a listing answers.

use std::{ffi::OsString, path::PathBuf};

use crate::{FileKind, SafeText, search_form};

/// The entries of a folder whose names begin with a text, ignoring case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderQuery {
    pub folder: PathBuf,
    pub prefix: String,
}

impl FolderQuery {
    pub fn accepts(&self, name: &str) -> bool {
        search_form(name).starts_with(&search_form(&self.prefix))
    }

    /// Returns whether a listing of this query, or `None` if the folder cannot be read, is also one of another query.
    pub fn answers(&self, other: &Self, listing: Option<&FolderListing>) -> bool {
        let is_whole = listing.is_none_or(|listing| listing.omitted == 0);
        self == other || is_whole && self.folder == other.folder && self.accepts(&other.prefix)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderListing {
    pub path: PathBuf,
    /// The entries that the query finds, at most [`FolderListing::MAX_ENTRIES`].
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
    /// The name as the file system returns it, from which paths are built.
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
