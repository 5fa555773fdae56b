//! The results of the search on screen that are loaded, on all its pages, and searches that narrow
//! them.

use crate::app::{App, Level, View};
use tessera_model::{Cluster, Filter, Search, vql::MAX_FILTERS};

impl App {
    /// The clusters of all loaded pages of the search on screen, in their order.
    pub fn loaded_clusters(&self) -> Vec<&Cluster> {
        self.view().map(|view| self.clusters_of(view)).unwrap_or_default()
    }

    /// The same for another view, such as that of another tab.
    pub(super) fn clusters_of<'a>(&'a self, view: &'a View) -> Vec<&'a Cluster> {
        if let Some(computed) = &view.computed {
            return computed.page.clusters.iter().collect();
        }
        let pages = self.results.pages.pages_of(&view.search).into_iter();
        pages.filter_map(|(_, page)| page.value()).flat_map(|page| &page.clusters).collect()
    }

    /// Searches again with one more filter.
    pub(in crate::app) fn search_with_filter(&mut self, filter: Filter) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        if search.filters.contains(&filter) {
            self.outbox.notify(Level::Warning, "the search has this filter already");
        } else if search.filters.len() >= MAX_FILTERS {
            let text = format!("a search has at most {MAX_FILTERS} filters; remove one first");
            self.outbox.notify(Level::Warning, text);
        } else {
            let mut filters = search.filters.clone();
            filters.push(filter);
            self.open_search(Search { filters, page: 0, ..search });
        }
    }
}
