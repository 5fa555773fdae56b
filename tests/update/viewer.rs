//! Tests the full-size view: its list, zooming and panning, and which pictures it requests.

use std::time::Duration;

use proptest::prelude::*;
use tessera_interface::{
    app::{Effect, Event, Mouse, MouseKind, Pane, Viewer, viewer::ZoomPosition},
    message::{Lane, Request},
};
use tessera_model::{PictureSource, Region};
use tessera_picture::{Canvas, Crop, PictureSubject, Protocol};

use crate::support::{
    app_harness::{AppHarness, page},
    frames::frames,
    scene::paint,
};

/// Opens three clusters of three pictures each, drawn with this protocol.
fn browsing(protocol: Protocol) -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.happen(Event::Terminal(protocol, (10, 20)));
    paint(&mut harness);
    harness
}

/// Opens the full-size view of the first cluster, with all pictures loaded.
fn viewing() -> AppHarness {
    let mut harness = browsing(Protocol::Kitty);
    harness.press("s");
    paint(&mut harness);
    harness
}

fn shown(harness: &AppHarness) -> String {
    harness.app.viewed_preview().unwrap().file_name.to_string()
}

fn position(harness: &AppHarness) -> ZoomPosition {
    harness.app.viewer().unwrap().position
}

/// Returns the part of the picture that is shown.
fn part(harness: &AppHarness) -> Region {
    let panel = harness.app.viewer_panels()[0];
    let (view, _) = harness.app.displayed_in_viewer(&panel).unwrap();
    let Crop::Zoomed(part, _) = view.crop else { panic!("not zoomed: {view:?}") };
    part
}

/// Returns the names of the pictures that are being requested for the view, in order.
fn requested(harness: &AppHarness) -> Vec<String> {
    let name = |request: &&Request| match request {
        Request::Picture(PictureSource::Link(link), Crop::Zoomed(..), _) => {
            link.resource().rsplit('/').next().map(str::to_owned)
        }
        _ => None,
    };
    harness.requests().iter().filter_map(name).collect()
}

#[test]
fn the_picture_and_its_neighbors_are_requested_before_they_are_asked_for() {
    let mut harness = browsing(Protocol::Kitty);
    harness.press("l s");
    assert_eq!(requested(&harness), ["10", "20", "0"]);
    paint(&mut harness);
    harness.press("p");
    assert_eq!(shown(&harness), "0.jpg");
    assert!(requested(&harness).is_empty(), "it is already there");
    harness.press("p");
    assert_eq!(harness.notice(), "this is the first picture");
}

#[test]
fn next_and_previous_go_through_the_list_that_it_was_opened_from() {
    let mut harness = browsing(Protocol::Kitty);
    harness.press("s n");
    assert_eq!((shown(&harness), harness.app.viewer_position()), ("10.jpg".into(), Some((1, 3))));
    harness.press("esc i s right");
    assert_eq!((shown(&harness), harness.app.viewer_position()), ("11.jpg".into(), Some((1, 3))));
    harness.press("G");
    assert_eq!(shown(&harness), "12.jpg");
    harness.press("n");
    assert_eq!(harness.notice(), "this is the last picture");
    harness.press("q 2 space l space 5 s");
    assert_eq!((shown(&harness), harness.app.viewer_position()), ("10.jpg".into(), Some((0, 2))));
    harness.press("n");
    assert_eq!(shown(&harness), "20.jpg");
}

#[test]
fn closing_restores_the_panes_with_the_cursor_on_the_last_picture() {
    let mut harness = viewing();
    harness.press("n n esc");
    assert!(harness.app.viewer().is_none());
    assert_eq!(
        (harness.app.panes().focus, harness.app.results().view().unwrap().cursor),
        (Pane::Results, 2)
    );
}

#[test]
fn the_results_continue_on_the_next_page() {
    let mut harness = AppHarness::with_clusters(100);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("G s n");
    assert_eq!(shown(&harness), "990.jpg", "until the page has come");
    harness.answer_page(page(100, 5));
    assert_eq!(shown(&harness), "1000.jpg");
}

#[test]
fn zooming_shows_the_former_picture_until_the_sharper_one_has_come() {
    let mut harness = viewing();
    harness.press("+");
    assert_eq!(part(&harness), Region::WHOLE, "the sharper one is loading");
    harness.press("+ +");
    assert_eq!(requested(&harness), ["0"], "one is made, the newer ones wait");
    paint(&mut harness);
    let zoomed = part(&harness);
    assert!(zoomed.width < 0.6 && zoomed.height < 0.6, "{zoomed:?}");
    harness.press("0");
    assert_eq!(part(&harness), Region::WHOLE);
}

#[test]
fn arrows_pan_a_zoomed_picture_and_stop_at_its_border() {
    let mut harness = viewing();
    harness.press("+ + + +");
    paint(&mut harness);
    harness.press("l l l l l l l l l l l l j");
    paint(&mut harness);
    let moved = part(&harness);
    assert!((moved.x + moved.width - 1.0).abs() < 1e-5, "{moved:?}");
    assert!(moved.y > 0.3, "{moved:?}");
    assert_eq!(shown(&harness), "0.jpg", "the arrows no longer step");
    harness.press("n");
    assert_eq!((shown(&harness), position(&harness)), ("10.jpg".into(), ZoomPosition::default()));
}

#[test]
fn actual_size_shows_a_pixel_as_a_pixel_and_returns() {
    let mut harness = viewing();
    harness.press("1");
    paint(&mut harness);
    let scale = harness.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    let panel = harness.app.viewer_panels()[0];
    let (_, canvas) = harness.app.displayed_in_viewer(&panel).unwrap();
    // 640x480 pixels on cells of 10x20 are smaller than the screen.
    assert_eq!((canvas.columns, canvas.rows), (64, 24));
    harness.press("1");
    assert_eq!(position(&harness), ZoomPosition::default());
}

#[test]
fn the_actual_and_the_fitting_size_stay_when_the_screen_changes() {
    let mut harness = viewing();
    harness.press("1");
    harness.happen(Event::Resize(60, 20));
    let scale = harness.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    harness.happen(Event::Terminal(Protocol::Kitty, (8, 16)));
    let scale = harness.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    harness.press("1");
    harness.happen(Event::Resize(120, 40));
    assert_eq!(position(&harness), ZoomPosition::default());
}

#[test]
fn the_wheel_zooms_where_it_points_and_a_drag_pans() {
    let mut harness = viewing();
    let mouse = |kind, column, row| Event::Mouse(Mouse { column, row, kind });
    for _ in 0..6 {
        harness.happen(mouse(MouseKind::WheelUp, 119, 38));
    }
    paint(&mut harness);
    let corner = part(&harness);
    assert!(corner.x > 0.5 && corner.y > 0.5, "{corner:?}");
    harness.happen(mouse(MouseKind::Click, 10, 10));
    harness.happen(mouse(MouseKind::Drag, 40, 20));
    harness.happen(mouse(MouseKind::Release, 40, 20));
    paint(&mut harness);
    let dragged = part(&harness);
    assert!(dragged.x < corner.x && dragged.y < corner.y, "{dragged:?}");
    harness.happen(mouse(MouseKind::Drag, 90, 30));
    assert_eq!(part(&harness), dragged, "released");
}

#[test]
fn boxes_of_the_objects_of_a_picture_are_outlined_until_they_are_hidden() {
    let mut harness = browsing(Protocol::Kitty);
    harness.press("r");
    let mut objects = page(0, 2);
    let boxes = [(0, 0.1), (1, 0.5)].map(|(place, x)| {
        let region = Region::new(x, 0.2, 0.3, 0.4).unwrap();
        let original = objects.clusters[0].previews[0].original.clone();
        let preview = &mut objects.clusters[place].previews[0];
        (preview.region, preview.original) = (Some(region), original);
        region
    });
    harness.answer_page(objects);
    harness.press("s");
    let outlined = |harness: &AppHarness| {
        harness.requests().iter().find_map(|request| match request {
            Request::Picture(_, Crop::Zoomed(_, boxes), _) => Some(boxes.to_vec()),
            _ => None,
        })
    };
    assert_eq!(outlined(&harness), Some(boxes.to_vec()));
    paint(&mut harness);
    harness.press("b");
    assert_eq!(outlined(&harness), Some(vec![]));
    harness.press("esc s");
    paint(&mut harness);
    assert_eq!(harness.app.viewed_preview().unwrap().region, Some(boxes[0]));
}

#[test]
fn other_actions_close_it_and_act_on_its_picture() {
    let mut harness = viewing();
    harness.press("n space ?");
    assert!(harness.app.viewer().is_some() && harness.app.overlay().is_some());
    harness.press("esc b");
    assert_eq!(harness.notice(), "no objects of this picture are on this page; t shows objects");
    harness.press("f");
    assert!(harness.app.viewer().is_none());
    let media = harness.app.results().view().unwrap().search.query.clone();
    assert!(
        matches!(media, tessera_model::Query::Similar(anchor) if anchor.media.0.as_u128() == 100_010)
    );
}

#[test]
fn without_pictures_it_says_how_to_get_them() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("s");
    assert_eq!(harness.notice(), "pictures are turned off; g p tests them");
    harness.press("5 s");
    assert!(harness.app.viewer().is_none());
}

#[test]
fn a_picture_of_the_basket_stays_open_without_a_warning_if_the_cluster_under_the_cursor_is_gone() {
    let mut harness = browsing(Protocol::Kitty);
    harness.press("l space 5 s r");
    harness.answer_page(page(20, 3));
    assert!(harness.app.viewer().is_some());
    assert_eq!((harness.app.panes().focus, harness.notice()), (Pane::Basket, ""));
}

#[test]
fn neighbors_that_would_displace_the_picture_are_not_loaded() {
    let mut harness = browsing(Protocol::Kitty);
    harness.happen(Event::Resize(400, 110));
    harness.press("l s");
    paint(&mut harness);
    assert!(requested(&harness).is_empty());
    let of_view = |lane: &Lane| {
        matches!(lane, Lane::Picture(view, _)
            if matches!(view.crop, Crop::Zoomed(..)) && view.subject != PictureSubject::Media(harness.app.results().preview().unwrap().media))
    };
    assert!(!harness.cancelled.iter().any(of_view));
}

/// Returns the time of the frame at full size, in seconds.
fn frame_time(harness: &AppHarness) -> Option<f64> {
    harness.app.viewed_preview()?.frame.as_ref()?.seconds
}

fn wait_millis(harness: &mut AppHarness, millis: u64) {
    harness.now += Duration::from_millis(millis);
    harness.happen(Event::Wake);
}

#[test]
fn a_video_is_played_frame_by_frame_to_its_end() {
    let mut harness = frames(120, 40);
    harness.press("s K");
    assert_eq!(frame_time(&harness), Some(4.0), "it goes on from this frame");
    paint(&mut harness);
    let due = Effect::WakeAt(harness.now + Duration::from_millis(250));
    assert!(harness.other.contains(&due), "{:?}", harness.other);
    let mut times = Vec::new();
    for _ in 0..3 {
        wait_millis(&mut harness, 249);
        times.push(frame_time(&harness));
        wait_millis(&mut harness, 1);
    }
    assert_eq!(times, [Some(4.0), Some(6.5), Some(8.0)]);
    assert!(!harness.app.viewer().is_some_and(Viewer::is_playing), "it ends with the last frame");
    harness.press("K");
    assert_eq!(
        (frame_time(&harness), harness.app.viewer().is_some_and(Viewer::is_playing)),
        (Some(0.0), true),
        "it begins again"
    );
}

#[test]
fn a_frame_that_is_not_loaded_is_waited_for() {
    let mut harness = frames(120, 40);
    harness.press("s");
    paint(&mut harness);
    harness.press("K");
    assert_eq!(requested(&harness).len(), 2, "both that follow are loaded ahead");
    wait_millis(&mut harness, 5_000);
    assert_eq!(frame_time(&harness), Some(4.0));
    paint(&mut harness);
    assert_eq!(frame_time(&harness), Some(6.5), "each is shown for a while");
    wait_millis(&mut harness, 250);
    assert_eq!(frame_time(&harness), Some(8.0));
}

#[test]
fn any_other_key_stops_a_video() {
    for key in ["{", "}", "+", "K", "esc"] {
        let mut harness = frames(120, 40);
        harness.press("s K");
        assert!(harness.app.viewer().is_some_and(Viewer::is_playing));
        harness.press(key);
        assert!(!harness.app.viewer().is_some_and(Viewer::is_playing), "{key}");
    }
}

#[test]
fn only_videos_with_several_loaded_frames_are_played() {
    let mut harness = viewing();
    harness.press("K");
    assert_eq!(harness.notice(), "this is not a frame of a video");
    assert!(!harness.app.viewer().is_some_and(Viewer::is_playing));
}

proptest! {
    #[test]
    fn any_zoom_and_pan_shows_a_part_of_the_picture_in_its_proportions(
        size in (1u32..9000, 1u32..9000),
        cells in (1u16..300, 1u16..100),
        steps in prop::collection::vec((0.3f64..3.0, -2.0f64..2.0, -2.0f64..2.0), 0..12),
    ) {
        let canvas =
            Canvas { columns: cells.0, rows: cells.1, cell: (10, 20), protocol: Protocol::Kitty };
        let mut position = ZoomPosition::default();
        for (factor, x, y) in steps {
            position.zoom_by(factor, position.center, size, canvas);
            position.pan((x, y), size, canvas);
            let (part, fitted) = position.part(size, canvas);
            prop_assert!(part.x >= 0.0 && part.x + part.width <= 1.0 + 1e-6, "{:?}", part);
            prop_assert!(part.y >= 0.0 && part.y + part.height <= 1.0 + 1e-6, "{:?}", part);
            prop_assert!(part.width > 0.0 && part.height > 0.0);
            prop_assert!((1..=cells.0).contains(&fitted.columns));
            prop_assert!((1..=cells.1).contains(&fitted.rows));
        }
    }
}
