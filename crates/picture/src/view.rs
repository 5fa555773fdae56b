//! The identity of a displayed picture: which picture, and which part of it. Equal views have equal
//! pixels on equal canvases, so a view is the key of all picture caches.

use std::{path::PathBuf, sync::Arc};

use tessera_model::{MediaId, Region};

/// A picture, independent of its link, which expires.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSubject {
    Media(MediaId),
    File(PathBuf),
    ArchiveEntry(PathBuf, String),
    /// Where two media items differ.
    Difference(MediaId, MediaId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crop {
    Full,
    /// The whole picture, with the region outlined and the rest dimmed.
    Highlighted(Region),
    Region(Region),
    /// A region, enlarged as far as the canvas allows, with boxes outlined (in fractions of the whole
    /// picture).
    Zoomed(Region, Arc<[Region]>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PictureView {
    pub subject: PictureSubject,
    pub crop: Crop,
}

impl PictureView {
    pub fn differs_only_in_region(&self, other: &Self) -> bool {
        let like = matches!(
            (&self.crop, &other.crop),
            (Crop::Full, Crop::Full)
                | (Crop::Highlighted(_), Crop::Highlighted(_))
                | (Crop::Region(_), Crop::Region(_))
                | (Crop::Zoomed(..), Crop::Zoomed(..))
        );
        like && self.subject == other.subject
    }
}

impl From<MediaId> for PictureView {
    fn from(media: MediaId) -> Self {
        Self { subject: PictureSubject::Media(media), crop: Crop::Full }
    }
}
