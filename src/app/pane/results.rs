//! The results pane: the tabs of each dataset, each with its history of views.

use std::collections::{HashMap, HashSet};

use crate::app::{App, Level, Pane, QueryImage, RecentImages, Tabs, View, store::PageCache};
use tessera_model::{ClusterId, DatasetId, Failure, FailureKind, Page, Query, Search, Status};

#[derive(Debug, Default)]
pub struct Results {
    /// The tabs on screen. `None`: no dataset is open.
    tabs: Option<Tabs>,
    tabs_of_others: HashMap<DatasetId, Tabs>,
    pub(in crate::app) pages: PageCache,
    pub(in crate::app) recent_images: RecentImages,
    pub(in crate::app) registering: Option<Registration>,
    /// The datasets about which the user was warned that new media are not in their clusters yet.
    partial_index_warned: HashSet<DatasetId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    pub image: QueryImage,
    /// The search to run with its anchor; it still has the previous query.
    pub search: Search,
}

impl Results {
    pub fn pages(&self) -> &PageCache {
        &self.pages
    }

    pub fn recent_images(&self) -> &RecentImages {
        &self.recent_images
    }

    /// Opens the tabs of a dataset as they were left, or one with its first search.
    pub fn open(&mut self, first: Search) {
        let dataset = first.dataset;
        let open = self.view().map(|view| view.search.dataset);
        if open == Some(dataset) {
            return;
        }
        let next = self.tabs_of_others.remove(&dataset).unwrap_or_else(|| Tabs::new(first));
        let old = self.tabs.replace(next);
        if let (Some(id), Some(old)) = (open, old) {
            self.tabs_of_others.insert(id, old);
        }
    }

    pub fn tabs(&self) -> Option<&Tabs> {
        self.tabs.as_ref()
    }

    pub fn tabs_mut(&mut self) -> Option<&mut Tabs> {
        self.tabs.as_mut()
    }

    pub fn view(&self) -> Option<&View> {
        self.tabs.as_ref().map(|tabs| &tabs.tab().view)
    }

    pub fn view_mut(&mut self) -> Option<&mut View> {
        self.tabs.as_mut().map(|tabs| &mut tabs.tab_mut().view)
    }

    pub(in crate::app) fn edit_tabs(&mut self, change: impl FnOnce(&mut Tabs)) {
        if let Some(tabs) = &mut self.tabs {
            change(tabs);
        }
    }

    pub(in crate::app) fn edit_view(&mut self, change: impl FnOnce(&mut View)) {
        self.edit_tabs(|tabs| change(&mut tabs.tab_mut().view));
    }

    /// Esc: stays on this page, closes the members, clears the filter, or goes back. `false` at the tab's
    /// first view.
    pub(in crate::app) fn close_view(&mut self) -> bool {
        let Some(tabs) = &mut self.tabs else { return false };
        let view = &mut tabs.tab_mut().view;
        if view.pending_page.take().is_some() || view.members_top_row.take().is_some() {
            return true;
        }
        if !view.list_options.filter.is_empty() {
            view.list_options.filter.clear();
            return true;
        }
        tabs.tab_mut().back()
    }
}

impl App {
    /// Opens a search in this tab; Esc returns to the previous one.
    pub(in crate::app) fn open_search(&mut self, search: Search) {
        if self.view().is_none_or(|view| view.search.dataset != search.dataset) {
            self.open_dataset(search.dataset);
        }
        if self.view().is_some_and(|view| view.search.filters != search.filters) {
            self.edit_draft(|draft| draft.adopt_filters(&search.filters));
        }
        let (similar_to, query_image) = match self.view() {
            // The name of an anchor comes from the view that has it.
            Some(view) if view.search.query == search.query => {
                (view.similar_to.clone(), view.query_image.clone())
            }
            _ => (None, None),
        };
        self.run_search(View { similar_to, query_image, ..View::new(search) });
        self.panes.focus = Pane::Results;
    }

    /// A page was loaded. Clusters of earlier pages are not repeated; those of an earlier clustering may be.
    pub(in crate::app) fn page_loaded(&mut self, search: &Search, mut page: Page) {
        let earlier = self.results.pages.pages_of(search).into_iter();
        let earlier =
            earlier.filter(|(number, page)| *number < search.page && !page.is_invalidated());
        let earlier = earlier.filter_map(|(_, page)| page.value());
        let mut known: HashSet<ClusterId> =
            earlier.flat_map(|page| &page.clusters).map(|cluster| cluster.id).collect();
        page.drop_repeated(&mut known);
        self.warn_unclustered(search.dataset);
        self.results.pages.entry(search.clone()).finish(self.outbox.now, Ok(page));
        self.record_results(search);
        self.show_requested_page();
    }

    /// A page could not be loaded. If the service requires a query, the caption search opens.
    pub(in crate::app) fn page_failed(&mut self, search: Search, failure: Failure) {
        self.results.pages.entry(search).finish(self.outbox.now, Err(failure));
        if self.needs_query() && !self.overlays.is_open() {
            self.open_caption_search();
        }
    }

    pub fn needs_query(&self) -> bool {
        let search = self.view().map(|view| &view.search);
        let browses = search.is_some_and(|search| {
            let is_listed = self.store.dataset(search.dataset).is_some();
            let is_first = search.filters.is_empty() && search.page == 0;
            search.query == Query::Browse && is_first && is_listed
        });
        let refused =
            self.remote_page().and_then(|page| page.failure()).map(|failure| failure.kind);
        browses && matches!(refused, Some(FailureKind::Invalid | FailureKind::NotFound))
    }

    /// New media are found by searches before they are clustered: warns once per dataset.
    fn warn_unclustered(&mut self, id: DatasetId) {
        let partial = self.store.dataset(id).filter(|set| set.status == Status::PartialIndex);
        let Some(name) = partial.map(|dataset| dataset.name.clone()) else { return };
        if self.results.partial_index_warned.insert(id) {
            let text = format!(
                "{name}: new media are not clustered yet; searches may show them unclustered"
            );
            self.outbox.notify(Level::Warning, text);
        }
    }
}
