//! The state of the results pane: the tabs of each dataset, each with its history of views.

use std::collections::{HashMap, HashSet};

use tessera_model::{DatasetId, FailureKind, Query, Search, Status};

use crate::app::{Level, Outbox, PageCache, QueryImage, RecentImages, ServiceData, Tabs, View};

#[derive(Debug, Default)]
pub struct Results {
    /// The tabs on screen. `None` if no dataset is open.
    tabs: Option<Tabs>,
    tabs_of_others: HashMap<DatasetId, Tabs>,
    pub(in crate::app) pages: PageCache,
    pub(in crate::app) recent_images: RecentImages,
    pub(in crate::app) registering: Option<Registration>,
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
    pub fn pages(&self) -> &PageCache {
        &self.pages
    }

    pub fn recent_images(&self) -> &RecentImages {
        &self.recent_images
    }

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

    /// Handles Esc: stays on this page, closes the members, clears the filter, or goes back. Returns `false` at the
    /// first view of the tab.
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

impl Results {
    pub fn needs_query(&self, service_data: &ServiceData) -> bool {
        let search = self.view().map(|view| &view.search);
        let browses = search.is_some_and(|search| {
            let is_listed = service_data.dataset(search.dataset).is_some();
            let is_first = search.filters.is_empty() && search.page == 0;
            search.query == Query::Browse && is_first && is_listed
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
