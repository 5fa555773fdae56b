//! The datasets pane: the selected row, filter and order.

use crate::app::{
    App, Level,
    pane::moved_cursor,
    view::sort_filter::{ListOptions, filter_and_sort_datasets},
};
use tessera_model::{Dataset, DatasetId};

#[derive(Debug)]
pub struct Datasets {
    /// The selected dataset; the first one by default.
    pub(in crate::app) cursor: Option<DatasetId>,
    pub(in crate::app) list_options: ListOptions,
    pub(in crate::app) auto_refresh: bool,
}

impl Default for Datasets {
    fn default() -> Self {
        Self { cursor: None, list_options: ListOptions::default(), auto_refresh: true }
    }
}

impl Datasets {
    pub fn list_options(&self) -> &ListOptions {
        &self.list_options
    }

    pub fn auto_refresh(&self) -> bool {
        self.auto_refresh
    }
}

impl App {
    pub fn visible_datasets(&self) -> Vec<&Dataset> {
        filter_and_sort_datasets(self.store.dataset_list(), &self.datasets.list_options)
    }

    pub(in crate::app) fn toggle_auto_refresh(&mut self) {
        self.datasets.auto_refresh = !self.datasets.auto_refresh;
        let text = if self.datasets.auto_refresh {
            "automatic refresh is on"
        } else {
            "automatic refresh is paused; r refreshes"
        };
        self.outbox.notify(Level::Success, text);
    }

    pub(in crate::app) fn move_in_datasets(&mut self, by: isize) {
        let list = self.visible_datasets();
        let selected = self.selected_dataset().map(|dataset| dataset.id);
        let index = list.iter().position(|dataset| Some(dataset.id) == selected).unwrap_or(0);
        self.datasets.cursor =
            list.get(moved_cursor(index, by, list.len())).map(|dataset| dataset.id);
    }
}
