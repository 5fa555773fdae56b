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

impl App {
    /// Starts with the first page, or continues after a pause.
    pub(in crate::app) fn select_all_pages(&mut self) {
        if let Some(all) = &mut self.baskets.pending.all_pages {
            all.paused = false;
            return;
        }
        self.baskets.pending.range = None;
        self.baskets.pending.all_pages = self.view().map(|view| SelectAllPages {
            next_page: Search { page: 0, ..view.search.clone() },
            pages_done: 0,
            clusters_added: 0,
            paused: false,
        });
    }

    pub(in crate::app) fn next_page_to_select(&self) -> Option<&Search> {
        self.baskets.pending.all_pages.as_ref().filter(|all| !all.paused).map(|all| &all.next_page)
    }

    pub(in crate::app) fn select_loaded_pages(&mut self) {
        while let Some(search) = self.next_page_to_select().cloned() {
            let page = self.results.pages.get(&search).and_then(|page| page.value().cloned());
            let Some(page) = page else { return };
            self.select_page_contents(&search, &page);
        }
    }

    /// A page could not be loaded: stops, and keeps what is selected.
    pub(in crate::app) fn select_all_page_failed(&mut self, search: &Search, failure: &Failure) {
        if self.next_page_to_select() == Some(search) {
            let why = format!("page {} could not be loaded", search.page + 1);
            self.finish_select_all(&why, Some(failure));
        }
    }

    fn select_page_contents(&mut self, search: &Search, page: &Page) {
        let Some(mut all) = self.baskets.pending.all_pages.take() else { return };
        let entries = page.clusters.iter().map(|cluster| cluster_entry(cluster, search));
        let edit = self.edit_basket_of(search.dataset, |basket| match all.clusters_added {
            0 => basket.select(entries),
            _ => basket.select_in_last_step(entries),
        });
        // Keeps the page on screen in the cache.
        if let Some(search_on_screen) = self.view().map(|view| view.search.clone()) {
            self.results.pages.entry(search_on_screen);
        }
        all.clusters_added += edit.map_or(0, |edit| edit.added);
        all.pages_done += 1;
        all.paused = all.pages_done.is_multiple_of(PAGES_PER_CONFIRMATION);
        all.next_page.page += 1;
        self.baskets.pending.all_pages = Some(all);
        if !page.may_have_next() {
            self.finish_select_all("all pages loaded", None);
        }
    }

    /// Cancels a range or selecting all pages. Returns whether there was one.
    pub(in crate::app) fn cancel_pending_selection(&mut self) -> bool {
        if self.baskets.pending.range.take().is_some() {
            return true;
        }
        let going = self.baskets.pending.all_pages.is_some();
        if going {
            self.finish_select_all("stopped", None);
        }
        going
    }

    fn finish_select_all(&mut self, why: &str, failure: Option<&Failure>) {
        let Some(all) = self.baskets.pending.all_pages.take() else { return };
        let pages = count_with_noun(all.pages_done, "page", "pages");
        let text = format!("{why}: selected {} from {pages}", cluster_count(all.clusters_added));
        match failure {
            Some(failure) => self.outbox.notify(Level::Error, format!("{text}; {failure}")),
            None => self.outbox.notify(Level::Success, text + "; u undoes it"),
        }
    }
}
