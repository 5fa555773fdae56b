//! Keeps the state of the results pane: the tabs of each dataset, each with its history of views, and the loaded pages.
//! The page on screen stays until a requested page is loaded.

use std::{
    collections::{HashMap, HashSet},
    num::NonZeroUsize,
    time::Duration,
};

use lru::LruCache;
use tessera_model::{ClusterId, FailureKind, Granularity, ScoreScale, Status};

use crate::app::prelude::*;
use crate::app::{
    Computed, MemberList, MissingMembers, QueryImage, RecentImages, ServiceData, Tabs,
    pane::moved_cursor,
    view::{
        PendingPage,
        name_scan::{NameScan, ScanState},
    },
};

#[derive(Debug, Default)]
pub struct Results {
    /// The tabs on screen. `None` if no dataset is open.
    tabs: Option<Tabs>,
    tabs_of_others: HashMap<DatasetId, Tabs>,
    pub pages: PageCache,
    pub(in crate::app) members: MemberList,
    pub recent_images: RecentImages,
    pub(in crate::app) registering: Option<Registration>,
    /// Whether this event has moved the cursor, so that a picture that failed is requested again.
    pub(in crate::app) cursor_moved: bool,
    /// The datasets for which the user was warned that new media are not clustered yet.
    partial_index_warned: HashSet<DatasetId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    pub image: QueryImage,
    /// The search to run with its anchor. It still has the previous query.
    pub search: Search,
}

impl Results {
    /// Opens the tabs of a dataset as the user left them, or a tab with the first search.
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

    /// Handles Esc: stays on this page, closes the members, stops the search of all names, clears the filter, or goes
    /// back. Returns `false` at the first view of the tab.
    pub(in crate::app) fn close_view(&mut self) -> bool {
        let Some(tabs) = &mut self.tabs else { return false };
        let view = &mut tabs.tab_mut().view;
        if view.pending_page.take().is_some()
            || view.members_top_row.take().is_some()
            || view.stop_scan()
        {
            return true;
        }
        if !view.list_options.filter.is_empty() {
            view.list_options.filter.clear();
            return true;
        }
        tabs.tab_mut().back()
    }

    /// Whether the service refuses to show the dataset on screen without a query, and has never shown it.
    pub fn needs_query(&self, service_data: &ServiceData) -> bool {
        let search = self.view().map(|view| &view.search);
        let browses = search.is_some_and(|search| {
            let is_listed = service_data.dataset(search.dataset).is_some();
            let is_first = search.filters.is_empty() && search.page == 0;
            let is_refused = is_first && is_listed && !self.pages.was_browsed(search.dataset);
            search.query == Query::Browse && is_refused
        });
        let refused =
            self.remote_page().and_then(|page| page.failure()).map(|failure| failure.kind);
        browses && matches!(refused, Some(FailureKind::Invalid | FailureKind::NotFound))
    }

    /// Warns once per dataset that new media are not in clusters yet. Searches find them before
    /// they are clustered.
    pub(in crate::app) fn warn_unclustered(
        &mut self,
        id: DatasetId,
        service_data: &ServiceData,
        outbox: &mut Outbox,
    ) {
        let partial = service_data.dataset(id).filter(|set| set.status == Status::PartialIndex);
        let Some(name) = partial.map(|dataset| dataset.name.clone()) else { return };
        if self.partial_index_warned.insert(id) {
            let text = format!(
                "{name}: new media are not clustered yet; searches may show them unclustered"
            );
            outbox.notify(Level::Warning, text);
        }
    }
}

/// The recently visited pages, so that going back needs no request.
#[derive(Debug)]
pub struct PageCache(LruCache<Search, Remote<Page>>);

impl Default for PageCache {
    /// A page of 100 clusters takes about half a megabyte, so 24 pages are kept.
    fn default() -> Self {
        Self(LruCache::new(NonZeroUsize::MIN.saturating_add(23)))
    }
}

impl PageCache {
    pub fn get(&self, search: &Search) -> Option<&Remote<Page>> {
        self.0.peek(search)
    }

    /// Returns a page that can stand for what the service finds now, as part of a whole result.
    pub fn current(&self, search: &Search) -> Option<&Page> {
        self.get(search)?.current()
    }

    /// Returns the entry of a page, which becomes the most recent one. The entry is created if
    /// necessary.
    pub fn entry(&mut self, search: Search) -> &mut Remote<Page> {
        self.0.get_or_insert_mut(search, Remote::default)
    }

    /// Makes a page the first one to be evicted.
    pub fn demote(&mut self, search: &Search) {
        self.0.demote(search);
    }

    /// Returns the loaded pages of a dataset, most recent first.
    pub fn loaded(&self, dataset: DatasetId) -> impl Iterator<Item = &Page> {
        let pages = self.0.iter().filter(move |(search, _)| search.dataset == dataset);
        pages.filter_map(|(_, page)| page.value())
    }

    /// Whether a page of a dataset was loaded without a query.
    fn was_browsed(&self, dataset: DatasetId) -> bool {
        self.0.iter().any(|(search, page)| {
            let is_plain = search.query == Query::Browse && search.filters.is_empty();
            search.dataset == dataset && is_plain && page.value().is_some()
        })
    }

    /// Returns the loaded pages of a search, ordered by number. The page number in `search` is
    /// ignored.
    pub fn pages_of(&self, search: &Search) -> Vec<(u32, &Remote<Page>)> {
        let number = |page: u32| Search { page, ..search.clone() };
        let same = self.0.iter().filter(|(known, _)| number(known.page) == **known);
        let loaded = same.filter(|(_, page)| page.value().is_some());
        let mut pages: Vec<_> = loaded.map(|(known, page)| (known.page, page)).collect();
        pages.sort_by_key(|(number, _)| *number);
        pages
    }

    /// Counts the rows of the pages before a page. A page that is not loaded counts as full.
    pub fn rows_before(&self, search: &Search) -> u64 {
        let loaded = self.pages_of(search).into_iter();
        let loaded = loaded.take_while(|(number, _)| *number < search.page);
        let rows: Vec<usize> = loaded.filter_map(|(_, page)| Some(page.value()?.rows())).collect();
        let missing = u64::from(search.page) - rows.len() as u64;
        rows.iter().sum::<usize>() as u64 + missing * Page::SIZE as u64
    }

    /// Invalidates the pages of a dataset whose media, clusters or tags have changed, except for a page that shows the
    /// change.
    pub fn invalidate(&mut self, dataset: DatasetId, current: Option<&Search>) {
        let pages = self.0.iter_mut().filter(|(search, _)| search.dataset == dataset);
        pages
            .filter(|(search, _)| Some(*search) != current)
            .for_each(|(_, page)| page.invalidate());
    }
}

/// The position of a page in its search: the positions of its clusters, counted from 1, and the total if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub first: u64,
    pub last: u64,
    pub total: Option<u64>,
}

impl Results {
    /// Returns the number of the page that is requested or on screen, counted from 0.
    pub(in crate::app) fn requested_page(&self) -> u32 {
        let pending = self.view().and_then(|view| view.pending_page);
        pending.map_or_else(|| self.page_number(), |pending| pending.number)
    }

    /// Returns the search of the page that was requested and is not loaded yet.
    pub fn pending_search(&self) -> Option<Search> {
        let view = self.view()?;
        let page = view.pending_page?.number;
        Some(Search { page, ..view.search.clone() })
    }

    /// Returns the search of the requested page, or of the page on screen if no page is requested.
    pub(in crate::app) fn requested_search(&self) -> Option<Search> {
        self.pending_search().or_else(|| self.view().map(|view| view.search.clone()))
    }

    pub(in crate::app) fn go_to_page(&mut self, number: u32, cursor: usize) {
        self.edit_view(|view| {
            let is_other = number != view.search.page;
            view.pending_page = is_other.then_some(PendingPage { number, cursor });
        });
        self.show_requested_page();
    }

    /// Shows the requested page if it is loaded, or if there is no page that could stay.
    pub(in crate::app) fn show_requested_page(&mut self) {
        let Some(search) = self.pending_search() else { return };
        let loaded = self.pages.get(&search).is_some_and(|page| page.value().is_some());
        if loaded || self.page().is_none() {
            self.edit_view(|view| {
                let cursor = view.pending_page.map_or(0, |pending| pending.cursor);
                view.replace_search(search);
                view.cursor = cursor;
            });
        }
    }

    /// Returns why the requested page, or the newest version of the page on screen, could not be loaded.
    pub fn requested_failure(&self) -> Option<&Failure> {
        let search = self.pending_search().or_else(|| {
            self.view().filter(|view| view.computed.is_none()).map(|view| view.search.clone())
        })?;
        self.pages.get(&search)?.failure()
    }

    /// Returns the number of the last page, counted from 0, if the last page or the end after it was loaded once.
    pub fn last_page_number(&self) -> Option<u32> {
        let loaded = self.pages.pages_of(&self.view()?.search).into_iter();
        let loaded: Vec<_> =
            loaded.filter_map(|(number, page)| Some((number, page.value()?))).collect();
        let has_clusters = |number| {
            loaded.iter().any(|(known, page)| *known == number && !page.clusters.is_empty())
        };
        loaded.iter().filter(|(_, page)| !page.may_have_next()).find_map(|(number, page)| {
            let last = number.saturating_sub(page.clusters.is_empty().into());
            (*number == 0 || has_clusters(last)).then_some(last)
        })
    }

    /// Returns the position of the page on screen, or `None` if the page is empty or behind the last one.
    pub fn page_range(&self) -> Option<PageRange> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let end =
            |search: &Search, page: &Page| self.pages.rows_before(search) + page.rows() as u64;
        let first = self.pages.rows_before(&view.search) + 1;
        let last = end(&view.search, self.page()?);
        let last_page = self.last_page_number().and_then(|number| {
            let search = Search { page: number, ..view.search.clone() };
            Some(end(&search, self.pages.get(&search)?.value()?))
        });
        let is_inside = last >= first && last_page.is_none_or(|total| last <= total);
        is_inside.then_some(PageRange { first, last, total: last_page })
    }

    /// Returns the number of the page on screen, counted from 0.
    pub fn page_number(&self) -> u32 {
        self.view().map_or(0, |view| view.search.page)
    }

    pub fn score_scale(&self) -> ScoreScale {
        self.view().map_or(ScoreScale::Visual, |view| view.search.query.score_scale())
    }

    pub fn remote_page(&self) -> Option<&Remote<Page>> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        self.pages.get(&view.search)
    }

    /// Returns the open page, which was loaded from the service or computed from loaded pages.
    pub fn page(&self) -> Option<&Page> {
        match &self.view()?.computed {
            Some(computed) => Some(&computed.page),
            None => self.remote_page()?.value(),
        }
    }

    pub fn may_have_next_page(&self) -> bool {
        let may_follow =
            self.remote_page().and_then(Remote::value).is_some_and(Page::may_have_next);
        may_follow && self.last_page_number().is_none_or(|last| self.page_number() < last)
    }

    pub fn cluster(&self) -> Option<&Cluster> {
        let visible = self.visible_clusters();
        self.page()?.clusters.get(visible.get(self.view()?.cursor)?.index)
    }

    pub fn preview(&self) -> Option<&Preview> {
        let preview = self.cluster()?.previews.get(self.preview_index())?;
        let selected = self.view()?.media;
        // Until the selected picture is loaded again, no other one takes its place.
        selected.is_none_or(|media| media == preview.media).then_some(preview)
    }

    /// Returns the position of the selected preview in its cluster.
    pub fn preview_index(&self) -> usize {
        let count = self.cluster().map_or(0, |cluster| cluster.previews.len());
        self.view().map_or(0, |view| moved_cursor(view.preview_index, 0, count))
    }

    /// Returns the read of the next members of the cluster under the cursor, if the cursor is near the last loaded one.
    pub(in crate::app) fn members_read(
        &self,
        retry: impl Fn(u32) -> Duration,
    ) -> Option<(Search, ClusterId, Uptime)> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let cluster = self.cluster()?;
        if view.preview_index + Page::SIZE < cluster.previews.len() {
            return None;
        }
        let (page, due) = self.members.next_page(&view.search, cluster, retry)?;
        Some((Search { page, ..view.search.clone() }, cluster.id, due))
    }

    pub(in crate::app) fn members_loaded(
        &mut self,
        search: &Search,
        id: ClusterId,
        members: Vec<Preview>,
        now: Uptime,
    ) {
        let page = self.pages.entry(search.clone()).value_mut();
        let mut clusters = page.into_iter().flat_map(|page| &mut page.clusters);
        if let Some(cluster) = clusters.find(|cluster| cluster.id == id) {
            self.members.add_page(search, cluster, members, now);
        }
    }

    /// Returns why the members of the cluster under the cursor are not all loaded. Returns `None` if they are.
    pub fn missing_members(&self) -> Option<MissingMembers<'_>> {
        self.missing_members_of(self.cluster()?)
    }

    /// Returns why the members of a cluster on screen are not all loaded. Returns `None` if they are.
    pub fn missing_members_of(&self, cluster: &Cluster) -> Option<MissingMembers<'_>> {
        let view = self.view()?;
        let missing = self.members.missing(&view.search, cluster)?;
        // Only the service knows which search has found a cluster that was computed from several searches.
        Some(if view.computed.is_some() { MissingMembers::NotListed } else { missing })
    }

    /// Returns the clusters of all loaded pages of the search on screen, in their order.
    pub fn loaded_clusters(&self) -> Vec<&Cluster> {
        self.view().map(|view| self.clusters_of(view)).unwrap_or_default()
    }

    /// Returns the clusters of all loaded pages of a view, such as the view of another tab. A page that may be out of
    /// date counts only while it is on screen, because clusters of different times do not belong together.
    pub(in crate::app) fn clusters_of<'a>(&'a self, view: &'a View) -> Vec<&'a Cluster> {
        if let Some(computed) = &view.computed {
            return computed.page.clusters.iter().collect();
        }
        let on_screen = self.view().filter(|shown| shown.search == view.search);
        let on_screen = on_screen.map(|shown| shown.search.page);
        let pages = self.pages.pages_of(&view.search).into_iter();
        let pages = pages.filter_map(|(number, page)| {
            page.current().or_else(|| page.value().filter(|_| on_screen == Some(number)))
        });
        pages.flat_map(|page| &page.clusters).collect()
    }

    pub fn tab_count(&self) -> usize {
        self.tabs().map_or(0, |tabs| tabs.all().len())
    }

    /// Opens a view that collects the clusters with a text in their names. The finest clusters have the fewest members
    /// that the service does not list.
    pub(in crate::app) fn scan_names(&mut self, text: &str) {
        let Some(Search { dataset, entity, .. }) = self.view().map(|view| view.search.clone())
        else {
            return;
        };
        let granularity = Granularity::FINEST;
        let search = Search { entity, granularity, ..Search::browse(dataset) };
        let scan = NameScan::new(search.clone(), text);
        let computed = Computed {
            label: scan.label(0),
            page: Page::default(),
            members: [].into(),
            scan: Some(scan),
        };
        let view = View { computed: Some(computed), ..View::new(search) };
        self.edit_tabs(|tabs| tabs.tab_mut().push(view));
    }

    /// Returns the page that the search of all names on screen waits for.
    pub(in crate::app) fn page_to_scan(&self) -> Option<&Search> {
        self.view()?.scan()?.page_to_scan()
    }

    /// Looks for the name on the pages that are loaded.
    pub(in crate::app) fn scan_loaded_pages(&mut self) {
        while let Some(search) = self.page_to_scan().cloned()
            && let Some(page) = self.pages.current(&search).cloned()
        {
            // The pages that the user has visited stay loaded.
            self.pages.demote(&search);
            self.edit_view(|view| _ = view.edit_scan(|scan, found| scan.look_at(page, found)));
        }
    }

    /// Stops the search of all names because a page could not be loaded.
    pub(in crate::app) fn scan_failed(&mut self, search: &Search, failure: &Failure) {
        if self.page_to_scan() == Some(search) {
            let why = failure.to_safe_text();
            self.edit_view(|view| _ = view.edit_scan(|scan, _| scan.end(ScanState::Failed(why))));
        }
    }

    /// Continues the search of all names on screen, unless it is complete.
    pub(in crate::app) fn continue_scan(&mut self) {
        self.edit_view(|view| _ = view.edit_scan(|scan, _| scan.resume()));
    }
}
