//! What is looked at: one search with the place in its results, and a tab, which is the way from the
//! whole dataset to it. Beside it stands how the results are arranged, combined and shown.

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

/// One search with the place in its results.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What is asked.
    pub search: Search,
    /// What it is similar to, in words; `None` for the whole dataset.
    pub similar_to: Option<SafeText>,
    /// The picture behind an uploaded anchor, to register it again for another granularity.
    pub query_image: Option<QueryImage>,
    /// Clusters computed here from loaded pages, instead of an answer of the service.
    pub computed: Option<Computed>,
    /// Which of the clusters are shown, and in which order.
    pub list_options: ListOptions,
    /// The tile under the cursor, among those that are shown.
    pub cursor: usize,
    /// Its cluster once the person has gone there, so that it is found again wherever it goes.
    pub cluster: Option<ClusterId>,
    /// The first visible row of tiles.
    pub top_row: usize,
    /// The preview of that cluster that the detail shows.
    pub preview_index: usize,
    /// The first visible row of its members while they take the place of the clusters.
    pub members_top_row: Option<usize>,
}

/// Clusters that no single answer holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// Where they come from: `A − B, of loaded pages`.
    pub label: SafeText,
    /// The clusters.
    pub page: Page,
}

impl View {
    /// A search from its beginning, as the service orders it.
    #[must_use]
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

    /// What is looked at, in a few words.
    #[must_use]
    pub fn title(&self) -> SafeText {
        match (&self.computed, &self.search.query, &self.similar_to) {
            (Some(computed), ..) => computed.label.clone(),
            (None, query, name) => title(query, name.as_ref(), self.search.filters.len()),
        }
    }

    /// The same view on other clusters: from their beginning.
    pub(in crate::app) fn replace_search(&mut self, search: Search) {
        *self = Self {
            similar_to: self.similar_to.take(),
            query_image: self.query_image.take(),
            list_options: std::mem::take(&mut self.list_options),
            ..Self::new(search)
        };
    }
}

/// What a search looks for, in a few words.
#[must_use]
pub fn title(query: &Query, similar_to: Option<&SafeText>, filters: usize) -> SafeText {
    let words = match (query, similar_to) {
        (Query::Similar(_), Some(name)) => format!("≈ {name}"),
        (Query::Similar(_), None) => "≈ a picture".to_owned(),
        (Query::Caption { text, .. }, _) => format!("“{}”", text.as_str()),
        (Query::Browse, _) => return SafeText::name(&filter_count_text(filters)),
    };
    SafeText::name(&match filters {
        0 => words,
        _ => format!("{words}, {}", filter_count_text(filters)),
    })
}

fn filter_count_text(filters: usize) -> String {
    match filters {
        0 => "all".to_owned(),
        1 => "1 filter".to_owned(),
        many => format!("{many} filters"),
    }
}

/// A view with those before it and those left by going back.
#[derive(Clone, Debug, PartialEq)]
pub struct Tab {
    /// The way to the view on screen.
    pub back_stack: Vec<View>,
    /// The view on screen.
    pub view: View,
    /// What was gone back from, the nearest last.
    pub forward_stack: Vec<View>,
}

impl Tab {
    /// A tab that begins with `view`.
    #[must_use]
    pub fn new(view: View) -> Self {
        Self { back_stack: Vec::new(), view, forward_stack: Vec::new() }
    }

    /// Goes on to a new view. What was ahead is forgotten.
    pub fn push(&mut self, view: View) {
        self.back_stack.push(std::mem::replace(&mut self.view, view));
        self.forward_stack.clear();
    }

    /// Goes back one view. `false` when this is the first one.
    pub fn back(&mut self) -> bool {
        let Some(before) = self.back_stack.pop() else { return false };
        self.forward_stack.push(std::mem::replace(&mut self.view, before));
        true
    }

    /// Goes forward again. `false` when nothing was gone back from.
    pub fn forward(&mut self) -> bool {
        let Some(next) = self.forward_stack.pop() else { return false };
        self.back_stack.push(std::mem::replace(&mut self.view, next));
        true
    }
}

/// The tabs of one dataset. There is always one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tabs {
    all: Vec<Tab>,
    /// The one on screen.
    active: usize,
}

impl Tabs {
    /// Most tabs of a dataset: each has a key, `Alt-1` to `Alt-9`.
    pub const MAX: usize = 9;

    /// One tab on a search.
    #[must_use]
    pub fn new(search: Search) -> Self {
        Self { all: vec![Tab::new(View::new(search))], active: 0 }
    }

    /// The tab on screen.
    #[must_use]
    pub fn tab(&self) -> &Tab {
        &self.all[self.active]
    }

    /// The tab on screen, to change it.
    pub fn tab_mut(&mut self) -> &mut Tab {
        &mut self.all[self.active]
    }

    /// All tabs in their order.
    #[must_use]
    pub fn all(&self) -> &[Tab] {
        &self.all
    }

    /// The place of the tab on screen, 0-based.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active
    }

    /// Opens a tab behind the others and goes there. `false` when there are too many.
    pub fn add(&mut self, view: View) -> bool {
        let fits = self.all.len() < Self::MAX;
        if fits {
            self.all.push(Tab::new(view));
            self.active = self.all.len() - 1;
        }
        fits
    }

    /// Closes the tab on screen; the last one stays.
    pub fn close(&mut self) {
        if self.all.len() > 1 {
            self.all.remove(self.active);
            self.active = self.active.min(self.all.len() - 1);
        }
    }

    /// Goes to a tab, if there are so many.
    pub fn go_to(&mut self, place: usize) {
        if place < self.all.len() {
            self.active = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::DatasetId;

    fn view(page: u32) -> View {
        let dataset = DatasetId(Uuid::nil());
        View::new(Search { page, ..Search::browse(dataset) })
    }

    #[test]
    fn back_and_forward_walk_the_same_way() {
        let mut tab = Tab::new(view(0));
        tab.push(view(1));
        tab.push(view(2));
        assert!(tab.back() && tab.back() && !tab.back());
        assert!(tab.forward());
        assert_eq!(tab.view, view(1));
        tab.push(view(9));
        assert!(!tab.forward(), "a new way forgets the old one");
        assert_eq!(tab.back_stack, [view(0), view(1)]);
    }

    #[test]
    fn there_is_always_a_tab_and_never_more_than_keys() {
        let mut tabs = Tabs::new(Search::browse(DatasetId(Uuid::nil())));
        for page in 1..20 {
            assert_eq!(tabs.add(view(page)), page < 9);
        }
        tabs.go_to(3);
        tabs.go_to(30);
        assert_eq!((tabs.active(), tabs.tab().view.search.page), (3, 3));
        for _ in 0..20 {
            tabs.close();
        }
        assert_eq!((tabs.all().len(), tabs.active()), (1, 0));
    }
}
