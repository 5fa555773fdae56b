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
    desk::{Desk, page},
    map::{answer, map, mapped, opening},
};

fn view(desk: &Desk) -> &MapView {
    desk.app.dialog().expect("the map is open")
}

fn hovered(desk: &Desk) -> MapPoint {
    view(desk).hovered().expect("a point is at the cursor").clone()
}

fn shown(points: u32) -> Desk {
    let mut desk = opening(120, 40, Protocol::None);
    answer(&mut desk, map(points));
    desk
}

/// Returns the identifiers of the selected media items.
fn selected(desk: &Desk) -> BTreeSet<EntryId> {
    let selection = desk.app.baskets().selection(desk.app.results()).unwrap();
    selection.ordered_entries().into_iter().map(SelectionEntry::id).collect()
}

#[test]
fn a_map_is_requested_for_the_search_and_says_why_it_is_not_there() {
    let mut desk = opening(120, 40, Protocol::None);
    assert_eq!(view(&desk).empty_text(), "loading the map");
    desk.press("space enter c v");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Map(_)));
    let lane = ticket.lane.clone();
    desk.respond(ticket, Err(tessera_model::Failure::new(FailureKind::Conflict, "it is indexed")));
    assert!(view(&desk).empty_text().contains("it is indexed"));
    desk.press("esc");
    assert!(desk.app.dialog::<MapView>().is_none());
    assert!(!desk.app.tickets().is_open(&lane));

    let mut empty = opening(120, 40, Protocol::None);
    answer(&mut empty, MediaMap::default());
    assert_eq!(view(&empty).empty_text(), "nothing that this search finds is on the map");
    empty.press("space tab enter");
    assert!(empty.app.dialog::<MapView>().is_some());
}

#[test]
fn closing_the_map_cancels_its_request() {
    let mut desk = opening(120, 40, Protocol::None);
    desk.press("esc");
    assert!(desk.app.tickets().lanes().all(|lane| !matches!(lane, Lane::Map(_))));
}

#[test]
fn other_deployments_have_no_map() {
    let mut desk = Desk::with_clusters(3);
    desk.press("g e");
    assert!(desk.app.dialog::<MapView>().is_none());
    assert!(desk.notice().contains("only media of local folders are on a map"));
}

#[test]
fn the_cursor_moves_by_cells_and_the_nearest_point_is_at_it() {
    let mut desk = shown(300);
    let before = view(&desk).cursor;
    desk.press("l l j");
    let after = view(&desk).cursor;
    assert!(after[0] > before[0] && after[1] > before[1]);
    desk.press("h h k");
    assert!((view(&desk).cursor[0] - before[0]).abs() < 1e-4);
    desk.press("H H H H H H H H H H");
    assert!(view(&desk).cursor[0] < 0.1, "the cursor stops at the left edge of the map");
    let step = |desk: &mut Desk| {
        let before = view(desk).cursor;
        desk.press("l");
        view(desk).cursor[0] - before[0]
    };
    let whole = step(&mut desk);
    desk.press("+ + +");
    assert!(step(&mut desk) < whole / 2.0, "the cells are smaller in a part of the map");
    desk.press("0");
    assert!((view(&desk).cursor[0] - 0.5).abs() < 0.2);
}

#[test]
fn the_picture_at_the_cursor_is_found_by_its_path() {
    let mut desk = opening(120, 40, Protocol::HalfBlock);
    let mut points = map(300);
    points.points[0].path = "a [1]*/{x}.jpg".to_owned();
    points.points.truncate(1);
    answer(&mut desk, points);
    let (_, request) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    let Request::Explore(search) = request else { panic!("{request:?}") };
    assert_eq!(search.filters, [Filter::in_folder("a [1]*/{x}.jpg").unwrap()]);

    let mut desk = mapped(120, 40, "");
    let media = hovered(&desk).media;
    assert!(desk.app.results().loaded_preview(media).is_some());
    desk.press("L");
    let pages = desk.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Page(_)));
    assert!(pages.count() <= 1, "only the picture at the cursor is loaded");
}

#[test]
fn a_rectangle_selects_the_points_in_it_and_undo_deselects_them() {
    let mut desk = shown(300);
    // From the corner at the top left to the center.
    desk.press("H H H H H H H H H H H H K K K K K K K K v");
    desk.press("L L L L L J J");
    let corner = view(&desk).cursor;
    desk.press("space");
    // The rectangle ends at the border of the cell of the cursor.
    desk.press("v l j");
    let cell: [f32; 2] = std::array::from_fn(|axis| view(&desk).cursor[axis] - corner[axis]);
    desk.press("v h k");
    let inside = |point: &&MapPoint| {
        (0..2).all(|axis| point.position[axis] <= corner[axis] + cell[axis] / 2.0)
    };
    let points = map(300).points;
    let expected: BTreeSet<EntryId> =
        points.iter().filter(inside).map(|point| EntryId::MediaItem(point.media)).collect();
    assert!(expected.len() > 20);
    assert_eq!(selected(&desk), expected);
    assert!(desk.notice().contains(&format!("selected {} media items", expected.len())));
    desk.press("H H H H H H H H H H H H K K K K K K K K v space");
    assert_eq!(desk.notice(), "no media item is in the rectangle");
    desk.press("v L J space");
    let more = selected(&desk);
    assert!(more.is_superset(&expected));
    desk.press("esc 2 u");
    assert_eq!(selected(&desk), if more == expected { BTreeSet::new() } else { expected });
}

#[test]
fn the_picture_beside_the_map_is_one_in_the_rectangle() {
    let mut desk = shown(300);
    // The cursor goes on from the group at the top left to an empty corner, near no point of the rectangle.
    desk.press("H H H H H H H H H H H H K K K K K K K K v");
    let corner = view(&desk).cursor;
    for _ in 0..6 {
        desk.press("L L J");
        let cursor = view(&desk).cursor;
        let is_inside = |point: &MapPoint| {
            (0..2).all(|axis| (corner[axis]..=cursor[axis]).contains(&point.position[axis]))
        };
        if map(300).points.iter().any(is_inside) {
            assert!(is_inside(&hovered(&desk)), "{cursor:?}");
        }
    }
    let media = hovered(&desk).media;
    desk.press("enter");
    let query = &desk.app.results().view().unwrap().search.query;
    assert_eq!(*query, Query::Similar(Anchor { media, kind: AnchorKind::Media }));
}

#[test]
fn the_mouse_draws_a_rectangle_and_zooms() {
    let mut desk = shown(300);
    let mouse = |column, row, kind| Event::Mouse(Mouse { column, row, kind });
    desk.happen(mouse(2, 2, MouseKind::Click));
    desk.happen(mouse(40, 20, MouseKind::Drag));
    desk.happen(mouse(40, 20, MouseKind::Release));
    desk.press("space");
    assert!(!selected(&desk).is_empty());
    let before = view(&desk).cursor;
    for _ in 0..6 {
        desk.happen(mouse(10, 10, MouseKind::WheelUp));
    }
    let near = view(&desk).cursor;
    assert!(near[0] < before[0] && near[1] < before[1], "the cursor stays on the screen");
    let before = near;
    desk.happen(mouse(118, 10, MouseKind::Click));
    let moved = (0..2).map(|axis| (view(&desk).cursor[axis] - before[axis]).abs()).sum::<f32>();
    assert!(moved < 1e-6, "the panel is not the map");
}

#[test]
fn points_are_colored_by_labels_tags_and_issues_and_shown_one_class_at_a_time() {
    let mut desk = shown(300);
    let names = |desk: &Desk| -> Vec<String> {
        view(desk).classes.iter().map(|class| class.name.clone()).collect()
    };
    assert_eq!(names(&desk), ["beach", "night sky", "a very long name of a label", "others"]);
    let points: usize = view(&desk).classes.iter().map(|class| class.points).sum();
    assert_eq!(points, 300);
    desk.press("tab tab");
    assert_eq!(view(&desk).only, Some(1));
    assert_eq!(hovered(&desk).labels, [1]);
    desk.press("shift-tab shift-tab shift-tab");
    assert_eq!(view(&desk).only, Some(3));
    assert_eq!(hovered(&desk).labels, [0; 0]);
    desk.press("a");
    assert_eq!(selected(&desk).len(), view(&desk).classes[3].points);
    desk.press("esc");
    assert_eq!(view(&desk).only, None);
    desk.press("c");
    assert_eq!(
        (view(&desk).color, names(&desk)),
        (MapColor::Tag, vec!["keep".into(), "others".into()])
    );
    desk.press("c");
    assert_eq!(view(&desk).color, MapColor::Issue(0));
    assert_eq!(names(&desk), ["blur from 50 %", "from 20 %", "others"]);
    desk.press("c");
    assert_eq!(view(&desk).color, MapColor::Label);
}

#[test]
fn going_over_a_map_keeps_the_pages_of_the_results() {
    let mut desk = mapped(120, 40, "");
    let search = desk.app.results().view().unwrap().search.clone();
    for _ in 0..40 {
        desk.press("l l l");
        while desk.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))) {
            let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
            desk.respond(ticket, Ok(tessera_interface::message::Payload::Page(page(0, 1))));
        }
    }
    let of_results = desk.app.results().pages.get(&search);
    assert!(of_results.is_some_and(|page| page.value().is_some()));
}

#[test]
fn a_rectangle_without_a_height_is_a_row_of_cells() {
    let mut desk = shown(300);
    desk.press("H H H H H H H H H H H H v L L L L L L L L L L L L");
    desk.press("space");
    assert!(!selected(&desk).is_empty());
    desk.press("v L z");
    let before = view(&desk).cursor;
    desk.press("-");
    assert!(view(&desk).hovered().is_some());
    desk.press("h");
    assert!(view(&desk).cursor[0] < before[0], "the window is not empty");
}

#[test]
fn enter_opens_the_neighbors_of_the_point_at_the_cursor() {
    let mut desk = shown(300);
    let media = hovered(&desk).media;
    desk.press("enter");
    assert!(desk.app.dialog::<MapView>().is_none());
    let anchor = Anchor { media, kind: AnchorKind::Media };
    assert_eq!(desk.app.results().view().unwrap().search.query, Query::Similar(anchor));
}

#[test]
fn the_picture_at_the_cursor_is_shown_at_full_size() {
    let mut desk = mapped(120, 40, "");
    let media = hovered(&desk).media;
    let mut only = page(0, 1);
    only.clusters[0].previews.truncate(1);
    only.clusters[0].previews[0].media = media;
    desk.press("s");
    assert!(desk.app.dialog::<MapView>().is_none());
    assert!(desk.app.viewer().is_some());
}

#[test]
fn a_map_of_many_media_says_that_it_is_a_sample() {
    let mut desk = opening(120, 40, Protocol::None);
    answer(&mut desk, MediaMap { media: 1_000_000, ..map(300) });
    let title = view(&desk).title();
    assert!(title.starts_with("Map: a sample of 300 of 1"), "{title}");
}

#[test]
fn points_that_are_at_the_same_place_or_alone_can_be_selected() {
    let mut one = map(1);
    one.issues.clear();
    for map in [one, MediaMap { points: vec![map(1).points[0].clone(); 5], ..MediaMap::default() }]
    {
        let mut desk = opening(80, 24, Protocol::None);
        answer(&mut desk, map);
        desk.press("+ + + + + + + + + + + + + + + + + + + + + v space z v space c tab tab");
        assert_eq!(selected(&desk).len(), 1);
    }
}
