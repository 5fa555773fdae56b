//! The datasets pane: which row is selected. The rows themselves are the store's.

use crate::app::{
    App, Level,
    pane::moved,
    view::arrange::{Arrangement, arrange_datasets},
};
use tessera_model::{Dataset, DatasetId};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Datasets {
    /// The selected dataset; the first one until another is chosen.
    pub cursor: Option<DatasetId>,
    /// Which datasets are shown, and in which order.
    pub arrangement: Arrangement,
}

impl App {
    /// The datasets that are shown, in their order on screen.
    #[must_use]
    pub fn listed(&self) -> Vec<&Dataset> {
        arrange_datasets(self.store.list(), &self.datasets.arrangement)
    }

    /// Stops asking how the datasets stand, or begins again.
    pub(in crate::app) fn toggle_watch(&mut self) {
        self.watching = !self.watching;
        let text = if self.watching {
            "watching: the service is asked by itself how the datasets stand"
        } else {
            "not watching: r asks how the datasets stand"
        };
        self.notices.add(self.now, Level::Success, text);
    }

    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_datasets(&mut self, by: isize) {
        let list = self.listed();
        let selected = self.selected_dataset().map(|dataset| dataset.id);
        let place = list.iter().position(|dataset| Some(dataset.id) == selected).unwrap_or(0);
        self.datasets.cursor = list.get(moved(place, by, list.len())).map(|dataset| dataset.id);
    }
}
