//! Set operations on tabs, computed from the loaded pages, because the service has no OR and NOT.
//! The result is never shown as complete.

use tessera_model::{
    Cluster, Page, SafeText, Search,
    set_algebra::{SetOperator, combine},
};

use crate::app::{
    App, Computed, View,
    basket::count_with_noun,
    overlay::{
        command_list::ListKind,
        pick_list::{Command, PickItem},
    },
};

pub type Combination = (usize, SetOperator);

impl App {
    pub(in crate::app) fn open_combine_picker(&mut self) {
        let Some(tabs) = self.results.tabs() else { return };
        let here = tabs.tab().view.title();
        let others = tabs.all().iter().enumerate().filter(|(index, _)| *index != tabs.active());
        let items = others.flat_map(|(index, tab)| {
            let there = tab.view.title();
            let loaded = self.clusters_of(&tab.view).len();
            let loaded = count_with_noun(loaded, "cluster", "clusters");
            SetOperator::ALL.map(|operator| {
                let label = format!("{here} {} {there}", operator.symbol());
                let meaning = operator.description();
                let note = format!("{meaning}; {loaded} of the others loaded");
                PickItem::new(Command::CombineTabs((index, operator)), label).note(note)
            })
        });
        let items = items.collect();
        self.open_list(ListKind::Combinations, "Combine the loaded pages", items);
    }

    pub(in crate::app) fn combine_tabs(&mut self, (index, operator): Combination) {
        let Some(tabs) = self.results.tabs() else { return };
        let Some(other) = tabs.all().get(index) else { return };
        let (here, there) = (tabs.tab().view.title(), other.view.title());
        let clusters_of =
            |view| self.clusters_of(view).into_iter().cloned().collect::<Vec<Cluster>>();
        let clusters = combine(&clusters_of(&tabs.tab().view), &clusters_of(&other.view), operator);
        let label = format!("{here} {} {there}, of loaded pages", operator.symbol());
        let computed =
            Computed { label: SafeText::name(&label), page: Page { clusters, ..Page::default() } };
        let search = Search { page: 0, ..tabs.tab().view.search.clone() };
        self.open_in_tab(View { computed: Some(computed), ..View::new(search) });
    }
}
