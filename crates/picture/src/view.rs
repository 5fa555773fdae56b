//! The identity of a displayed picture: which picture, and which part of it. Equal views have equal
//! pixels on equal canvases, so a view is the key of all picture caches.

use std::path::PathBuf;

use tessera_model::{MediaId, Region};

/// A picture, independent of its link, which expires.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSubject {
    Media(MediaId),
    File(PathBuf),
    ArchiveEntry(PathBuf, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crop {
    Full,
    /// The whole picture, with the region outlined and the rest dimmed.
    Highlighted(Region),
    Region(Region),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PictureView {
    pub subject: PictureSubject,
    pub crop: Crop,
}

impl PictureView {
    pub fn differs_only_in_region(&self, other: &Self) -> bool {
        let like = matches!(
            (self.crop, other.crop),
            (Crop::Full, Crop::Full)
                | (Crop::Highlighted(_), Crop::Highlighted(_))
                | (Crop::Region(_), Crop::Region(_))
        );
        like && self.subject == other.subject
    }
}

impl From<MediaId> for PictureView {
    fn from(media: MediaId) -> Self {
        Self { subject: PictureSubject::Media(media), crop: Crop::Full }
    }
}
