//! Tests the comparison of pictures: which pictures are compared, how they are arranged, and how to
//! go through pairs.

use tessera_interface::{
    app::{
        Effect, Event,
        viewer::{Arrangement, Comparison},
    },
    message::Request,
};
use tessera_model::{EntryId, MediaId, PictureSource};
use tessera_picture::{Crop, Protocol};
use uuid::Uuid;

use crate::support::{
    app_harness::{AppHarness, page},
    scene::paint,
};

/// Opens three clusters of three pictures each.
fn browsing() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    harness
}

fn comparison(harness: &AppHarness) -> &Comparison {
    harness.app.comparison().expect("pictures are compared")
}

/// Returns the numbers of the compared pictures.
fn compared(harness: &AppHarness) -> Vec<u128> {
    comparison(harness).pictures.iter().map(|media| media.0.as_u128() - 100_000).collect()
}

fn is_selected(harness: &AppHarness, number: u128) -> bool {
    let media = MediaId(Uuid::from_u128(100_000 + number));
    harness
        .app
        .baskets()
        .selection(harness.app.results())
        .unwrap()
        .get(&EntryId::MediaItem(media))
        .is_some()
}

#[test]
fn two_to_four_selected_pictures_are_compared() {
    let mut harness = browsing();
    harness.press("space l l space m");
    assert_eq!(compared(&harness), [0, 20]);
    let panels = harness.app.viewer_panels();
    assert_eq!(panels.len(), 2);
    assert!(panels[0].area.right() <= panels[1].area.x, "side by side");
    assert_eq!(panels.iter().filter(|panel| panel.active).count(), 1);
}

#[test]
fn the_pictures_of_the_selected_tiles_are_compared() {
    let mut harness = browsing();
    let mut turned = page(0, 3);
    for cluster in &mut turned.clusters {
        cluster.previews.reverse();
    }
    harness.press("r");
    harness.answer_page(turned);
    harness.press("space l space l space m");
    assert_eq!(compared(&harness), [2, 12, 22]);
    // The basket shows the same pictures.
    harness.press("esc M s");
    assert_eq!(harness.app.viewed_preview().unwrap().file_name.as_str(), "2.jpg");
}

#[test]
fn one_selected_picture_is_compared_with_the_one_under_the_cursor() {
    let mut harness = browsing();
    harness.press("space l m");
    assert_eq!(compared(&harness), [0, 10]);
}

#[test]
fn without_a_selection_the_pictures_of_a_cluster_are_compared_in_pairs() {
    let mut harness = browsing();
    harness.press("m");
    assert_eq!(compared(&harness), [0, 1]);
    harness.press("n");
    assert_eq!(compared(&harness), [1, 2]);
    harness.press("n");
    assert_eq!(compared(&harness), [10, 11], "the next cluster");
    harness.press("p");
    assert_eq!(compared(&harness), [1, 2]);
    harness.press("p p");
    assert_eq!(harness.notice(), "there is no earlier pair on this page");
}

#[test]
fn keeping_one_selects_the_others_and_goes_to_the_next_pair() {
    let mut harness = browsing();
    harness.press("m tab enter");
    assert_eq!(harness.notice(), "kept 1.jpg, selected 1 picture; u undoes it");
    assert_eq!(compared(&harness), [1, 2], "the kept one with the next");
    harness.press("enter");
    assert_eq!(compared(&harness), [10, 11]);
    assert_eq!([0, 1, 2].map(|number| is_selected(&harness, number)), [true, false, true]);
    // The cursor is on the active picture, so that other actions apply to it.
    assert_eq!(harness.app.results().preview().unwrap().file_name.as_str(), "10.jpg");
    harness.press("u");
    assert!(!is_selected(&harness, 2));
}

#[test]
fn the_last_pair_stays_so_that_q_closes_the_view() {
    let mut harness = browsing();
    harness.press("G m n enter");
    let end = "this was the last pair on this page";
    assert_eq!(harness.notice(), format!("kept 21.jpg, selected 1 picture; u undoes it; {end}"));
    assert_eq!(compared(&harness), [21, 22]);
    assert!(!is_selected(&harness, 21) && is_selected(&harness, 22));
    harness.press("q");
    assert!(harness.app.viewer().is_none() && !harness.other.contains(&Effect::Quit));
}

#[test]
fn keeping_a_picture_of_a_selected_cluster_excludes_it_and_is_undone_at_once() {
    let mut harness = browsing();
    harness.press("space m tab enter");
    assert_eq!(harness.notice(), "kept 1.jpg, excluded 1 picture; u undoes it");
    harness.press("esc u");
    assert!(!harness.app.baskets().selection(harness.app.results()).unwrap().is_empty());
    // The first was selected before, so keeping it changes both.
    let mut harness = browsing();
    harness.press("enter space esc m enter");
    assert_eq!(
        harness.notice(),
        "kept 0.jpg, selected 1 picture, deselected 1 picture; u undoes it"
    );
    harness.press("u");
    assert!(is_selected(&harness, 0) && !is_selected(&harness, 1));
}

#[test]
fn zooming_and_panning_are_in_step() {
    let mut harness = browsing();
    harness.press("m");
    paint(&mut harness);
    harness.press("+ + + +");
    paint(&mut harness);
    harness.press("l j");
    paint(&mut harness);
    let parts: Vec<_> = harness
        .app
        .viewer_panels()
        .iter()
        .map(|panel| match harness.app.displayed_in_viewer(panel).unwrap().0.crop {
            Crop::Zoomed(part, _) => part,
            other => panic!("not zoomed: {other:?}"),
        })
        .collect();
    // The areas differ by at most one column.
    let close = |one: f64, other: f64| (one - other).abs() < 0.02;
    let (one, other) = (parts[0], parts[1]);
    assert!(close(one.x, other.x) && close(one.y, other.y), "{parts:?}");
    assert!(close(one.width, other.width) && close(one.height, other.height), "{parts:?}");
    assert!(parts[0].width < 1.0 && parts[0].x > 0.2, "{parts:?}");
}

#[test]
fn blinking_shows_the_pictures_in_turn_at_the_same_place() {
    let mut harness = browsing();
    harness.press("m");
    paint(&mut harness);
    harness.press("x");
    paint(&mut harness);
    let shown = |harness: &AppHarness| {
        let panels = harness.app.viewer_panels();
        assert_eq!(panels.len(), 1);
        (panels[0].picture.preview().file_name.to_string(), panels[0].area)
    };
    let (first, area) = shown(&harness);
    harness.press("x");
    assert_eq!((first.as_str(), shown(&harness)), ("0.jpg", ("1.jpg".to_owned(), area)));
    let waits = harness.requests().iter().any(|it| matches!(it, Request::Picture(..)));
    assert!(!waits, "all of them were loaded before");
    harness.press("x esc");
    assert_eq!(comparison(&harness).arrangement, Arrangement::SideBySide);
    harness.press("esc");
    assert!(harness.app.viewer().is_none());
}

#[test]
fn the_difference_of_two_pictures_is_computed_by_the_worker() {
    let mut harness = browsing();
    harness.press("m d");
    let links = harness.requests().iter().find_map(|request| match request {
        Request::Difference(sources, Crop::Zoomed(..), _) => Some(sources.clone()),
        _ => None,
    });
    let resources = links.unwrap().map(|source| match source {
        PictureSource::Link(link) => link.resource().to_owned(),
        other => panic!("not a link: {other}"),
    });
    assert_eq!(resources, ["http://127.0.0.1/media/0", "http://127.0.0.1/media/1"]);
    harness.press("d");
    assert_eq!(comparison(&harness).arrangement, Arrangement::SideBySide);
}

#[test]
fn comparing_says_why_it_is_unavailable() {
    let mut harness = browsing();
    harness.press("s x");
    assert_eq!(harness.notice(), "no pictures are compared; m compares");
    harness.press("q space l space l space m d");
    assert_eq!(harness.notice(), "3 pictures are compared; a difference needs two");
    let mut harness = AppHarness::with_clusters(1);
    harness.press("m");
    assert_eq!(harness.notice(), "pictures are turned off; g p tests them");
}
