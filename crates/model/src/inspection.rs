//! The contents of an export archive.

use std::path::PathBuf;

use crate::{PictureSource, SafeText};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub path: PathBuf,
    pub bytes: u64,
    pub metadata_file: SafeText,
    pub rows: u64,
    pub columns: Vec<SafeText>,
    /// Rows by `uniqueness_score`, in tenths of 0.0-1.0.
    pub uniqueness: [u64; Inspection::BINS],
    /// Rows without a score from 0.0 to 1.0.
    pub unscored: u64,
    /// Rows that are frames, and the videos that they are from.
    pub frames: u64,
    pub videos: u64,
    /// Files below `images/`.
    pub images: u64,
    /// At most [`Inspection::MAX_NAMED`].
    pub first_images: Vec<PictureSource>,
    /// Files that rows name but the archive lacks.
    pub rows_without_file: NameSample,
    /// Files that no row names.
    pub files_without_row: NameSample,
    /// Entries with unsafe names; never opened.
    pub unsafe_entries: NameSample,
}

/// A count, and the first [`Inspection::MAX_NAMED`] names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameSample {
    pub count: u64,
    pub first: Vec<SafeText>,
}

impl NameSample {
    pub fn add(&mut self, name: &str) {
        self.count += 1;
        if self.first.len() < Inspection::MAX_NAMED {
            self.first.push(SafeText::file_name(name));
        }
    }
}

impl Inspection {
    pub const BINS: usize = 10;
    pub const MAX_NAMED: usize = 200;
}
