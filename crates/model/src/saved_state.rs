//! State that is saved across restarts: baskets, jobs, views and the search history.

use std::path::PathBuf;

use crate::{DatasetId, JobRecord, Region, SafeText, SavedView, Search, Selection};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKey {
    Basket(DatasetId),
    Jobs,
    Views,
    History,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    Basket(DatasetId, Selection),
    Jobs {
        /// Jobs of this instance and of instances that have exited; oldest first.
        own: Vec<JobRecord>,
        /// Jobs that another running instance follows; read-only.
        other_instances: Vec<JobRecord>,
    },
    Views(Vec<SavedView>),
    /// Newest last.
    History(Vec<HistoryEntry>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    pub search: Search,
    /// A label for the query image.
    pub similar_to: Option<SafeText>,
    /// The uploaded query image, to register it again.
    pub file: Option<PathBuf>,
    /// The region of that file; `None` for all of it.
    pub region: Option<Region>,
}

impl HistoryEntry {
    const MAX_ENTRIES: usize = 200;

    /// Appends it. A repeated search moves to the end; the oldest are dropped beyond the limit.
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
            Self::Jobs { .. } => StateKey::Jobs,
            Self::Views(_) => StateKey::Views,
            Self::History(_) => StateKey::History,
        }
    }
}
