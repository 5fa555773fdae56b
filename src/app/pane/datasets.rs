//! The datasets pane: which row is selected. The rows themselves are the store's.

use crate::{
    app::{App, pane::moved},
    model::DatasetId,
};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Datasets {
    /// The selected dataset; the first one until another is chosen.
    pub cursor: Option<DatasetId>,
}

impl App {
    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_datasets(&mut self, by: isize) {
        let list = self.store.list();
        let selected = self.selected_dataset().map(|dataset| dataset.id);
        let place = list.iter().position(|dataset| Some(dataset.id) == selected).unwrap_or(0);
        self.datasets.cursor = list.get(moved(place, by, list.len())).map(|dataset| dataset.id);
    }
}
