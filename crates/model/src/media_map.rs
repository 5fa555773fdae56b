//! The map of a dataset: media items at positions in two dimensions, where similar ones are near each other.

use crate::{MediaId, SafeText};

/// The maximum number of media items on a map. A map of more media items has every second, third and so on.
pub const MAX_MAP_POINTS: usize = 100_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediaMap {
    /// The number of media items that the search finds, of which the map may have a sample.
    pub media: u64,
    pub points: Vec<MapPoint>,
    /// The names of labels, the most frequent first. Points refer to them by their positions.
    pub labels: Vec<SafeText>,
    pub tags: Vec<SafeText>,
    /// The quality issues that any of the points may have.
    pub issues: Vec<MapIssue>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MapPoint {
    pub media: MediaId,
    /// The path by which a filter finds the media item. It is not sanitized.
    pub path: String,
    /// The position, usually from 0.0 to 1.0.
    pub position: [f32; 2],
    /// Its labels, as their positions in the list of names, the most frequent first.
    pub labels: Vec<u32>,
    pub tags: Vec<u32>,
}

impl MapPoint {
    pub fn file_name(&self) -> SafeText {
        SafeText::file_name(self.path.rsplit('/').next().unwrap_or(&self.path))
    }
}

/// A quality issue, with the confidence that each point has it.
#[derive(Clone, Debug, PartialEq)]
pub struct MapIssue {
    pub name: SafeText,
    /// In percent, in the order of the points.
    pub percents: Vec<u8>,
}
