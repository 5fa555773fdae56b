//! The basket of the open dataset: what is marked across pages and searches. It is recalled when
//! the dataset opens and kept after every change, so that it outlives a crash.

mod all;
mod mark;

pub use all::AllPages;

use std::ops::RangeInclusive;

use crate::{
    app::{App, Effect, Level, Tile},
    message::{Lane, Request},
};
pub use tessera_model::text::counted;
use tessera_model::{
    Basket, Book, Cluster, ClusterId, DatasetId, Entry, Failure, MarkId, Page, Preview, Selection,
};

/// Marking that takes more than one key.
#[derive(Debug, Default)]
pub struct Marking {
    /// Where a range begins, while one is chosen.
    pub range: Option<ClusterId>,
    /// The pages that are marked one after the other.
    pub all: Option<AllPages>,
}

/// How a cluster on screen stands to the basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing of it is marked.
    Unmarked,
    /// So many of its previews are marked by themselves.
    Singles(usize),
    /// It is marked whole.
    Whole,
    /// It is marked, and so many of its members are left out.
    Part(usize),
    /// It is marked, but from before the dataset was clustered anew.
    Stale,
}

impl App {
    /// What is marked in the open dataset, once it has been recalled.
    #[must_use]
    pub fn basket(&self) -> Option<&Basket> {
        self.store.baskets.get(&self.view()?.search.dataset)?.value()
    }

    /// The marks of the open dataset.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        self.basket().map(Basket::selection)
    }

    /// How a cluster stands to the basket.
    #[must_use]
    pub fn standing(&self, cluster: &Cluster) -> Standing {
        let Some(selection) = self.selection() else { return Standing::Unmarked };
        match selection.cluster(cluster.id) {
            Some(marked) if marked.stale => Standing::Stale,
            Some(marked) if marked.exclude.is_empty() => Standing::Whole,
            Some(marked) => Standing::Part(marked.exclude.len()),
            None => {
                let single = |it: &&Preview| selection.get(MarkId::Medium(it.media)).is_some();
                match cluster.previews.iter().filter(single).count() {
                    0 => Standing::Unmarked,
                    singles => Standing::Singles(singles),
                }
            }
        }
    }

    /// The clusters that the tiles at these places stand for.
    #[must_use]
    pub fn clusters_shown(&self, tiles: RangeInclusive<usize>) -> Vec<&Cluster> {
        let Some(page) = self.page() else { return Vec::new() };
        let shown = self.shown().into_iter().enumerate();
        let shown = shown.filter(|(tile, _)| tiles.contains(tile)).map(|(_, shown)| shown);
        let places = shown.flat_map(|shown| [vec![shown.place], shown.folded].concat());
        places.map(|place| &page.clusters[place]).collect()
    }

    /// How a tile stands to the basket: its cluster, or the member that it shows.
    #[must_use]
    pub fn standing_of(&self, tile: &Tile) -> Standing {
        let standing = self.standing(tile.cluster);
        let (true, Some(member)) = (self.shows_members(), tile.preview) else { return standing };
        let selection = self.selection();
        let marked = selection.and_then(|selection| selection.cluster(tile.cluster.id));
        let single = MarkId::Medium(member.media);
        match standing {
            Standing::Unmarked | Standing::Singles(_) => {
                match selection.and_then(|selection| selection.get(single)) {
                    Some(_) => Standing::Singles(1),
                    None => Standing::Unmarked,
                }
            }
            Standing::Part(_) => {
                let out = marked.is_some_and(|marked| marked.exclude.contains(&member.media));
                if out { Standing::Part(1) } else { Standing::Whole }
            }
            Standing::Whole | Standing::Stale => standing,
        }
    }

    /// How many marks are on screen or a scroll away, and how many this query hides.
    #[must_use]
    pub fn marks_here_and_hidden(&self) -> (usize, usize) {
        let Some(selection) = self.selection() else { return (0, 0) };
        let marks = |cluster: &Cluster| match self.standing(cluster) {
            Standing::Unmarked => 0,
            Standing::Singles(singles) => singles,
            Standing::Whole | Standing::Part(_) | Standing::Stale => 1,
        };
        let here = self.clusters_shown(0..=usize::MAX).into_iter().map(marks).sum();
        (here, selection.len().saturating_sub(here))
    }

    /// Changes the basket of the open dataset, and keeps it.
    pub(in crate::app) fn change_basket<T>(
        &mut self,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let dataset = self.view()?.search.dataset;
        self.change_basket_of(dataset, effects, change)
    }

    pub(in crate::app) fn change_basket_of<T>(
        &mut self,
        dataset: DatasetId,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let outcome = change(self.store.baskets.get_mut(&dataset)?.value_mut()?);
        self.keep_basket(dataset, effects);
        Some(outcome)
    }

    fn keep_basket(&mut self, dataset: DatasetId, effects: &mut Vec<Effect>) {
        let Some(basket) = self.store.baskets.get(&dataset).and_then(|it| it.value()) else {
            return;
        };
        let entry = Entry::Basket(dataset, basket.selection().clone());
        self.send(Lane::Keep(entry.book()), Request::Keep(entry), effects);
    }

    /// What was marked when the program ended came back, or could not be read.
    pub(in crate::app) fn basket_recalled(
        &mut self,
        dataset: DatasetId,
        result: Result<Option<Entry>, Failure>,
    ) {
        let basket = self.store.baskets.entry(dataset).or_default();
        match result {
            Ok(Some(Entry::Basket(_, selection))) => {
                basket.succeed(self.now, Basket::new(selection));
            }
            // Whatever else a basket's name stood for holds no marks.
            Ok(None | Some(Entry::Jobs { .. } | Entry::Views(_) | Entry::History(_))) => {
                basket.succeed(self.now, Basket::default());
            }
            Err(failure) => {
                self.notices.fail(self.now, &failure);
                basket.fail(self.now, failure);
            }
        }
    }

    /// The basket that is to be recalled: that of the open dataset, once.
    pub(in crate::app) fn basket_to_recall(&self) -> Option<Book> {
        let dataset = self.view()?.search.dataset;
        let due = self.store.baskets.get(&dataset).map(|basket| basket.due(None));
        due.is_none_or(|due| due.is_some()).then_some(Book::Basket(dataset))
    }

    /// A dataset was clustered anew (M16), or its service does not find what is marked (M26).
    pub(in crate::app) fn doubt_basket(&mut self, dataset: DatasetId, effects: &mut Vec<Effect>) {
        let basket = self.store.baskets.get_mut(&dataset).and_then(|basket| basket.value_mut());
        let stale = basket.map_or(0, Basket::expire);
        if stale > 0 {
            let text =
                format!("{} in the basket may be gone by now: 5 lists them", clusters(stale));
            self.notices.add(self.now, Level::Warning, text);
            self.keep_basket(dataset, effects);
        }
    }

    /// A page came: the marked clusters on it exist.
    pub(in crate::app) fn confirm_marks(
        &mut self,
        dataset: DatasetId,
        page: &Page,
        effects: &mut Vec<Effect>,
    ) {
        let basket = self.store.baskets.get_mut(&dataset).and_then(|basket| basket.value_mut());
        let confirmed = basket.map_or(0, |basket| basket.confirm(&page.clusters));
        if confirmed > 0 {
            let text = format!("{} of the basket rechecked: still there", clusters(confirmed));
            self.notices.add(self.now, Level::Success, text);
            self.keep_basket(dataset, effects);
        }
    }
}

/// `1 cluster`, `3 clusters`.
pub(in crate::app) fn clusters(count: usize) -> String {
    counted(count, "cluster", "clusters")
}
