//! Set algebra on results: this tab with another. It is made here, of the pages that are loaded,
//! because the interface has no OR and no NOT; so it is never shown as complete.

use crate::app::{App, Computed, Overlay, Tab, View, overlay::Choice, overlay::Pick};
use tessera_model::{
    Cluster, Page, SafeText, Search,
    algebra::{Operator, combine},
};

/// A tab to combine with, by its place, and how.
pub type Combination = (usize, Operator);

impl App {
    /// Opens the list of the other tabs with each operator.
    pub(in crate::app) fn ask_for_combination(&mut self) {
        let Some(tabs) = self.results.tabs() else { return };
        let here = tabs.tab().view.title();
        let others = tabs.all().iter().enumerate().filter(|(place, _)| *place != tabs.at());
        let choices = others.flat_map(|(place, tab)| {
            let there = tab.view.title();
            let loaded = self.loaded(tab).len();
            Operator::ALL.map(|operator| {
                let words = format!("{here} {} {there}", operator.sign());
                let note = format!("{}; {loaded} clusters of it are loaded", operator.about());
                Choice::new((place, operator), words).note(note)
            })
        });
        self.overlay = Some(Overlay::Combine(Pick::new(choices.collect())));
    }

    /// Opens a tab on this one combined with another.
    pub(in crate::app) fn combine(&mut self, pick: &Pick<Combination>) {
        let (Some(&(place, operator)), Some(tabs)) = (pick.chosen(), self.results.tabs()) else {
            return;
        };
        let Some(other) = tabs.all().get(place) else { return };
        let (here, there) = (tabs.tab().view.title(), other.view.title());
        let clusters = combine(&self.loaded(tabs.tab()), &self.loaded(other), operator);
        let words = format!("{here} {} {there}, of loaded pages", operator.sign());
        let computed =
            Computed { label: SafeText::name(&words), page: Page { clusters, ..Page::default() } };
        let search = Search { page: 0, ..tabs.tab().view.search.clone() };
        self.open_in_tab(View { computed: Some(computed), ..View::new(search) });
    }

    /// The clusters of a tab that are loaded, over all its pages.
    fn loaded(&self, tab: &Tab) -> Vec<Cluster> {
        if let Some(computed) = &tab.view.computed {
            return computed.page.clusters.clone();
        }
        let pages = self.store.pages.of(&tab.view.search).into_iter();
        pages.flat_map(|(_, page)| page.clusters.iter().cloned()).collect()
    }
}
