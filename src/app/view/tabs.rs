//! Tabs of results. A tab is a history of views.

use std::mem;

use tessera_model::{DatasetId, Search};

use crate::{
    app::{Results, Setup, View},
    config::SearchDefaults,
};

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
        let SearchDefaults { entity, granularity, .. } = self.search_defaults;
        Search { entity, granularity, ..Search::browse(dataset) }
    }
}

impl Results {
    pub fn tab_count(&self) -> usize {
        self.tabs().map_or(0, |tabs| tabs.all().len())
    }
}
