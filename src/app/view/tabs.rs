//! Tabs of results, and their history.

use crate::{
    app::{App, Level, Pane, Tabs, View},
    config::SearchDefaults,
};
use tessera_model::{DatasetId, Search};

impl App {
    pub(in crate::app) fn open_tab(&mut self) {
        let Some(dataset) = self.view().map(|view| view.search.dataset) else { return };
        let view = View::new(self.initial_search(dataset));
        self.open_in_tab(view);
    }

    /// The search with which a dataset opens.
    pub(in crate::app) fn initial_search(&self, dataset: DatasetId) -> Search {
        let SearchDefaults { entity, granularity, .. } = self.setup.search_defaults;
        Search { entity, granularity, ..Search::browse(dataset) }
    }

    pub(in crate::app) fn open_in_tab(&mut self, view: View) {
        let added = self.results.tabs_mut().is_some_and(|tabs| tabs.add(view));
        if added {
            self.focus = Pane::Results;
        } else {
            let text = format!("{} tabs are open; close one first", Tabs::MAX);
            self.notify(Level::Warning, text);
        }
    }

    /// Goes to a tab; `number` is 1-based, as on its key.
    pub(in crate::app) fn go_to_tab(&mut self, number: usize) {
        if let Some(tabs) = self.results.tabs_mut() {
            tabs.go_to(number - 1);
            self.focus = Pane::Results;
        }
    }

    pub(in crate::app) fn go_forward(&mut self) {
        if let Some(tabs) = self.results.tabs_mut() {
            tabs.tab_mut().forward();
            self.focus = Pane::Results;
        }
    }

    pub fn tab_count(&self) -> usize {
        self.results.tabs().map_or(0, |tabs| tabs.all().len())
    }
}
