//! The datasets pane: which row is selected. The rows themselves are the store's.

use crate::app::{
    App, Level,
    pane::moved_cursor,
    view::sort_filter::{ListOptions, filter_and_sort_datasets},
};
use tessera_model::{Dataset, DatasetId};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Datasets {
    /// The selected dataset; the first one until another is chosen.
    pub cursor: Option<DatasetId>,
    /// Which datasets are shown, and in which order.
    pub list_options: ListOptions,
}

impl App {
    /// The datasets that are shown, in their order on screen.
    #[must_use]
    pub fn visible_datasets(&self) -> Vec<&Dataset> {
        filter_and_sort_datasets(self.store.dataset_list(), &self.datasets.list_options)
    }

    /// Stops asking how the datasets stand, or begins again.
    pub(in crate::app) fn toggle_auto_refresh(&mut self) {
        self.auto_refresh = !self.auto_refresh;
        let text = if self.auto_refresh {
            "watching: the service is asked by itself how the datasets stand"
        } else {
            "not watching: r asks how the datasets stand"
        };
        self.notify(Level::Success, text);
    }

    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_datasets(&mut self, by: isize) {
        let list = self.visible_datasets();
        let selected = self.selected_dataset().map(|dataset| dataset.id);
        let place = list.iter().position(|dataset| Some(dataset.id) == selected).unwrap_or(0);
        self.datasets.cursor =
            list.get(moved_cursor(place, by, list.len())).map(|dataset| dataset.id);
    }
}
