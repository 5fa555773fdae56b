//! Views: one search with the position in its results. A tab is a history of views.

mod history;
pub mod query_image;
mod set_operations;
mod similar_search;
pub mod sort_filter;
mod tabs;
mod tiles;
pub(in crate::app) mod visible_pictures;

pub use history::SearchHistory;
pub use query_image::{QueryImage, RecentImages};
pub use set_operations::Combination;
pub use tiles::Tile;
pub use visible_pictures::{detail_picture_view, full_size_link};

use crate::app::view::sort_filter::ListOptions;
use tessera_model::{ClusterId, Page, Query, SafeText, Search};

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub search: Search,
    /// What it is similar to, in words.
    pub similar_to: Option<SafeText>,
    /// The picture behind an uploaded anchor, to register it again for another granularity.
    pub query_image: Option<QueryImage>,
    /// Clusters computed from loaded pages, instead of a page of the service.
    pub computed: Option<Computed>,
    pub list_options: ListOptions,
    /// The selected tile, among the visible ones.
    pub cursor: usize,
    /// Its cluster, once the user has moved the cursor, so that it is found again after every
    /// change.
    pub cluster: Option<ClusterId>,
    pub top_row: usize,
    /// The preview of that cluster in the detail pane.
    pub preview_index: usize,
    /// The first visible row of its members, while they take the place of the clusters.
    pub members_top_row: Option<usize>,
}

/// Clusters that are not a single page of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// Where they come from: `A − B, of loaded pages`.
    pub label: SafeText,
    pub page: Page,
}

impl View {
    pub fn new(search: Search) -> Self {
        Self {
            search,
            similar_to: None,
            query_image: None,
            computed: None,
            list_options: ListOptions::default(),
            cursor: 0,
            cluster: None,
            top_row: 0,
            preview_index: 0,
            members_top_row: None,
        }
    }

    pub fn title(&self) -> SafeText {
        match (&self.computed, &self.search.query, &self.similar_to) {
            (Some(computed), ..) => computed.label.clone(),
            (None, query, name) => title(query, name.as_ref(), self.search.filters.len()),
        }
    }

    /// Replaces the search and starts at its beginning; name, query image and list options stay.
    pub(in crate::app) fn replace_search(&mut self, search: Search) {
        *self = Self {
            similar_to: self.similar_to.take(),
            query_image: self.query_image.take(),
            list_options: std::mem::take(&mut self.list_options),
            ..Self::new(search)
        };
    }
}

pub fn title(query: &Query, similar_to: Option<&SafeText>, filters: usize) -> SafeText {
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

/// A view with its back and forward history.
#[derive(Clone, Debug, PartialEq)]
pub struct Tab {
    pub back_stack: Vec<View>,
    pub view: View,
    pub forward_stack: Vec<View>,
}

impl Tab {
    pub fn new(view: View) -> Self {
        Self { back_stack: Vec::new(), view, forward_stack: Vec::new() }
    }

    /// Opens a new view and clears the forward history.
    pub fn push(&mut self, view: View) {
        self.back_stack.push(std::mem::replace(&mut self.view, view));
        self.forward_stack.clear();
    }

    /// Goes back. Returns `false` at the first view.
    pub fn back(&mut self) -> bool {
        let Some(before) = self.back_stack.pop() else { return false };
        self.forward_stack.push(std::mem::replace(&mut self.view, before));
        true
    }

    /// Goes forward. Returns `false` at the last view.
    pub fn forward(&mut self) -> bool {
        let Some(next) = self.forward_stack.pop() else { return false };
        self.back_stack.push(std::mem::replace(&mut self.view, next));
        true
    }
}

/// The tabs of one dataset; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tabs {
    all: Vec<Tab>,
    active: usize,
}

impl Tabs {
    /// Each tab has a key, `Alt-1` to `Alt-9`.
    pub const MAX: usize = 9;

    pub fn new(search: Search) -> Self {
        Self { all: vec![Tab::new(View::new(search))], active: 0 }
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

    /// Adds a tab and opens it. Returns `false` when there are too many.
    pub fn add(&mut self, view: View) -> bool {
        let fits = self.all.len() < Self::MAX;
        if fits {
            self.all.push(Tab::new(view));
            self.active = self.all.len() - 1;
        }
        fits
    }

    /// Closes the tab on screen, except the last one.
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
