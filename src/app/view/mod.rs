//! Views: a view is a search with the position in its results. A tab is a history of views.

mod history;
mod pages;
pub mod query_image;
pub mod sort_filter;
mod tabs;
pub(in crate::app) mod tiles;
pub(in crate::app) mod visible_pictures;

pub use history::SearchHistory;
pub use pages::{PageCache, PageRange};
pub use query_image::{QueryImage, RecentImages};
pub use tabs::{Tab, Tabs};
pub use tiles::Tile;
pub use visible_pictures::{detail_picture_view, full_size_link};

use tessera_model::{ClusterId, Page, Query, SafeText, Search};

use crate::app::view::sort_filter::ListOptions;

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
}

impl View {
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
            members_top_row: None,
        }
    }

    pub fn title(&self) -> SafeText {
        match (&self.computed, &self.search.query, &self.similar_to) {
            (Some(computed), ..) => computed.label.clone(),
            (None, query, name) => search_title(query, name.as_ref(), self.search.filters.len()),
        }
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
