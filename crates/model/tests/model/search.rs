use std::collections::HashSet;

use uuid::Uuid;

use crate::cluster::empty_cluster;
use tessera_model::*;

fn caption(max_score: Option<f64>) -> Query {
    let max_score = max_score.and_then(Fraction::new);
    Query::Caption { text: QueryText::new("a dog").unwrap(), max_score }
}

fn similar() -> Query {
    Query::Similar(Anchor { media: MediaId(Uuid::nil()), kind: AnchorKind::Media })
}

fn browse() -> Search {
    Search::browse(DatasetId(Uuid::from_u128(3)))
}

#[test]
fn granularity_stays_between_0_and_4() {
    let level = |level| Granularity::new(level).unwrap();
    assert_eq!(Granularity::new(5), None);
    assert_eq!(Granularity::new(255), None);
    assert_eq!(Granularity::default().level(), 2);
    for (start, finer, coarser) in [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 2, 4), (4, 3, 4)] {
        assert_eq!(level(start).level(), start);
        assert_eq!(level(start).finer(), level(finer));
        assert_eq!(level(start).coarser(), level(coarser));
    }
}

#[test]
fn the_maximum_score_of_a_search_by_a_picture_follows_its_anchor() {
    let anchor =
        |number| Anchor { media: MediaId(Uuid::from_u128(number)), kind: AnchorKind::Upload };
    let filter =
        |number, max| Filter::Similar { anchor: anchor(number), max_distance: Fraction::new(max) };
    let search = |number, filters| Search { filters, ..browse() }.with_anchor(anchor(number));
    let limited = search(1, vec![filter(2, 0.5)]).with_max_score(Fraction::new(0.3));
    assert_eq!(limited, search(1, vec![filter(2, 0.5), filter(1, 0.3)]));
    let again = limited.with_anchor(anchor(3));
    assert_eq!(again, search(3, vec![filter(2, 0.5), filter(3, 0.3)]));
    assert_eq!(again.with_max_score(None), search(3, vec![filter(2, 0.5)]));
}

#[test]
fn a_search_needs_what_its_query_and_filters_need() {
    let filter = || vec![Filter::uniqueness(0.5).unwrap()];
    for (query, filters, operation) in [
        (Query::Browse, vec![], Operation::Read),
        (Query::Browse, filter(), Operation::TextSearch),
        (caption(None), vec![], Operation::TextSearch),
        (caption(None), filter(), Operation::TextSearch),
        (similar(), vec![], Operation::VisualSearch),
        (similar(), filter(), Operation::VisualSearch),
    ] {
        let search = Search { query, filters, ..browse() };
        assert_eq!(search.required_operation(), operation, "{search:?}");
    }
}

#[test]
fn only_scores_of_captions_are_read_on_their_scale() {
    assert_eq!(Query::Browse.score_scale(), ScoreScale::Visual);
    assert_eq!(similar().score_scale(), ScoreScale::Visual);
    assert_eq!(caption(None).score_scale(), ScoreScale::Caption);
}

#[test]
fn browsing_begins_with_the_first_page_of_all_images() {
    let search = browse();
    assert_eq!((search.page, search.entity), (0, EntityType::Images));
    assert_eq!((search.granularity.level(), search.filters.len()), (2, 0));
    assert_eq!(search.query, Query::Browse);
}

fn clusters(numbers: impl IntoIterator<Item = u128>) -> Vec<Cluster> {
    let cluster = |number| Cluster { id: ClusterId(Uuid::from_u128(number)), ..empty_cluster() };
    numbers.into_iter().map(cluster).collect()
}

#[test]
fn another_page_may_follow_any_new_cluster_unless_the_service_fills_its_pages() {
    for (read, skipped, repeated, after_filled, after_any) in [
        (100, 0, 0, true, true),
        (99, 0, 0, false, true),
        (99, 1, 0, true, true),
        (50, 25, 24, false, true),
        (50, 30, 20, true, true),
        (1, 0, 0, false, true),
        (2, 0, 98, true, true),
        (0, 0, 0, false, false),
        (0, 0, 100, false, false),
    ] {
        let page = Page { clusters: clusters(0..read), skipped, repeated, ..Page::default() };
        assert_eq!(page.may_have_next(), after_any, "{read} {skipped} {repeated}");
        let page = Page { fills_pages: true, ..page };
        assert_eq!(page.may_have_next(), after_filled, "{read} {skipped} {repeated}");
    }
}

#[test]
fn a_cluster_of_an_earlier_page_is_dropped_and_counted() {
    let mut seen = HashSet::new();
    let mut page = Page { clusters: clusters([1, 2, 3]), repeated: 1, ..Page::default() };
    page.drop_repeated(&mut seen);
    assert_eq!((page.clusters.len(), page.repeated), (3, 1));
    let mut next = Page { clusters: clusters([3, 4, 1, 5]), repeated: 1, ..Page::default() };
    next.drop_repeated(&mut seen);
    assert_eq!((next.clusters, next.repeated), (clusters([4, 5]), 3));
    assert_eq!(seen.len(), 5);
}

#[test]
fn a_service_that_returns_scores_beyond_the_bound_is_noticed() {
    let page = |scores: &[f64]| {
        let relevance = |score| Relevance::new(score, ScoreKind::CosineDistance);
        let cluster =
            |score: &f64| Cluster { relevance: Some(relevance(*score)), ..empty_cluster() };
        let clusters = scores.iter().map(cluster).chain([empty_cluster()]).collect();
        Page { clusters, ..Page::default() }
    };
    let (ignored, inverted) = (Some(MaxScoreViolation::Ignored), Some(MaxScoreViolation::Inverted));
    for (query, number, scores, violation) in [
        (caption(Some(0.5)), 0, &[0.1, 0.5][..], None),
        (caption(Some(0.5)), 0, &[0.1, 0.51], ignored),
        (caption(Some(0.5)), 0, &[0.9, 0.1], ignored),
        (caption(Some(0.5)), 0, &[0.7, 0.9], inverted),
        (caption(Some(0.5)), 1, &[0.7, 0.9], ignored),
        (caption(Some(0.5)), 0, &[], None),
        (caption(None), 0, &[0.9], None),
        (similar(), 0, &[0.9], None),
        (Query::Browse, 0, &[0.9], None),
    ] {
        let search = Search { query, page: number, ..browse() };
        assert_eq!(page(scores).max_score_violation(&search), violation, "{scores:?} {search:?}");
    }
}
