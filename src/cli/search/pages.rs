//! Moves a cursor over the pages of a search. The cursor knows where the next page is, and which page was the last one.

use std::collections::HashSet;

use tessera_model::{Cluster, ClusterId, Fraction, Page, Search};

use crate::cli::search::request::{CutOptions, PageOptions};

/// The maximum number of pages, for services that never send a last page.
const MAX_PAGES: u32 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    Next,
    Last,
    /// Everything requested was received. The service may have more.
    LimitReached,
    /// The service has more pages than are fetched.
    PageLimitReached,
}

#[derive(Debug)]
pub struct PageCursor {
    next: Search,
    fetches_all: bool,
    remaining: Option<usize>,
    max_score: Option<Fraction>,
    known_clusters: HashSet<ClusterId>,
    pub state: PageState,
    pub fetched: u32,
    /// The number of rows that the service sent.
    rows: usize,
    /// The number of clusters dropped because an earlier page contained them.
    pub repeated: usize,
    /// The number of clusters dropped because they could not be read.
    pub skipped: usize,
}

impl PageCursor {
    pub fn new(search: Search, extent: PageOptions, cut: CutOptions) -> Self {
        Self {
            next: search,
            fetches_all: extent.all || extent.limit.is_some(),
            remaining: extent.limit.map(Into::into),
            max_score: cut.max_score,
            known_clusters: HashSet::new(),
            state: PageState::Next,
            fetched: 0,
            rows: 0,
            repeated: 0,
            skipped: 0,
        }
    }

    pub fn next(&self) -> Option<&Search> {
        (self.state == PageState::Next).then_some(&self.next)
    }

    /// Ends the walk although the service may have more.
    pub fn stop(&mut self) {
        self.state = PageState::LimitReached;
    }

    /// Accepts a page, and returns its new clusters up to the limit and the maximum score. A service ranks by score, so
    /// no closer cluster follows after one beyond the maximum. Without a limit, as many rows are fetched as the largest
    /// page has, because the pages of a service may be smaller.
    pub fn accept(&mut self, mut page: Page) -> Vec<Cluster> {
        page.drop_repeated(&mut self.known_clusters);
        self.fetched += 1;
        self.rows += page.rows();
        self.repeated += page.repeated;
        self.skipped += page.skipped;
        let may_have_next = page.may_have_next();
        let mut clusters = page.clusters;
        let is_last_beyond = clusters.last().is_some_and(|cluster| self.is_beyond(cluster));
        clusters.retain(|cluster| !self.is_beyond(cluster));
        let last = !may_have_next || is_last_beyond;
        let cut = self.remaining.is_some_and(|remaining| clusters.len() > remaining);
        if let Some(remaining) = &mut self.remaining {
            clusters.truncate(*remaining);
            *remaining -= clusters.len();
        }
        self.state = match last {
            _ if cut => PageState::LimitReached,
            true => PageState::Last,
            false if self.remaining == Some(0) => PageState::LimitReached,
            false if !self.fetches_all && self.rows >= Page::SIZE => PageState::LimitReached,
            false if self.fetched >= MAX_PAGES => PageState::PageLimitReached,
            false => PageState::Next,
        };
        self.next.page = self.next.page.saturating_add(1);
        clusters
    }

    fn is_beyond(&self, cluster: &Cluster) -> bool {
        let score = cluster.relevance.as_ref();
        self.max_score.zip(score).is_some_and(|(max, score)| score.is_beyond(max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::{DatasetId, EntityType, Relevance, SafeText, ScoreKind};
    use uuid::Uuid;

    fn page(ids: impl IntoIterator<Item = u128>) -> Page {
        let cluster = |id| Cluster {
            id: ClusterId(Uuid::from_u128(id)),
            entity: EntityType::Images,
            n_images: None,
            n_objects: None,
            n_videos: None,
            n_frames: None,
            similarity_threshold: None,
            relevance: None,
            previews: Vec::new(),
            labels: Vec::new(),
            tags: Vec::new(),
            captions: Vec::new(),
        };
        Page { clusters: ids.into_iter().map(cluster).collect(), ..Page::default() }
    }

    fn pages(all: bool, limit: Option<usize>) -> PageCursor {
        let limit = limit.map(|limit| limit.try_into().unwrap());
        let extent = PageOptions { page: 0, all, limit };
        PageCursor::new(Search::browse(DatasetId(Uuid::nil())), extent, CutOptions::default())
    }

    /// Fetches all pages from a service that responds with `at`. Returns the number of requests,
    /// the number of clusters, and the final state.
    fn walk(mut pages: PageCursor, at: impl Fn(u32) -> Page) -> (u32, usize, PageState) {
        let mut found = 0;
        while let Some(search) = pages.next() {
            let page = at(search.page);
            found += pages.accept(page).len();
        }
        (pages.fetched, found, pages.state)
    }

    #[test]
    fn one_page_unless_more_are_asked_for() {
        let endless = |number: u32| page((0..100).map(|id| u128::from(number) * 100 + id));
        assert_eq!(walk(pages(false, None), endless), (1, 100, PageState::LimitReached));
        assert_eq!(walk(pages(false, Some(30)), endless), (1, 30, PageState::LimitReached));
        assert_eq!(walk(pages(false, Some(250)), endless), (3, 250, PageState::LimitReached));
        assert_eq!(walk(pages(false, Some(100)), endless), (1, 100, PageState::LimitReached));
        let local = |_| Page { fills_pages: true, ..page(0..7) };
        assert_eq!(walk(pages(false, Some(7)), local), (1, 7, PageState::Last));
        assert_eq!(walk(pages(false, None), local), (1, 7, PageState::Last));
        assert_eq!(walk(pages(false, None), |_| page(0..7)), (2, 7, PageState::Last));
        let small = |number| page(number_of(number, 40));
        assert_eq!(walk(pages(false, None), small), (3, 120, PageState::LimitReached));
        assert_eq!(walk(pages(true, None), |_| page([])), (1, 0, PageState::Last));
        assert_eq!(
            walk(pages(true, None), endless),
            (MAX_PAGES, 1_000_000, PageState::PageLimitReached)
        );
    }

    #[test]
    fn the_walk_ends_at_the_maximum_score() {
        let ranked = |number: u32, kind: ScoreKind| {
            let mut page = page(number_of(number, 100));
            for (index, cluster) in (0_u32..).zip(&mut page.clusters) {
                let score = f64::from(number * 100 + index) / 1_000.0;
                cluster.relevance = Some(Relevance::new(score, kind.clone()));
            }
            page
        };
        let cut = |max| {
            let mut pages = pages(true, None);
            pages.max_score = Fraction::new(max);
            pages
        };
        let near = |number| ranked(number, ScoreKind::CosineDistance);
        assert_eq!(walk(cut(0.25), near), (3, 250, PageState::Last));
        assert_eq!(walk(cut(0.0), near), (1, 0, PageState::Last));
        let similarity = ScoreKind::Other(SafeText::name("similarity"));
        let unknown =
            |number| if number < 4 { ranked(number, similarity.clone()) } else { page([]) };
        assert_eq!(walk(cut(0.25), unknown), (5, 400, PageState::Last));
    }

    #[test]
    fn repeated_and_empty_pages_end_the_walk_and_pages_of_another_size_do_not() {
        let same = |_| page(0..100);
        assert_eq!(walk(pages(true, None), same), (2, 100, PageState::Last));
        let same = |_| page(0..7);
        assert_eq!(walk(pages(true, None), same), (2, 7, PageState::Last));
        let empty_end = |number| if number < 2 { page(number_of(number, 100)) } else { page([]) };
        assert_eq!(walk(pages(true, None), empty_end), (3, 200, PageState::Last));
        let uneven = |number| page(number_of(number, [150, 20, 60, 0][number as usize]));
        assert_eq!(walk(pages(true, None), uneven), (4, 230, PageState::Last));
        let moved = |number: u32| page((0..100).map(|id| u128::from(number) * 99 + id));
        let mut walked = pages(false, Some(1_000));
        assert_eq!(walked.accept(moved(0)).len() + walked.accept(moved(1)).len(), 199);
        assert_eq!((walked.repeated, walked.state), (1, PageState::Next));
    }

    fn number_of(page: u32, count: u128) -> impl Iterator<Item = u128> {
        (0..count).map(move |id| u128::from(page) * 1_000 + id)
    }
}
