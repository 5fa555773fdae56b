//! Defines views. A view is a search with the position in its results, and a tab is a history of
//! views.

mod history;
pub(in crate::app) mod name_scan;
pub(in crate::app) mod pictures;
pub mod sort_filter;
pub mod tiles;

pub use history::SearchHistory;
pub use pictures::{QueryImage, RecentImages};
pub use pictures::{detail_picture_view, full_size_link};
pub use tiles::Tile;

use std::{collections::BTreeMap, mem};

use tessera_config::SearchDefaults;
use tessera_model::{
    ClusterId, FileSortKey, Filter, MediaId,
    set_algebra::Members,
    vql::{FileProperty, Operator, Property, PropertyValue},
};

use crate::app::prelude::*;
use crate::app::view::{
    name_scan::{NameScan, ScanState},
    sort_filter::{ListOptions, SortKey},
};

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub search: Search,
    pub similar_to: Option<SafeText>,
    /// The picture behind an uploaded anchor, which is registered again for another granularity.
    pub query_image: Option<QueryImage>,
    /// Clusters that were computed from loaded pages, instead of a page of the service.
    pub computed: Option<Computed>,
    /// The page to show once it is loaded. The present page stays on screen until then.
    pub pending_page: Option<PendingPage>,
    pub list_options: ListOptions,
    /// The selected tile among the visible ones.
    pub cursor: usize,
    /// The cluster of the selected tile, once the user has moved the cursor. The cursor finds this
    /// cluster again after every change.
    pub cluster: Option<ClusterId>,
    pub top_row: usize,
    /// The preview of the selected cluster in the detail pane.
    pub preview_index: usize,
    /// The picture of the selected preview, once single pictures are shown. The cursor finds this picture again after
    /// every change.
    pub media: Option<MediaId>,
    /// The first visible row of the members, while the members replace the clusters.
    pub members_top_row: Option<usize>,
}

/// A page that was requested, and the tile to select on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingPage {
    pub number: u32,
    pub cursor: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// The origin of the clusters, such as `A − B, of loaded pages`.
    pub label: SafeText,
    pub page: Page,
    /// Which members of its clusters a set operation has found.
    pub members: BTreeMap<ClusterId, Members>,
    /// The search of all names that computes the clusters page by page.
    pub scan: Option<NameScan>,
}

impl View {
    /// Returns which members of a cluster the view shows.
    pub(in crate::app) fn members_of(&self, cluster: ClusterId) -> Members {
        let known = self.computed.as_ref().and_then(|computed| computed.members.get(&cluster));
        known.cloned().unwrap_or_else(|| Members::found_by(&self.search))
    }

    /// Returns the filters that the shown members of a cluster pass. Tabs that are combined can have other filters.
    pub fn filters_of(&self, cluster: ClusterId) -> &[Filter] {
        match self.computed.as_ref().and_then(|computed| computed.members.get(&cluster)) {
            Some(Members::Found { filters, .. }) => filters,
            Some(Members::Previewed) | None => &self.search.filters,
        }
    }

    pub fn new(search: Search) -> Self {
        Self {
            search,
            similar_to: None,
            query_image: None,
            computed: None,
            pending_page: None,
            list_options: ListOptions::default(),
            cursor: 0,
            cluster: None,
            top_row: 0,
            preview_index: 0,
            media: None,
            members_top_row: None,
        }
    }

    pub fn title(&self) -> SafeText {
        match (&self.computed, &self.search.query, &self.similar_to) {
            (Some(computed), ..) => computed.label.clone(),
            (None, query, name) => search_title(query, name.as_ref(), self.search.filters.len()),
        }
    }

    /// Returns the text that the view searches for in all names, if it searches for nothing else.
    pub fn searched_name(&self) -> Option<&str> {
        if let Some(scan) = self.scan() {
            return Some(scan.text());
        }
        let (Query::Browse, [Filter::Property(filter)]) =
            (&self.search.query, &*self.search.filters)
        else {
            return None;
        };
        let path = Property::File(FileProperty::Path);
        match (filter.operator(), filter.values()) {
            (Operator::Contains, [PropertyValue::Text(text)]) if *filter.property() == path => {
                Some(text)
            }
            _ => None,
        }
    }

    /// Returns whether names are searched or sorted, so that the tiles show names.
    pub fn shows_names(&self) -> bool {
        let order = self.search.order.map(|order| order.by);
        self.searched_name().is_some()
            || matches!(order, Some(FileSortKey::Name | FileSortKey::Path))
            || self.list_options.order.by == SortKey::Name
    }

    /// Replaces the search and starts at its beginning. The name, the query image and the list
    /// options stay.
    pub(in crate::app) fn replace_search(&mut self, search: Search) {
        *self = Self {
            similar_to: self.similar_to.take(),
            query_image: self.query_image.take(),
            list_options: std::mem::take(&mut self.list_options),
            ..Self::new(search)
        };
    }

    /// Returns the search of all names that computes the clusters, if one does.
    pub fn scan(&self) -> Option<&NameScan> {
        self.computed.as_ref()?.scan.as_ref()
    }

    /// Changes the search of all names, and the label that says how far it is.
    pub(in crate::app) fn edit_scan<T>(
        &mut self,
        change: impl FnOnce(&mut NameScan, &mut Page) -> T,
    ) -> Option<T> {
        let Computed { label, page, scan, .. } = self.computed.as_mut()?;
        let scan = scan.as_mut()?;
        let result = change(scan, page);
        *label = scan.label(page.clusters.len());
        Some(result)
    }

    /// Stops a running search of all names. Returns whether there was one.
    pub(in crate::app) fn stop_scan(&mut self) -> bool {
        self.edit_scan(|scan, _| scan.end(ScanState::Stopped)).unwrap_or_default()
    }
}

/// Describes a search in a few words.
pub(in crate::app) fn search_title(
    query: &Query,
    similar_to: Option<&SafeText>,
    filters: usize,
) -> SafeText {
    let text = match (query, similar_to) {
        (Query::Similar(_), Some(name)) => format!("≈ {name}"),
        (Query::Similar(_), None) => "≈ a picture".to_owned(),
        (Query::Caption { text, .. }, _) => format!("“{}”", text.as_str()),
        (Query::Browse, _) => return SafeText::name(&filter_count_text(filters)),
    };
    SafeText::name(&match filters {
        0 => text,
        _ => format!("{text}, {}", filter_count_text(filters)),
    })
}

fn filter_count_text(filters: usize) -> String {
    match filters {
        0 => "all".to_owned(),
        1 => "1 filter".to_owned(),
        count => format!("{count} filters"),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tab {
    pub back_stack: Vec<View>,
    pub view: View,
    pub(in crate::app) forward_stack: Vec<View>,
}

impl Tab {
    pub fn new(view: View) -> Self {
        Self { back_stack: Vec::new(), view, forward_stack: Vec::new() }
    }

    /// Opens a new view and clears the forward history.
    pub fn push(&mut self, view: View) {
        self.back_stack.push(mem::replace(&mut self.view, view));
        self.forward_stack.clear();
    }

    /// Goes back. Returns `false` at the first view.
    pub fn back(&mut self) -> bool {
        let Some(before) = self.back_stack.pop() else { return false };
        self.forward_stack.push(mem::replace(&mut self.view, before));
        true
    }

    /// Goes forward. Returns `false` at the last view.
    pub fn forward(&mut self) -> bool {
        let Some(next) = self.forward_stack.pop() else { return false };
        self.back_stack.push(mem::replace(&mut self.view, next));
        true
    }
}

/// The tabs of one dataset. There is at least one tab.
#[derive(Clone, Debug, PartialEq)]
pub struct Tabs {
    all: Vec<Tab>,
    active: usize,
}

impl Tabs {
    /// The maximum number of tabs, because each tab has a key from `Alt-1` to `Alt-9`.
    pub const MAX: usize = 9;

    pub fn new(search: Search) -> Self {
        Self { all: vec![Tab::new(View::new(search))], active: 0 }
    }

    /// Creates tabs with these views. Returns `None` if there are no views.
    pub fn of_views(views: Vec<View>, active: usize) -> Option<Self> {
        let all: Vec<Tab> = views.into_iter().take(Self::MAX).map(Tab::new).collect();
        let last = all.len().checked_sub(1)?;
        Some(Self { all, active: active.min(last) })
    }

    pub fn tab(&self) -> &Tab {
        &self.all[self.active]
    }

    pub fn tab_mut(&mut self) -> &mut Tab {
        &mut self.all[self.active]
    }

    pub fn all(&self) -> &[Tab] {
        &self.all
    }

    pub fn active(&self) -> usize {
        self.active
    }

    /// Adds a tab and opens it. Returns `false` if there are too many tabs.
    pub fn add(&mut self, view: View) -> bool {
        let fits = self.all.len() < Self::MAX;
        if fits {
            self.all.push(Tab::new(view));
            self.active = self.all.len() - 1;
        }
        fits
    }

    /// Closes the tab on screen, unless it is the only one.
    pub fn close(&mut self) {
        if self.all.len() > 1 {
            self.all.remove(self.active);
            self.active = self.active.min(self.all.len() - 1);
        }
    }

    pub fn go_to(&mut self, place: usize) {
        if place < self.all.len() {
            self.active = place;
        }
    }
}

impl Setup {
    pub(in crate::app) fn initial_search(&self, dataset: DatasetId) -> Search {
        let SearchDefaults { entity, granularity, .. } = self.settings.search;
        Search { entity, granularity, ..Search::browse(dataset) }
    }
}
