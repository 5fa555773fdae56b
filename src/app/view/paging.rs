//! Turning pages: the page on screen stays until the requested one is loaded.

use crate::app::{App, Remote, view::PendingPage};
use tessera_model::{Page, Search};

/// Where a page is in its search: the positions of its clusters, from 1, and their number if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub first: u64,
    pub last: u64,
    pub total: Option<u64>,
}

impl App {
    /// The page that is on screen or requested, from 0.
    pub(in crate::app) fn requested_page(&self) -> u32 {
        let pending = self.view().and_then(|view| view.pending_page);
        pending.map_or_else(|| self.page_number(), |pending| pending.number)
    }

    /// The search of the page that was requested and is not loaded yet.
    pub fn pending_search(&self) -> Option<Search> {
        let view = self.view()?;
        let page = view.pending_page?.number;
        Some(Search { page, ..view.search.clone() })
    }

    /// The search whose page is on screen next: the requested one, or the one on screen.
    pub(in crate::app) fn requested_search(&self) -> Option<Search> {
        self.pending_search().or_else(|| self.view().map(|view| view.search.clone()))
    }

    pub(in crate::app) fn go_to_page(&mut self, number: u32, cursor: usize) {
        self.results.edit_view(|view| {
            let is_other = number != view.search.page;
            view.pending_page = is_other.then_some(PendingPage { number, cursor });
        });
        self.show_requested_page();
    }

    /// Shows the requested page if it is loaded, or if there is none that could stay.
    pub(in crate::app) fn show_requested_page(&mut self) {
        let Some(search) = self.pending_search() else { return };
        let loaded = self.results.pages.get(&search).is_some_and(|page| page.value().is_some());
        if loaded || self.page().is_none() {
            self.results.edit_view(|view| {
                let cursor = view.pending_page.map_or(0, |pending| pending.cursor);
                view.replace_search(search);
                view.cursor = cursor;
            });
        }
    }

    /// The number of the last page, from 0, if it was loaded once.
    pub fn last_page_number(&self) -> Option<u32> {
        let loaded = self.results.pages.pages_of(&self.view()?.search);
        let is_last = |page: &Remote<Page>| page.value().is_some_and(|page| !page.may_have_next());
        loaded.into_iter().find(|(_, page)| is_last(page)).map(|(number, _)| number)
    }

    /// Where the page on screen is; `None` if nothing is on it.
    pub fn page_range(&self) -> Option<PageRange> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let end = |number: u32, page: &Page| {
            let reported = page.clusters.len() + page.skipped + page.repeated;
            u64::from(number) * Page::SIZE as u64 + reported as u64
        };
        let first = u64::from(view.search.page) * Page::SIZE as u64 + 1;
        let last = end(view.search.page, self.page()?);
        let last_page = self.last_page_number().and_then(|number| {
            let search = Search { page: number, ..view.search.clone() };
            Some(end(number, self.results.pages.get(&search)?.value()?))
        });
        (last >= first).then_some(PageRange { first, last, total: last_page })
    }
}
