//! Set algebra on results: this tab with another. It is made here, of the pages that are loaded,
//! because the interface has no OR and no NOT; so it is never shown as complete.

use std::collections::HashSet;

use crate::{
    app::{App, Computed, Overlay, Tab, View, overlay::Choice, overlay::Pick},
    model::{Cluster, ClusterId, MediaId, Page, SafeText, Search},
};

/// How two results are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// What is in both.
    Intersection,
    /// What is in this one and not in the other.
    Difference,
    /// What is in any of the two.
    Union,
}

impl Operator {
    /// All of them, the most useful first.
    pub const ALL: [Self; 3] = [Self::Difference, Self::Intersection, Self::Union];

    /// Its sign.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Intersection => "∩",
            Self::Difference => "−",
            Self::Union => "∪",
        }
    }

    /// What it keeps.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Intersection => "what is in both",
            Self::Difference => "what is here and not there",
            Self::Union => "what is in any of the two",
        }
    }
}

/// A tab to combine with, by its place, and how.
pub type Combination = (usize, Operator);

/// Puts two results together, in the order of the first. A medium is in a result when it is among
/// its previews, or when its whole cluster is. A cluster of which nothing is left is dropped.
#[must_use]
pub fn combine(a: &[Cluster], b: &[Cluster], operator: Operator) -> Vec<Cluster> {
    let kept = match operator {
        Operator::Intersection => return keep(a, &Content::of(b), true),
        Operator::Difference => return keep(a, &Content::of(b), false),
        Operator::Union => keep(b, &Content::of(a), false),
    };
    a.iter().cloned().chain(kept).collect()
}

/// What a result holds.
struct Content {
    clusters: HashSet<ClusterId>,
    media: HashSet<MediaId>,
}

impl Content {
    fn of(clusters: &[Cluster]) -> Self {
        let previews = clusters.iter().flat_map(|cluster| &cluster.previews);
        Self {
            clusters: clusters.iter().map(|cluster| cluster.id).collect(),
            media: previews.map(|preview| preview.media).collect(),
        }
    }
}

/// The clusters whose members are in `other`, or are not.
fn keep(clusters: &[Cluster], other: &Content, inside: bool) -> Vec<Cluster> {
    let left = clusters.iter().filter_map(|cluster| {
        let whole = other.clusters.contains(&cluster.id);
        if cluster.previews.is_empty() {
            return (whole == inside).then(|| cluster.clone());
        }
        let mut cluster = cluster.clone();
        cluster
            .previews
            .retain(|preview| (whole || other.media.contains(&preview.media)) == inside);
        (!cluster.previews.is_empty()).then_some(cluster)
    });
    left.collect()
}

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
