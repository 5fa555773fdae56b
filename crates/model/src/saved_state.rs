//! State that is saved across restarts: baskets, jobs, views, the search history, the last session, and what
//! was opened.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{
    DatasetId, EntityType, FileOrder, Filter, Granularity, JobRecord, Query, Region, SafeText,
    Search, Selection, Timestamp, is_same_name,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKey {
    Basket(DatasetId),
    KeptTags(DatasetId),
    Jobs,
    Views,
    History,
    Session,
    /// Whether the user has dismissed the offer of a model.
    ModelOffer,
}

/// The tags of a dataset that are kept on this machine, each with what has the tag, in the order of their creation.
pub type KeptTags = IndexMap<SafeText, Selection>;

#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    Basket(DatasetId, Selection),
    KeptTags(DatasetId, KeptTags),
    Jobs {
        /// Jobs of this instance and of instances that have exited. The oldest comes first.
        this_instance: Vec<JobRecord>,
        /// Jobs that another running instance follows, which are read-only here.
        other_instances: Vec<JobRecord>,
    },
    Views(Vec<SavedView>),
    /// The newest entry is the last one.
    History(Vec<HistoryEntry>),
    Session(SavedSession),
    ModelOfferDismissed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    pub search: Search,
    /// A label for the query image.
    pub similar_to: Option<SafeText>,
    /// The file of the uploaded query image, with which the image is registered again.
    pub file: Option<PathBuf>,
    /// The region of the file that was searched, or `None` for the whole picture.
    pub region: Option<Region>,
    /// When the search was last run.
    pub searched_at: Option<Timestamp>,
    pub results: Option<ResultCount>,
}

/// How many clusters of a search were loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultCount {
    pub clusters: usize,
    /// Whether the search has no clusters beyond these.
    pub is_complete: bool,
}

/// What the interface showed when the program ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedSession {
    #[serde(rename = "dataset_id")]
    pub dataset: Option<DatasetId>,
    /// The searches in the tabs of that dataset. The tabs are written and read one by one, so that an error names the
    /// tab.
    #[serde(skip)]
    pub tabs: Vec<HistoryEntry>,
    /// The position of the cursor on the page of each tab.
    pub cursors: Vec<usize>,
    pub active_tab: usize,
    /// The name of the tile size.
    pub tile_size: Option<String>,
    /// The name of the arrangement of the tiles.
    pub tile_layout: Option<String>,
    /// How often each action was picked from the menu or the palette, by its name.
    pub picked_actions: BTreeMap<String, u32>,
}

impl HistoryEntry {
    const MAX_ENTRIES: usize = 200;

    pub fn new(search: Search) -> Self {
        Self {
            search,
            similar_to: None,
            file: None,
            region: None,
            searched_at: None,
            results: None,
        }
    }

    /// Appends this entry to `others`. A repeated search moves to the end. If the list is too long, the oldest entries
    /// are dropped.
    pub fn append_to(self, others: &mut Vec<Self>) {
        others.retain(|known| known.search != self.search);
        others.push(self);
        let surplus = others.len().saturating_sub(Self::MAX_ENTRIES);
        others.drain(..surplus);
    }
}

impl StateValue {
    pub fn key(&self) -> StateKey {
        match self {
            Self::Basket(dataset, _) => StateKey::Basket(*dataset),
            Self::KeptTags(dataset, _) => StateKey::KeptTags(*dataset),
            Self::Jobs { .. } => StateKey::Jobs,
            Self::Views(_) => StateKey::Views,
            Self::History(_) => StateKey::History,
            Self::Session(_) => StateKey::Session,
            Self::ModelOfferDismissed => StateKey::ModelOffer,
        }
    }
}

/// A named query that can be run again and shared.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedView {
    /// The name is unique.
    pub name: SafeText,
    /// `None` if the view applies to whichever dataset is open.
    pub dataset: Option<DatasetId>,
    pub query: Query,
    pub filters: Vec<Filter>,
    pub disabled_filters: Vec<Filter>,
    pub entity: EntityType,
    pub granularity: Granularity,
    pub order: Option<FileOrder>,
    /// A label for the query image.
    pub similar_to: Option<SafeText>,
    /// The file of the query image, with which the image can be registered again.
    pub file: Option<PathBuf>,
    /// The region of the file that was searched, or `None` for the whole picture.
    pub region: Option<Region>,
}

impl SavedView {
    /// Inserts this view in the order of names. A view with the same name is replaced.
    pub fn insert_into(self, others: &mut Vec<Self>) {
        others.retain(|known| !known.is_named(&self.name));
        others.push(self);
        others.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Whether this view has the name. Different names may print the same.
    pub fn is_named(&self, name: &SafeText) -> bool {
        is_same_name(self.name.received(), name.received())
    }

    /// Returns the first page of this view. `open` is the dataset on screen.
    pub fn search(&self, open: DatasetId) -> Search {
        Search {
            query: self.query.clone(),
            filters: self.filters.clone(),
            entity: self.entity,
            granularity: self.granularity,
            order: self.order,
            ..Search::browse(self.dataset.unwrap_or(open))
        }
    }
}

/// What the interface can open again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A folder that was opened by its path, or a location in object storage.
    Folder(PathBuf),
    /// The name of a profile.
    Profile(String),
}

/// A place that the interface opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentPlace {
    pub place: Place,
    /// The number of images and videos, if the place is on this machine and was indexed.
    pub media: Option<u64>,
    /// In seconds since 1970.
    pub opened_at: u64,
    /// A picture of the place, if the place is on this machine.
    #[serde(default)]
    pub cover: Cover,
}

// The thumbnail of a folder or profile that was opened before, which the start screen shows beside its name. It is
// kept as text, because the list of recent folders and profiles is a JSON file that users can read.

/// Rows of pixels from the top, each pixel as `rrggbb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cover(Vec<String>);

/// The digits of a pixel.
const DIGITS: usize = 6;

impl Cover {
    /// The largest side in pixels.
    pub const MAX_SIDE: u16 = 32;

    /// Creates a cover of rows of `width` pixels.
    pub fn new(pixels: &[[u8; 3]], width: u16) -> Self {
        let row = |row: &[[u8; 3]]| {
            row.iter().fold(String::new(), |mut text, [red, green, blue]| {
                // Writing into a string cannot fail.
                let _ = write!(text, "{red:02x}{green:02x}{blue:02x}");
                text
            })
        };
        Self(pixels.chunks(usize::from(width.max(1))).map(row).collect())
    }

    /// Returns the pixels and the width, or `None` if there are none. A file with anything else has no cover.
    pub fn pixels(&self) -> Option<(Vec<[u8; 3]>, u16)> {
        let max = usize::from(Self::MAX_SIDE);
        let length = self.0.first()?.len();
        let width = u16::try_from(length / DIGITS).ok().filter(|width| *width > 0)?;
        let is_regular = self.0.iter().all(|row| row.len() == length && row.is_ascii());
        if !is_regular || self.0.len() > max || length > max * DIGITS {
            return None;
        }
        let pixel = |digits: &[u8]| {
            let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            let [_, pixel @ ..] = number.to_be_bytes();
            Some(pixel)
        };
        let rows = self.0.iter().flat_map(|row| row.as_bytes().as_chunks::<DIGITS>().0);
        Some((rows.map(|digits| pixel(digits)).collect::<Option<_>>()?, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_survives_as_text_and_anything_else_is_none() {
        let pixels = [[0, 1, 255], [16, 32, 64], [9, 9, 9], [1, 2, 3]];
        let cover = Cover::new(&pixels, 2);
        assert_eq!(cover.0, ["0001ff102040", "090909010203"]);
        assert_eq!(cover.pixels(), Some((pixels.into(), 2)));
        let wide = "0".repeat(6 * 33);
        for rows in [&[][..], &[""], &["0001f"], &["0001ff", "00"], &["00g1ff"], &["€€"], &[&wide]]
        {
            let cover = Cover(rows.iter().map(|row| (*row).to_owned()).collect());
            assert_eq!(cover.pixels(), None, "{rows:?}");
        }
        assert_eq!(Cover(vec!["0001ff".to_owned(); 33]).pixels(), None);
    }
}
