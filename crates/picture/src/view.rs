//! What is seen: which picture, and how much of it. Equal sights have equal pixels on equal
//! canvases, so a sight names a picture in every cache from the worker to the terminal.

use std::path::PathBuf;

use tessera_model::{MediaId, Region};

/// A picture, by what it is and not by where it is fetched: links expire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSubject {
    /// A media of a dataset.
    Media(MediaId),
    /// A file of this machine.
    File(PathBuf),
    /// An entry of an archive of this machine.
    ArchiveEntry(PathBuf, String),
}

/// How much of a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crop {
    /// All of it.
    Full,
    /// All of it, with this region framed and what lies around it dimmed.
    Highlighted(Region),
    /// This region alone.
    Region(Region),
}

/// A picture as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PictureView {
    /// Which picture.
    pub subject: PictureSubject,
    /// How much of it.
    pub crop: Crop,
}

impl PictureView {
    /// Whether it differs from `other` in nothing but the region.
    #[must_use]
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
