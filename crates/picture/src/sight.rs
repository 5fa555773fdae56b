//! What is seen: which picture, and how much of it. Equal sights have equal pixels on equal
//! canvases, so a sight names a picture in every cache from the worker to the terminal.

use std::path::PathBuf;

use tessera_model::{MediaId, Region};

/// A picture, by what it is and not by where it is fetched: links expire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A media of a dataset.
    Media(MediaId),
    /// A file of this machine.
    File(PathBuf),
    /// An entry of an archive of this machine.
    Entry(PathBuf, String),
}

/// How much of a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// All of it.
    Whole,
    /// All of it, with this region framed and what lies around it dimmed.
    Framed(Region),
    /// This region alone.
    Crop(Region),
}

/// A picture as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sight {
    /// Which picture.
    pub of: Subject,
    /// How much of it.
    pub part: Part,
}

impl Sight {
    /// Whether it differs from `other` in nothing but the region.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let like = matches!(
            (self.part, other.part),
            (Part::Whole, Part::Whole)
                | (Part::Framed(_), Part::Framed(_))
                | (Part::Crop(_), Part::Crop(_))
        );
        like && self.of == other.of
    }
}

impl From<MediaId> for Sight {
    fn from(media: MediaId) -> Self {
        Self { of: Subject::Media(media), part: Part::Whole }
    }
}
