//! State that is saved across restarts: baskets, jobs, views, the search history, the last session, and what
//! was opened.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    Cover, DatasetId, EntityType, FileOrder, Filter, Granularity, JobRecord, Query, Region,
    SafeText, Search, Selection, Timestamp, is_same_name,
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

/// The tags of a dataset that are kept on this machine, each with what has the tag.
pub type KeptTags = BTreeMap<SafeText, Selection>;

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedSession {
    pub dataset: Option<DatasetId>,
    /// The searches in the tabs of that dataset.
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
        others.retain(|known| !is_same_name(known.name.as_str(), self.name.as_str()));
        others.push(self);
        others.sort_by(|a, b| a.name.cmp(&b.name));
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
