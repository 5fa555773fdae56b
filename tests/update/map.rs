//! Tests the map: what it loads, where the cursor goes, what a rectangle selects, and where keys lead.

use std::collections::BTreeSet;

use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        overlay::map::{MapColor, MapView},
    },
    message::{Lane, Request},
};
use tessera_model::{
    Anchor, AnchorKind, EntryId, FailureKind, Filter, MapPoint, MediaMap, Query, SelectionEntry,
};
use tessera_picture::Protocol;

use crate::support::{
    app_harness::{AppHarness, page},
    map::{answer, map, mapped, opening},
};

fn view(harness: &AppHarness) -> &MapView {
    harness.app.dialog().expect("the map is open")
}

fn hovered(harness: &AppHarness) -> MapPoint {
    view(harness).hovered().expect("a point is at the cursor").clone()
}

fn shown(points: u32) -> AppHarness {
    let mut harness = opening(120, 40, Protocol::None);
    answer(&mut harness, map(points));
    harness
}

/// Returns the identifiers of the selected media items.
fn selected(harness: &AppHarness) -> BTreeSet<EntryId> {
    let selection = harness.app.baskets().selection(harness.app.results()).unwrap();
    selection.ordered_entries().into_iter().map(SelectionEntry::id).collect()
}

#[test]
fn a_map_is_requested_for_the_search_and_says_why_it_is_not_there() {
    let mut harness = opening(120, 40, Protocol::None);
    assert_eq!(view(&harness).empty_text(), "loading the map");
    harness.press("space enter c v");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Map(_)));
    let lane = ticket.lane.clone();
    harness
        .respond(ticket, Err(tessera_model::Failure::new(FailureKind::Conflict, "it is indexed")));
    assert!(view(&harness).empty_text().contains("it is indexed"));
    harness.press("esc");
    assert!(harness.app.dialog::<MapView>().is_none());
    assert!(!harness.app.tickets().is_open(&lane));

    let mut empty = opening(120, 40, Protocol::None);
    answer(&mut empty, MediaMap::default());
    assert_eq!(view(&empty).empty_text(), "nothing that this search finds is on the map");
    empty.press("space tab enter");
    assert!(empty.app.dialog::<MapView>().is_some());
}

#[test]
fn closing_the_map_cancels_its_request() {
    let mut harness = opening(120, 40, Protocol::None);
    harness.press("esc");
    assert!(harness.app.tickets().lanes().all(|lane| !matches!(lane, Lane::Map(_))));
}

#[test]
fn other_deployments_have_no_map() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("g e");
    assert!(harness.app.dialog::<MapView>().is_none());
    assert!(harness.notice().contains("only media of local folders are on a map"));
}

#[test]
fn the_cursor_moves_by_cells_and_the_nearest_point_is_at_it() {
    let mut harness = shown(300);
    let before = view(&harness).cursor;
    harness.press("l l j");
    let after = view(&harness).cursor;
    assert!(after[0] > before[0] && after[1] > before[1]);
    harness.press("h h k");
    assert!((view(&harness).cursor[0] - before[0]).abs() < 1e-4);
    harness.press("H H H H H H H H H H");
    assert!(view(&harness).cursor[0] < 0.1, "the cursor stops at the left edge of the map");
    let step = |harness: &mut AppHarness| {
        let before = view(harness).cursor;
        harness.press("l");
        view(harness).cursor[0] - before[0]
    };
    let whole = step(&mut harness);
    harness.press("+ + +");
    assert!(step(&mut harness) < whole / 2.0, "the cells are smaller in a part of the map");
    harness.press("0");
    assert!((view(&harness).cursor[0] - 0.5).abs() < 0.2);
}

#[test]
fn the_picture_at_the_cursor_is_found_by_its_path() {
    let mut harness = opening(120, 40, Protocol::HalfBlock);
    let mut points = map(300);
    points.points[0].path = "a [1]*/{x}.jpg".to_owned();
    points.points.truncate(1);
    answer(&mut harness, points);
    let (_, request) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    let Request::Explore(search) = request else { panic!("{request:?}") };
    assert_eq!(search.filters, [Filter::in_folder("a [1]*/{x}.jpg").unwrap()]);

    let mut harness = mapped(120, 40, "");
    let media = hovered(&harness).media;
    assert!(harness.app.results().loaded_preview(media).is_some());
    harness.press("L");
    let pages = harness.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Page(_)));
    assert!(pages.count() <= 1, "only the picture at the cursor is loaded");
}

#[test]
fn a_rectangle_selects_the_points_in_it_and_undo_deselects_them() {
    let mut harness = shown(300);
    // From the corner at the top left to the center.
    harness.press("H H H H H H H H H H H H K K K K K K K K v");
    harness.press("L L L L L J J");
    let corner = view(&harness).cursor;
    harness.press("space");
    // The rectangle ends at the border of the cell of the cursor.
    harness.press("v l j");
    let cell: [f32; 2] = std::array::from_fn(|axis| view(&harness).cursor[axis] - corner[axis]);
    harness.press("v h k");
    let inside = |point: &&MapPoint| {
        (0..2).all(|axis| point.position[axis] <= corner[axis] + cell[axis] / 2.0)
    };
    let points = map(300).points;
    let expected: BTreeSet<EntryId> =
        points.iter().filter(inside).map(|point| EntryId::MediaItem(point.media)).collect();
    assert!(expected.len() > 20);
    assert_eq!(selected(&harness), expected);
    assert!(harness.notice().contains(&format!("selected {} media items", expected.len())));
    harness.press("H H H H H H H H H H H H K K K K K K K K v space");
    assert_eq!(harness.notice(), "no media item is in the rectangle");
    harness.press("v L J space");
    let more = selected(&harness);
    assert!(more.is_superset(&expected));
    harness.press("esc 2 u");
    assert_eq!(selected(&harness), if more == expected { BTreeSet::new() } else { expected });
}

#[test]
fn the_picture_beside_the_map_is_one_in_the_rectangle() {
    let mut harness = shown(300);
    // The cursor goes on from the group at the top left to an empty corner, near no point of the rectangle.
    harness.press("H H H H H H H H H H H H K K K K K K K K v");
    let corner = view(&harness).cursor;
    for _ in 0..6 {
        harness.press("L L J");
        let cursor = view(&harness).cursor;
        let is_inside = |point: &MapPoint| {
            (0..2).all(|axis| (corner[axis]..=cursor[axis]).contains(&point.position[axis]))
        };
        if map(300).points.iter().any(is_inside) {
            assert!(is_inside(&hovered(&harness)), "{cursor:?}");
        }
    }
    let media = hovered(&harness).media;
    harness.press("enter");
    let query = &harness.app.results().view().unwrap().search.query;
    assert_eq!(*query, Query::Similar(Anchor { media, kind: AnchorKind::Media }));
}

#[test]
fn the_mouse_draws_a_rectangle_and_zooms() {
    let mut harness = shown(300);
    let mouse = |column, row, kind| Event::Mouse(Mouse { column, row, kind });
    harness.happen(mouse(2, 2, MouseKind::Click));
    harness.happen(mouse(40, 20, MouseKind::Drag));
    harness.happen(mouse(40, 20, MouseKind::Release));
    harness.press("space");
    assert!(!selected(&harness).is_empty());
    let before = view(&harness).cursor;
    for _ in 0..6 {
        harness.happen(mouse(10, 10, MouseKind::WheelUp));
    }
    let near = view(&harness).cursor;
    assert!(near[0] < before[0] && near[1] < before[1], "the cursor stays on the screen");
    let before = near;
    harness.happen(mouse(118, 10, MouseKind::Click));
    let moved = (0..2).map(|axis| (view(&harness).cursor[axis] - before[axis]).abs()).sum::<f32>();
    assert!(moved < 1e-6, "the panel is not the map");
}

#[test]
fn points_are_colored_by_labels_tags_and_issues_and_shown_one_class_at_a_time() {
    let mut harness = shown(300);
    let names = |harness: &AppHarness| -> Vec<String> {
        view(harness).classes.iter().map(|class| class.name.clone()).collect()
    };
    assert_eq!(names(&harness), ["beach", "night sky", "a very long name of a label", "others"]);
    let points: usize = view(&harness).classes.iter().map(|class| class.points).sum();
    assert_eq!(points, 300);
    harness.press("tab tab");
    assert_eq!(view(&harness).only, Some(1));
    assert_eq!(hovered(&harness).labels, [1]);
    harness.press("shift-tab shift-tab shift-tab");
    assert_eq!(view(&harness).only, Some(3));
    assert_eq!(hovered(&harness).labels, [0; 0]);
    harness.press("a");
    assert_eq!(selected(&harness).len(), view(&harness).classes[3].points);
    harness.press("esc");
    assert_eq!(view(&harness).only, None);
    harness.press("c");
    assert_eq!(
        (view(&harness).color, names(&harness)),
        (MapColor::Tag, vec!["keep".into(), "others".into()])
    );
    harness.press("c");
    assert_eq!(view(&harness).color, MapColor::Issue(0));
    assert_eq!(names(&harness), ["blur from 50 %", "from 20 %", "others"]);
    harness.press("c");
    assert_eq!(view(&harness).color, MapColor::Label);
}

#[test]
fn going_over_a_map_keeps_the_pages_of_the_results() {
    let mut harness = mapped(120, 40, "");
    let search = harness.app.results().view().unwrap().search.clone();
    for _ in 0..40 {
        harness.press("l l l");
        while harness.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))) {
            let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
            harness.respond(ticket, Ok(tessera_interface::message::Payload::Page(page(0, 1))));
        }
    }
    let of_results = harness.app.results().pages.get(&search);
    assert!(of_results.is_some_and(|page| page.value().is_some()));
}

#[test]
fn a_rectangle_without_a_height_is_a_row_of_cells() {
    let mut harness = shown(300);
    harness.press("H H H H H H H H H H H H v L L L L L L L L L L L L");
    harness.press("space");
    assert!(!selected(&harness).is_empty());
    harness.press("v L z");
    let before = view(&harness).cursor;
    harness.press("-");
    assert!(view(&harness).hovered().is_some());
    harness.press("h");
    assert!(view(&harness).cursor[0] < before[0], "the window is not empty");
}

#[test]
fn enter_opens_the_neighbors_of_the_point_at_the_cursor() {
    let mut harness = shown(300);
    let media = hovered(&harness).media;
    harness.press("enter");
    assert!(harness.app.dialog::<MapView>().is_none());
    let anchor = Anchor { media, kind: AnchorKind::Media };
    assert_eq!(harness.app.results().view().unwrap().search.query, Query::Similar(anchor));
}

#[test]
fn the_picture_at_the_cursor_is_shown_at_full_size() {
    let mut harness = mapped(120, 40, "");
    let media = hovered(&harness).media;
    let mut only = page(0, 1);
    only.clusters[0].previews.truncate(1);
    only.clusters[0].previews[0].media = media;
    harness.press("s");
    assert!(harness.app.dialog::<MapView>().is_none());
    assert!(harness.app.viewer().is_some());
}

#[test]
fn a_map_of_many_media_says_that_it_is_a_sample() {
    let mut harness = opening(120, 40, Protocol::None);
    answer(&mut harness, MediaMap { media: 1_000_000, ..map(300) });
    let title = view(&harness).title();
    assert!(title.starts_with("Map: a sample of 300 of 1"), "{title}");
}

#[test]
fn points_that_are_at_the_same_place_or_alone_can_be_selected() {
    let mut one = map(1);
    one.issues.clear();
    for map in [one, MediaMap { points: vec![map(1).points[0].clone(); 5], ..MediaMap::default() }]
    {
        let mut harness = opening(80, 24, Protocol::None);
        answer(&mut harness, map);
        harness.press("+ + + + + + + + + + + + + + + + + + + + + v space z v space c tab tab");
        assert_eq!(selected(&harness).len(), 1);
    }
}
