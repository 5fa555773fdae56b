//! What outlives the program: baskets, and what else a person would miss after a restart.

use std::path::PathBuf;

use crate::{DatasetId, JobRecord, Region, SafeText, SavedView, Search, Selection};

/// Names one thing that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKey {
    /// What is marked in a dataset.
    Basket(DatasetId),
    /// The jobs of every run.
    Jobs,
    /// The saved views of a deployment.
    Views,
    /// The searches of the past.
    History,
}

/// One thing that is kept, whole.
#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    /// What is marked in a dataset; empty when nothing is.
    Basket(DatasetId, Selection),
    /// The jobs of this copy of the program, and of other copies that are running: those are only
    /// read.
    Jobs {
        /// Ours, also what copies left behind that are gone; oldest first.
        own: Vec<JobRecord>,
        /// Those that another copy follows.
        other_instances: Vec<JobRecord>,
    },
    /// The saved views of a deployment, by name.
    Views(Vec<SavedView>),
    /// The searches of the past, the newest last.
    History(Vec<HistoryEntry>),
}

/// A search that was run once.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// What was asked.
    pub search: Search,
    /// What it was similar to, in words.
    pub similar_to: Option<SafeText>,
    /// The file behind an uploaded anchor, to register it again. A link is none: it would not live
    /// as long.
    pub file: Option<PathBuf>,
    /// The part of that file that counts; else all of it.
    pub region: Option<Region>,
}

impl HistoryEntry {
    /// Most searches kept; the oldest is forgotten first.
    const MAX_ENTRIES: usize = 200;

    /// Adds it to the others, the newest last. The same search again becomes the newest.
    pub fn append_to(self, others: &mut Vec<Self>) {
        others.retain(|known| known.search != self.search);
        others.push(self);
        let surplus = others.len().saturating_sub(Self::MAX_ENTRIES);
        others.drain(..surplus);
    }
}

impl StateValue {
    /// Its name.
    pub fn key(&self) -> StateKey {
        match self {
            Self::Basket(dataset, _) => StateKey::Basket(*dataset),
            Self::Jobs { .. } => StateKey::Jobs,
            Self::Views(_) => StateKey::Views,
            Self::History(_) => StateKey::History,
        }
    }
}
