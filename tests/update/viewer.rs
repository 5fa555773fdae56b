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
    desk::{Desk, page},
    frames::frames,
    scene::paint,
};

/// Opens three clusters of three pictures each, drawn with this protocol.
fn browsing(protocol: Protocol) -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.happen(Event::Terminal(protocol, (10, 20)));
    paint(&mut desk);
    desk
}

/// Opens the full-size view of the first cluster, with all pictures loaded.
fn viewing() -> Desk {
    let mut desk = browsing(Protocol::Kitty);
    desk.press("s");
    paint(&mut desk);
    desk
}

fn shown(desk: &Desk) -> String {
    desk.app.viewed_preview().unwrap().file_name.to_string()
}

fn position(desk: &Desk) -> ZoomPosition {
    desk.app.viewer().unwrap().position
}

/// Returns the part of the picture that is shown.
fn part(desk: &Desk) -> Region {
    let panel = desk.app.viewer_panels()[0];
    let (view, _) = desk.app.displayed_in_viewer(&panel).unwrap();
    let Crop::Zoomed(part, _) = view.crop else { panic!("not zoomed: {view:?}") };
    part
}

/// Returns the names of the pictures that are being requested for the view, in order.
fn requested(desk: &Desk) -> Vec<String> {
    let name = |request: &&Request| match request {
        Request::Picture(PictureSource::Link(link), Crop::Zoomed(..), _) => {
            link.resource().rsplit('/').next().map(str::to_owned)
        }
        _ => None,
    };
    desk.requests().iter().filter_map(name).collect()
}

#[test]
fn the_picture_and_its_neighbors_are_requested_before_they_are_asked_for() {
    let mut desk = browsing(Protocol::Kitty);
    desk.press("l s");
    assert_eq!(requested(&desk), ["10", "20", "0"]);
    paint(&mut desk);
    desk.press("p");
    assert_eq!(shown(&desk), "0.jpg");
    assert!(requested(&desk).is_empty(), "it is already there");
    desk.press("p");
    assert_eq!(desk.notice(), "this is the first picture");
}

#[test]
fn next_and_previous_go_through_the_list_that_it_was_opened_from() {
    let mut desk = browsing(Protocol::Kitty);
    desk.press("s n");
    assert_eq!((shown(&desk), desk.app.viewer_position()), ("10.jpg".into(), Some((1, 3))));
    desk.press("esc i s right");
    assert_eq!((shown(&desk), desk.app.viewer_position()), ("11.jpg".into(), Some((1, 3))));
    desk.press("G");
    assert_eq!(shown(&desk), "12.jpg");
    desk.press("n");
    assert_eq!(desk.notice(), "this is the last picture");
    desk.press("q 2 space l space 5 s");
    assert_eq!((shown(&desk), desk.app.viewer_position()), ("10.jpg".into(), Some((0, 2))));
    desk.press("n");
    assert_eq!(shown(&desk), "20.jpg");
}

#[test]
fn closing_restores_the_panes_with_the_cursor_on_the_last_picture() {
    let mut desk = viewing();
    desk.press("n n esc");
    assert!(desk.app.viewer().is_none());
    assert_eq!(
        (desk.app.panes().focus, desk.app.results().view().unwrap().cursor),
        (Pane::Results, 2)
    );
}

#[test]
fn the_results_continue_on_the_next_page() {
    let mut desk = Desk::with_clusters(100);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.press("G s n");
    assert_eq!(shown(&desk), "990.jpg", "until the page has come");
    desk.answer_page(page(100, 5));
    assert_eq!(shown(&desk), "1000.jpg");
}

#[test]
fn zooming_shows_the_former_picture_until_the_sharper_one_has_come() {
    let mut desk = viewing();
    desk.press("+");
    assert_eq!(part(&desk), Region::WHOLE, "the sharper one is loading");
    desk.press("+ +");
    assert_eq!(requested(&desk), ["0"], "one is made, the newer ones wait");
    paint(&mut desk);
    let zoomed = part(&desk);
    assert!(zoomed.width < 0.6 && zoomed.height < 0.6, "{zoomed:?}");
    desk.press("0");
    assert_eq!(part(&desk), Region::WHOLE);
}

#[test]
fn arrows_pan_a_zoomed_picture_and_stop_at_its_border() {
    let mut desk = viewing();
    desk.press("+ + + +");
    paint(&mut desk);
    desk.press("l l l l l l l l l l l l j");
    paint(&mut desk);
    let moved = part(&desk);
    assert!((moved.x + moved.width - 1.0).abs() < 1e-5, "{moved:?}");
    assert!(moved.y > 0.3, "{moved:?}");
    assert_eq!(shown(&desk), "0.jpg", "the arrows no longer step");
    desk.press("n");
    assert_eq!((shown(&desk), position(&desk)), ("10.jpg".into(), ZoomPosition::default()));
}

#[test]
fn actual_size_shows_a_pixel_as_a_pixel_and_returns() {
    let mut desk = viewing();
    desk.press("1");
    paint(&mut desk);
    let scale = desk.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    let panel = desk.app.viewer_panels()[0];
    let (_, canvas) = desk.app.displayed_in_viewer(&panel).unwrap();
    // 640x480 pixels on cells of 10x20 are smaller than the screen.
    assert_eq!((canvas.columns, canvas.rows), (64, 24));
    desk.press("1");
    assert_eq!(position(&desk), ZoomPosition::default());
}

#[test]
fn the_actual_and_the_fitting_size_stay_when_the_screen_changes() {
    let mut desk = viewing();
    desk.press("1");
    desk.happen(Event::Resize(60, 20));
    let scale = desk.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    desk.happen(Event::Terminal(Protocol::Kitty, (8, 16)));
    let scale = desk.app.viewer_scale().unwrap();
    assert!((scale - 1.0).abs() < 1e-9, "{scale}");
    desk.press("1");
    desk.happen(Event::Resize(120, 40));
    assert_eq!(position(&desk), ZoomPosition::default());
}

#[test]
fn the_wheel_zooms_where_it_points_and_a_drag_pans() {
    let mut desk = viewing();
    let mouse = |kind, column, row| Event::Mouse(Mouse { column, row, kind });
    for _ in 0..6 {
        desk.happen(mouse(MouseKind::WheelUp, 119, 38));
    }
    paint(&mut desk);
    let corner = part(&desk);
    assert!(corner.x > 0.5 && corner.y > 0.5, "{corner:?}");
    desk.happen(mouse(MouseKind::Click, 10, 10));
    desk.happen(mouse(MouseKind::Drag, 40, 20));
    desk.happen(mouse(MouseKind::Release, 40, 20));
    paint(&mut desk);
    let dragged = part(&desk);
    assert!(dragged.x < corner.x && dragged.y < corner.y, "{dragged:?}");
    desk.happen(mouse(MouseKind::Drag, 90, 30));
    assert_eq!(part(&desk), dragged, "released");
}

#[test]
fn boxes_of_the_objects_of_a_picture_are_outlined_until_they_are_hidden() {
    let mut desk = browsing(Protocol::Kitty);
    desk.press("r");
    let mut objects = page(0, 2);
    let boxes = [(0, 0.1), (1, 0.5)].map(|(place, x)| {
        let region = Region::new(x, 0.2, 0.3, 0.4).unwrap();
        let original = objects.clusters[0].previews[0].original.clone();
        let preview = &mut objects.clusters[place].previews[0];
        (preview.region, preview.original) = (Some(region), original);
        region
    });
    desk.answer_page(objects);
    desk.press("s");
    let outlined = |desk: &Desk| {
        desk.requests().iter().find_map(|request| match request {
            Request::Picture(_, Crop::Zoomed(_, boxes), _) => Some(boxes.to_vec()),
            _ => None,
        })
    };
    assert_eq!(outlined(&desk), Some(boxes.to_vec()));
    paint(&mut desk);
    desk.press("b");
    assert_eq!(outlined(&desk), Some(vec![]));
    desk.press("esc s");
    paint(&mut desk);
    assert_eq!(desk.app.viewed_preview().unwrap().region, Some(boxes[0]));
}

#[test]
fn other_actions_close_it_and_act_on_its_picture() {
    let mut desk = viewing();
    desk.press("n space ?");
    assert!(desk.app.viewer().is_some() && desk.app.overlay().is_some());
    desk.press("esc b");
    assert_eq!(desk.notice(), "no objects of this picture are on this page; t shows objects");
    desk.press("f");
    assert!(desk.app.viewer().is_none());
    let media = desk.app.results().view().unwrap().search.query.clone();
    assert!(
        matches!(media, tessera_model::Query::Similar(anchor) if anchor.media.0.as_u128() == 100_010)
    );
}

#[test]
fn without_pictures_it_says_how_to_get_them() {
    let mut desk = Desk::with_clusters(1);
    desk.press("s");
    assert_eq!(desk.notice(), "pictures are turned off; g p tests them");
    desk.press("5 s");
    assert!(desk.app.viewer().is_none());
}

#[test]
fn a_picture_of_the_basket_stays_open_without_a_warning_if_the_cluster_under_the_cursor_is_gone() {
    let mut desk = browsing(Protocol::Kitty);
    desk.press("l space 5 s r");
    desk.answer_page(page(20, 3));
    assert!(desk.app.viewer().is_some());
    assert_eq!((desk.app.panes().focus, desk.notice()), (Pane::Basket, ""));
}

#[test]
fn neighbors_that_would_displace_the_picture_are_not_loaded() {
    let mut desk = browsing(Protocol::Kitty);
    desk.happen(Event::Resize(400, 110));
    desk.press("l s");
    paint(&mut desk);
    assert!(requested(&desk).is_empty());
    let of_view = |lane: &Lane| {
        matches!(lane, Lane::Picture(view, _)
            if matches!(view.crop, Crop::Zoomed(..)) && view.subject != PictureSubject::Media(desk.app.results().preview().unwrap().media))
    };
    assert!(!desk.cancelled.iter().any(of_view));
}

/// Returns the time of the frame at full size, in seconds.
fn frame_time(desk: &Desk) -> Option<f64> {
    desk.app.viewed_preview()?.frame.as_ref()?.seconds
}

fn wait_millis(desk: &mut Desk, millis: u64) {
    desk.now += Duration::from_millis(millis);
    desk.happen(Event::Wake);
}

#[test]
fn a_video_is_played_frame_by_frame_to_its_end() {
    let mut desk = frames(120, 40);
    desk.press("s K");
    assert_eq!(frame_time(&desk), Some(4.0), "it goes on from this frame");
    paint(&mut desk);
    let due = Effect::WakeAt(desk.now + Duration::from_millis(250));
    assert!(desk.other.contains(&due), "{:?}", desk.other);
    let mut times = Vec::new();
    for _ in 0..3 {
        wait_millis(&mut desk, 249);
        times.push(frame_time(&desk));
        wait_millis(&mut desk, 1);
    }
    assert_eq!(times, [Some(4.0), Some(6.5), Some(8.0)]);
    assert!(!desk.app.viewer().is_some_and(Viewer::is_playing), "it ends with the last frame");
    desk.press("K");
    assert_eq!(
        (frame_time(&desk), desk.app.viewer().is_some_and(Viewer::is_playing)),
        (Some(0.0), true),
        "it begins again"
    );
}

#[test]
fn a_frame_that_is_not_loaded_is_waited_for() {
    let mut desk = frames(120, 40);
    desk.press("s");
    paint(&mut desk);
    desk.press("K");
    assert_eq!(requested(&desk).len(), 2, "both that follow are loaded ahead");
    wait_millis(&mut desk, 5_000);
    assert_eq!(frame_time(&desk), Some(4.0));
    paint(&mut desk);
    assert_eq!(frame_time(&desk), Some(6.5), "each is shown for a while");
    wait_millis(&mut desk, 250);
    assert_eq!(frame_time(&desk), Some(8.0));
}

#[test]
fn any_other_key_stops_a_video() {
    for key in ["{", "}", "+", "K", "esc"] {
        let mut desk = frames(120, 40);
        desk.press("s K");
        assert!(desk.app.viewer().is_some_and(Viewer::is_playing));
        desk.press(key);
        assert!(!desk.app.viewer().is_some_and(Viewer::is_playing), "{key}");
    }
}

#[test]
fn only_videos_with_several_loaded_frames_are_played() {
    let mut desk = viewing();
    desk.press("K");
    assert_eq!(desk.notice(), "this is not a frame of a video");
    assert!(!desk.app.viewer().is_some_and(Viewer::is_playing));
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
