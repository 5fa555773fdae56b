//! The basket: what is selected across pages and searches, per dataset. It is loaded when the
//! dataset opens and saved after every change, so that it survives a crash.

mod changes;
mod entries;
mod select_all_pages;
mod select_items;
mod selection_state;

pub use select_all_pages::SelectAllPages;
pub use selection_state::SelectionState;

use std::collections::BTreeMap;

use crate::app::Remote;
pub use tessera_model::text::count_with_noun;
use tessera_model::{Basket, ClusterId, DatasetId};

#[derive(Debug, Default)]
pub struct Baskets {
    by_dataset: BTreeMap<DatasetId, Remote<Basket>>,
    cursor: usize,
    pub pending: PendingSelection,
}

impl Baskets {
    pub fn remote(&self, dataset: DatasetId) -> Option<&Remote<Basket>> {
        self.by_dataset.get(&dataset)
    }

    pub fn get(&self, dataset: DatasetId) -> Option<&Basket> {
        self.remote(dataset)?.value()
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    fn get_mut(&mut self, dataset: DatasetId) -> Option<&mut Basket> {
        self.by_dataset.get_mut(&dataset)?.value_mut()
    }

    pub(in crate::app) fn retry(&mut self, dataset: DatasetId) {
        if let Some(basket) = self.by_dataset.get_mut(&dataset).filter(|it| it.value().is_none()) {
            basket.invalidate();
        }
    }

    fn needs_load(&self, dataset: DatasetId) -> bool {
        self.remote(dataset).is_none_or(|basket| basket.due(None).is_some())
    }
}

/// A selection that takes more than one key.
#[derive(Debug, Default)]
pub struct PendingSelection {
    /// Where a range starts, while one is being selected.
    pub range: Option<ClusterId>,
    pub all_pages: Option<SelectAllPages>,
    pub drag: Option<TileDrag>,
}

/// The mouse button was pressed on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileDrag {
    pub start: usize,
    /// Whether it was moved over other tiles since.
    pub moved: bool,
}

pub(in crate::app) fn cluster_count(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}
