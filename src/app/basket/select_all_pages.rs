//! Selecting all clusters of a search: page after page, until the last page or a key.

use crate::app::{
    App, Level,
    basket::{cluster_count, count_with_noun},
};
use tessera_model::{Failure, Page, Search, basket::cluster_entry};

/// Pages that are loaded before the user has to confirm that it continues.
const PAGES_PER_CONFIRMATION: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectAllPages {
    pub next_page: Search,
    pub pages_done: usize,
    /// Clusters that were not selected before.
    pub clusters_added: usize,
    /// Waits for the user's confirmation.
    pub paused: bool,
}

impl Baskets {
    /// Starts with the first page, or continues after a pause.
    pub(in crate::app) fn select_all_pages(&mut self, results: &Results) {
        if let Some(all) = &mut self.pending.all_pages {
            all.paused = false;
            return;
        }
        self.pending.range = None;
        self.pending.all_pages = results.view().map(|view| SelectAllPages {
            next_page: Search { page: 0, ..view.search.clone() },
            pages_done: 0,
            clusters_added: 0,
            paused: false,
        });
    }

    pub(in crate::app) fn next_page_to_select(&self) -> Option<&Search> {
        self.pending.all_pages.as_ref().filter(|all| !all.paused).map(|all| &all.next_page)
    }

    pub(in crate::app) fn select_loaded_pages(&mut self, results: &mut Results, outbox: &mut Outbox) {
        while let Some(search) = self.next_page_to_select().cloned() {
            let page = results.pages.get(&search).and_then(|page| page.value().cloned());
            let Some(page) = page else { return };
            self.select_page_contents(&search, &page, results, outbox);
        }
    }

    /// A page could not be loaded: stops, and keeps what is selected.
    pub(in crate::app) fn select_all_page_failed(&mut self, search: &Search, failure: &Failure, outbox: &mut Outbox) {
        if self.next_page_to_select() == Some(search) {
            let why = format!("page {} could not be loaded", search.page + 1);
            self.finish_select_all(&why, Some(failure), outbox);
        }
    }

    fn select_page_contents(&mut self, search: &Search, page: &Page, results: &mut Results, outbox: &mut Outbox) {
        let Some(mut all) = self.pending.all_pages.take() else { return };
        let entries = page.clusters.iter().map(|cluster| cluster_entry(cluster, search));
        let edit = self.edit_of(search.dataset, |basket| match all.clusters_added {
            0 => basket.select(entries),
            _ => basket.select_in_last_step(entries),
        }, outbox);
        // Keeps the page on screen in the cache.
        if let Some(search_on_screen) = results.view().map(|view| view.search.clone()) {
            results.pages.entry(search_on_screen);
        }
        all.clusters_added += edit.map_or(0, |edit| edit.added);
        all.pages_done += 1;
        all.paused = all.pages_done.is_multiple_of(PAGES_PER_CONFIRMATION);
        all.next_page.page += 1;
        self.pending.all_pages = Some(all);
        if !page.may_have_next() {
            self.finish_select_all("all pages loaded", None, outbox);
        }
    }

    /// Cancels a range or selecting all pages. Returns whether there was one.
    pub(in crate::app) fn cancel_pending(&mut self, outbox: &mut Outbox) -> bool {
        if self.pending.range.take().is_some() {
            return true;
        }
        let going = self.pending.all_pages.is_some();
        if going {
            self.finish_select_all("stopped", None, outbox);
        }
        going
    }

    fn finish_select_all(&mut self, why: &str, failure: Option<&Failure>, outbox: &mut Outbox) {
        let Some(all) = self.pending.all_pages.take() else { return };
        let pages = count_with_noun(all.pages_done, "page", "pages");
        let text = format!("{why}: selected {} from {pages}", cluster_count(all.clusters_added));
        match failure {
            Some(failure) => outbox.notify(Level::Error, format!("{text}; {failure}")),
            None => outbox.notify(Level::Success, text + "; u undoes it"),
        }
    }
}
