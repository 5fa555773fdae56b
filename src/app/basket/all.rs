//! Marking what every page of a search holds: page after page, with a count, until the last one
//! or a key.

use crate::app::{App, Effect, Level, basket::clusters};
use tessera_model::{Failure, Page, Search, basket::cluster_mark};

/// Pages that are loaded before the person is asked whether to go on.
const PAGES: u32 = 50;

/// A search whose pages are being marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllPages {
    /// The page that is awaited.
    pub next: Search,
    /// Pages marked so far.
    pub pages: u32,
    /// Clusters marked so far that were not before.
    pub marked: usize,
    /// Waits for the person to go on.
    pub asking: bool,
}

impl App {
    /// Begins with the first page, or goes on after the question.
    pub(in crate::app) fn mark_all(&mut self) {
        if let Some(all) = &mut self.marking.all {
            all.asking = false;
            return;
        }
        let first = self.view().map(|view| Search { page: 0, ..view.search.clone() });
        self.marking.range = None;
        self.marking.all = first.map(|next| AllPages { next, pages: 0, marked: 0, asking: false });
    }

    /// The page that marking all waits for.
    pub(in crate::app) fn page_to_mark(&self) -> Option<&Search> {
        self.marking.all.as_ref().filter(|all| !all.asking).map(|all| &all.next)
    }

    /// Marks those of the pages that have come.
    pub(in crate::app) fn mark_pages_that_came(&mut self, effects: &mut Vec<Effect>) {
        while let Some(search) = self.page_to_mark().cloned() {
            let page = self.store.pages.get(&search).and_then(|page| page.value().cloned());
            let Some(page) = page else { return };
            self.mark_next(&search, &page, effects);
        }
    }

    /// A page will not come: what is marked stays, and nothing more is.
    pub(in crate::app) fn page_to_mark_failed(&mut self, search: &Search, failure: &Failure) {
        if self.page_to_mark() == Some(search) {
            self.stop_all(&format!("page {} did not come", search.page + 1), Some(failure));
        }
    }

    fn mark_next(&mut self, search: &Search, page: &Page, effects: &mut Vec<Effect>) {
        let Some(mut all) = self.marking.all.take() else { return };
        let marks = page.clusters.iter().map(|cluster| cluster_mark(cluster, search));
        let change = self.change_basket_of(search.dataset, effects, |basket| match all.marked {
            0 => basket.mark(marks),
            _ => basket.mark_on(marks),
        });
        // The page on screen stays among the pages that are known.
        if let Some(here) = self.view().map(|view| view.search.clone()) {
            self.store.pages.entry(here);
        }
        all.marked += change.map_or(0, |change| change.added);
        all.pages += 1;
        all.asking = all.pages.is_multiple_of(PAGES);
        all.next.page += 1;
        self.marking.all = Some(all);
        if !page.may_continue() {
            self.stop_all("that was the last page", None);
        }
    }

    /// Leaves a range or the marking of all pages. `false`: neither was going on.
    pub(in crate::app) fn leave_marking(&mut self) -> bool {
        if self.marking.range.take().is_some() {
            return true;
        }
        let going = self.marking.all.is_some();
        if going {
            self.stop_all("stopped", None);
        }
        going
    }

    fn stop_all(&mut self, why: &str, failure: Option<&Failure>) {
        let Some(all) = self.marking.all.take() else { return };
        let text = format!("{why}: {} of {} pages marked", clusters(all.marked), all.pages);
        match failure {
            Some(failure) => self.notices.add(self.now, Level::Error, format!("{text}; {failure}")),
            None => self.notices.add(self.now, Level::Success, text + "; u takes it back"),
        }
    }
}
