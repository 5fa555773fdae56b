//! What is inside the archive of an export.

use std::path::PathBuf;

use crate::{PictureSource, SafeText};

/// The contents of an archive, as its metadata and its entries tell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The archive.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Name of the metadata file in it.
    pub metadata_file: SafeText,
    /// Rows of the metadata.
    pub rows: u64,
    /// Names of the columns, in their order.
    pub columns: Vec<SafeText>,
    /// How many rows have a `uniqueness_score` in each tenth of 0.0-1.0.
    pub uniqueness: [u64; Inspection::BINS],
    /// Rows without a score from 0.0 to 1.0.
    pub unscored: u64,
    /// Files below `images/`.
    pub images: u64,
    /// The first [`Inspection::NAMED`] of them.
    pub first_images: Vec<PictureSource>,
    /// Rows that name a file which is not there: the files.
    pub rows_without_file: NameSample,
    /// Files that no row names.
    pub files_without_row: NameSample,
    /// Entries whose names are not safe; never opened.
    pub unsafe_entries: NameSample,
}

/// How many there are, and the names of the first [`Inspection::NAMED`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameSample {
    /// All of them.
    pub count: u64,
    /// Some of their names.
    pub first: Vec<SafeText>,
}

impl NameSample {
    /// One more.
    pub fn add(&mut self, name: &str) {
        self.count += 1;
        if self.first.len() < Inspection::MAX_NAMED {
            self.first.push(SafeText::file_name(name));
        }
    }
}

impl Inspection {
    /// Tenths that scores are counted in.
    pub const BINS: usize = 10;
    /// Images, and each kind of what is wrong, that are named.
    pub const MAX_NAMED: usize = 200;
}
