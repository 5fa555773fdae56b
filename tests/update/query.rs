//! Asking by words and by filters: the caption line, the query builder, saved views.

use tessera::{
    app::Pane,
    message::Request,
    model::{Fraction, Page, Query, QueryText, Relevance, ScoreKind, Search},
};

use crate::desk::{Desk, page};

/// The search that is asked for and not answered.
fn asked(desk: &Desk) -> &Search {
    desk.requests()
        .into_iter()
        .find_map(|request| match request {
            Request::Explore(search) => Some(search),
            _ => None,
        })
        .expect("a search is open")
}

fn caption(text: &str, max_score: Option<f64>) -> Query {
    let max_score = max_score.map(|score| Fraction::new(score).unwrap());
    Query::Caption { text: QueryText::new(text).unwrap(), max_score }
}

/// A page with these scores, in order.
fn scored(scores: &[f64]) -> Page {
    let mut page = page(0, scores.len());
    for (cluster, &score) in page.clusters.iter_mut().zip(scores) {
        cluster.relevance = Some(Relevance { score, kind: ScoreKind::CosineDistance });
    }
    page
}

#[test]
fn m54_one_line_searches_by_caption() {
    let mut desk = Desk::with_clusters(9);
    desk.press("c");
    desk.type_text("red van");
    desk.press("enter");
    assert_eq!(asked(&desk).query, caption("red van", None));
    assert_eq!((desk.app.focus, desk.steps()), (Pane::Results, 2));
}

#[test]
fn m54_empty_text_is_refused_and_the_line_stays() {
    let mut desk = Desk::with_clusters(9);
    desk.press("c space enter");
    assert!(desk.notice().contains("must not be empty"), "{}", desk.notice());
    assert!(desk.requests().is_empty() && desk.app.overlay.is_some());
}

#[test]
fn m56_a_max_score_outside_0_to_1_is_refused_at_its_place() {
    let mut desk = Desk::with_clusters(9);
    desk.press("c");
    desk.type_text("van");
    desk.press("tab");
    desk.type_text("1.5");
    desk.press("enter");
    assert!(desk.notice().starts_with("the max score must be a number from 0 to 1"));
    assert!(desk.requests().is_empty());
    desk.press("ctrl-u 0 . 5 enter");
    assert_eq!(asked(&desk).query, caption("van", Some(0.5)));
}

#[test]
fn m56_scores_below_the_bound_are_counted_on_the_loaded_page() {
    let mut desk = Desk::with_clusters(9);
    let half = Fraction::new(0.5).unwrap();
    assert_eq!(desk.app.below(half), None, "nothing is ranked by captions yet");
    desk.press("c v enter");
    desk.answer_page(scored(&[0.2, 0.4, 0.5, 0.9]));
    assert_eq!(desk.app.below(half), Some((2, 4)), "0.5 itself is not below 0.5");
}

#[test]
fn m56_a_service_that_reads_the_bound_the_other_way_is_told_of_once() {
    let mut desk = Desk::with_clusters(9);
    desk.press("c v tab 0 . 5 enter");
    desk.answer_page(scored(&[0.7, 0.9]));
    assert!(desk.notice().contains("the other way"), "{}", desk.notice());
    desk.wait(20);
    desk.press("c enter r");
    desk.answer_page(scored(&[0.7, 0.9]));
    assert_eq!(desk.notice(), "");
}
