//! Tests searches by a picture or a region of it: the file picker and the region picker.

use std::sync::Arc;

use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        overlay::{
            file_picker::FilePicker, path_picker::PathCandidate, region_picker::RegionPicker,
        },
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Anchor, AnchorKind, FailureKind, FolderEntry, FolderListing, HistoryEntry, MediaId,
    PictureSource, Query, Region, SafeText, Search, StateKey, StateValue, Status,
};
use tessera_picture::{
    Canvas, Crop, Encoded, PictureSubject, PictureView, Protocol, Thumbnail, fit::Fit,
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, folder_query, page};

/// The anchor of a file that the service has received.
const UPLOADED: Anchor = Anchor { media: MediaId(Uuid::from_u128(5)), kind: AnchorKind::Upload };

/// Responds with a listing. A name that ends in `/` is a folder.
pub(super) fn list(harness: &mut AppHarness, folder: &str, names: &[&str]) {
    let entry = |name: &&str| FolderEntry {
        name: SafeText::file_name(name.trim_end_matches('/')),
        file_name: name.trim_end_matches('/').into(),
        is_folder: name.ends_with('/'),
        bytes: 9,
    };
    let entries = names.iter().map(entry).collect();
    let listed = FolderListing { path: folder.into(), entries, omitted: 0 };
    let is_of_folder = |lane: &Lane| matches!(lane, Lane::Folder(it) if it.folder == listed.path);
    let (ticket, _) = harness.take(is_of_folder);
    harness.respond(ticket, Ok(Payload::Folder(listed)));
}

/// Returns the request that registers a file.
fn registered(harness: &AppHarness) -> Option<&Request> {
    harness.requests().into_iter().find(|request| matches!(request, Request::RegisterAnchor { .. }))
}

fn typed(harness: &AppHarness) -> &str {
    match harness.app.dialog::<FilePicker>() {
        Some(picker) => picker.picker.path.text.value(),
        None => panic!("no picker"),
    }
}

#[test]
fn a_path_is_completed_from_its_folder() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    list(&mut harness, ".", &["notes.txt"]);
    harness.type_text("~/p");
    assert_eq!(harness.requests(), [&Request::Folder(folder_query("/home/me/", "p"))]);
    list(&mut harness, "/home/me/", &["pics-of-2024/", "pictures/", "x.jpg"]);
    harness.press("tab");
    assert_eq!(typed(&harness), "~/pic");
    harness.press("down enter");
    assert_eq!(typed(&harness), "~/pictures/");
    list(&mut harness, "/home/me/pictures/", &["car.jpg", "van.jpg"]);
    harness.press("down enter");
    let Some(Request::RegisterAnchor { image, .. }) = registered(&harness) else {
        panic!("nothing is registered")
    };
    assert_eq!(*image, PictureSource::File("/home/me/pictures/van.jpg".into()));
}

#[test]
fn leaving_a_folder_cancels_its_listing_and_a_typed_path_needs_none() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    harness.type_text("/a/b");
    assert!(harness.cancelled.contains(&Lane::Folder(folder_query(".", ""))));
    assert_eq!(harness.requests(), [&Request::Folder(folder_query("/a/", "b"))]);
    harness.press("enter");
    assert!(registered(&harness).is_some());
    harness.answer(Lane::Anchor, Payload::Anchor(UPLOADED));
    assert!(harness.app.dialog::<FilePicker>().is_none());
    assert!(harness.cancelled.contains(&Lane::Folder(folder_query("/a/", "b"))));
}

#[test]
fn a_path_that_is_not_listed_is_looked_for_while_the_picker_stays_open() {
    let mut harness = typing("/new.jpg", &["car.jpg"]);
    harness.press("enter");
    assert!(registered(&harness).is_some(), "the file may be newer than the listing");
    harness.fail(Lane::Anchor, FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    assert_eq!(typed(&harness), "/new.jpg");
    harness.press("enter");
    harness.answer(Lane::Anchor, Payload::Anchor(UPLOADED));
    assert!(harness.app.dialog::<FilePicker>().is_none());
    assert!(matches!(harness.app.results().view().unwrap().search.query, Query::Similar(_)));
}

#[test]
fn names_of_a_large_folder_are_looked_for_while_they_are_typed() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    harness.type_text("/p");
    let entry = |name: &str| FolderEntry {
        name: SafeText::file_name(name),
        file_name: name.into(),
        is_folder: false,
        bytes: 9,
    };
    let answer = |harness: &mut AppHarness, prefix: &str, names: &[&str], omitted| {
        let entries = names.iter().map(|name| entry(name)).collect();
        let listing = FolderListing { path: "/".into(), entries, omitted };
        harness.answer(Lane::Folder(folder_query("/", prefix)), Payload::Folder(listing));
    };
    answer(&mut harness, "p", &["p00.jpg", "p01.jpg"], 9_000);
    harness.press("tab");
    assert_eq!(typed(&harness), "/p", "an omitted name may continue differently");
    harness.type_text("7");
    answer(&mut harness, "p7", &["P70.jpg", "p7000.jpg"], 0);
    assert_eq!(candidates(&harness), ["P70.jpg", "p7000.jpg"]);
    harness.type_text("00");
    assert!(harness.requests().is_empty(), "the listing has all of them");
    assert_eq!(candidates(&harness), ["p7000.jpg"]);
    harness.press("backspace backspace backspace");
    assert_eq!(harness.requests(), [&Request::Folder(folder_query("/", "p"))]);
}

#[test]
fn a_dropped_path_replaces_what_is_typed() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    for (raw, path) in [
        ("file:///tmp/a%20van.jpg\n", "/tmp/a van.jpg"),
        ("file:///tmp/a%20b%C3%A9.jpg\n", "/tmp/a bé.jpg"),
        ("file://localhost/tmp/100%.jpg", "/tmp/100%.jpg"),
        ("file://other.example/tmp/c.jpg", "file://other.example/tmp/c.jpg"),
        ("'/tmp/a b.jpg' ", "/tmp/a b.jpg"),
        ("\"/tmp/a b.jpg\" \"/tmp/c.jpg\"", "/tmp/a b.jpg"),
        ("/tmp/a\\ b\\(1\\).jpg", "/tmp/a b(1).jpg"),
    ] {
        harness.type_text("half");
        harness.happen(Event::Paste(raw.to_owned()));
        assert_eq!(typed(&harness), path, "{raw}");
    }
    harness.press("ctrl-u ~ /");
    harness.happen(Event::Paste("photos/x.jpg".to_owned()));
    assert_eq!(typed(&harness), "~/photos/x.jpg");
}

/// Opens the picker after a path was typed in a folder with these files.
fn typing(path: &str, names: &[&str]) -> AppHarness {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    harness.type_text(path);
    list(&mut harness, "/", names);
    harness
}

fn candidates(harness: &AppHarness) -> Vec<&str> {
    let Some(picker) = harness.app.dialog::<FilePicker>() else { panic!("no picker") };
    let name = |candidate| match candidate {
        PathCandidate::FolderEntry(_, entry) => entry.name.as_str(),
        other => panic!("{other:?} is not an entry of the folder"),
    };
    picker.candidates(&harness.app).into_iter().map(name).collect()
}

#[test]
fn a_path_is_completed_as_far_as_all_agree() {
    let names = ["van.jpg", "van-2.jpg", "Vase.png", ".van"];
    assert_eq!(candidates(&typing("/v", &names)).len(), 3);
    assert_eq!(candidates(&typing("/van-", &names)), ["van-2.jpg"]);
    assert_eq!(candidates(&typing("/.", &names)), [".van"]);
    assert_eq!(candidates(&typing("/van.jpg", &names)), ["van.jpg"]);
    let mut harness = typing("/va", &names[..2]);
    harness.press("tab");
    assert_eq!(typed(&harness), "/van");
    harness.press("tab");
    assert!(harness.app.dialog::<RegionPicker>().is_some(), "nothing to complete");
}

#[test]
fn the_picture_under_the_cursor_is_requested_and_cancelled() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![], 0));
    harness.press("F");
    assert_eq!(harness.notice(), "open a dataset first");
    let mut harness = AppHarness::with_clusters(1);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("F");
    list(&mut harness, ".", &["a.jpg", "b.txt"]);
    let local = |harness: &AppHarness| {
        harness.requests().iter().any(|request| {
            matches!(request, Request::Picture(PictureSource::File(path), Crop::Full, _)
                if path.ends_with("a.jpg"))
        })
    };
    assert!(local(&harness));
    harness.press("down");
    assert!(!local(&harness));
    let gone = |lane: &Lane| matches!(lane, Lane::Picture(sight, _) if matches!(sight.subject, PictureSubject::File(_)));
    assert!(harness.cancelled.iter().any(gone));
}

/// Returns a picture of 640x480 pixels as the worker would fit it.
fn fitted(canvas: Canvas) -> Thumbnail {
    let cells = Fit::new((640, 480), canvas).cells;
    Thumbnail {
        cells,
        original: (640, 480),
        encoded: Encoded::Pixels(Arc::new([])),
        differing_pixels: None,
    }
}

/// Responds with the picture that the picker waits for, and returns its view.
fn show(harness: &mut AppHarness) -> PictureView {
    let canvas = RegionPicker::canvas(harness.app.screen());
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Picture(_, at) if *at == canvas));
    let Lane::Picture(sight, _) = ticket.lane.clone() else { panic!("another lane") };
    harness.respond(ticket, Ok(Payload::Picture(fitted(canvas))));
    sight
}

fn picker(harness: &AppHarness) -> &RegionPicker {
    match harness.app.dialog() {
        Some(picker) => picker,
        None => panic!("no region picker but {:?}", harness.app.overlay()),
    }
}

fn region(x: f64, y: f64, width: f64, height: f64) -> Region {
    Region::new(x, y, width, height).unwrap()
}

/// Opens a picker on the first preview, with its picture loaded.
fn picking() -> AppHarness {
    let mut harness = AppHarness::with_clusters(1);
    harness.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    harness.press("b");
    show(&mut harness);
    harness
}

#[test]
fn a_region_of_an_item_is_searched_by_uploading_a_copy() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("b");
    assert_eq!(picker(&harness).image.name.as_str(), "0.jpg");
    harness.press("6 enter");
    let Some(Request::RegisterAnchor { image, region: sent, .. }) = registered(&harness) else {
        panic!("nothing is registered")
    };
    assert!(matches!(image, PictureSource::Link(_)));
    assert_eq!(*sent, Some(region(0.5, 0.5, 0.5, 0.5)));
    let anchor = UPLOADED;
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    let label = harness.app.results().view().unwrap().similar_to.as_ref().unwrap().to_string();
    assert_eq!(label, "part of 0.jpg");
}

/// A search by a region, the request that registered the region, and the anchor.
fn region_search() -> (AppHarness, Option<Request>, Anchor) {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("b 3 enter");
    let first = registered(&harness).cloned();
    let anchor = UPLOADED;
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    harness.answer_page(page(0, 2));
    (harness, first, anchor)
}

#[test]
fn another_granularity_registers_the_same_region_again() {
    let (mut harness, first, _) = region_search();
    harness.press("<");
    let (Some(Request::RegisterAnchor { granularity: before, region: sent, .. }), Some(again)) =
        (first, registered(&harness))
    else {
        panic!("not registered twice")
    };
    let Request::RegisterAnchor { granularity, region: repeated, .. } = again else { panic!() };
    assert_eq!((*granularity, *repeated), (before.finer(), sent));
    // The region can be picked again from the query image, and starts where it was.
    harness.press("B");
    assert_eq!(Some(picker(&harness).region), sent);
}

#[test]
fn a_repeated_search_by_a_region_keeps_its_picture() {
    let (mut harness, first, anchor) = region_search();
    harness.press("esc H enter");
    assert_eq!(harness.app.results().view().unwrap().search.query, Query::Similar(anchor));
    harness.press("<");
    let (Some(Request::RegisterAnchor { image, region: sent, .. }), Some(again)) =
        (first, registered(&harness))
    else {
        panic!("the old anchor is valid only for its granularity")
    };
    assert!(matches!(again, Request::RegisterAnchor { image: repeated, region, .. }
            if *repeated == image && *region == sent));
}

#[test]
fn a_region_search_of_an_earlier_run_cannot_change_its_granularity() {
    let mut harness = AppHarness::with_clusters(1);
    let anchor = UPLOADED;
    let browse = Search::browse(dataset(1, Status::Ready).id);
    let earlier = HistoryEntry::new(Search { query: Query::Similar(anchor), ..browse });
    harness.kept.insert(StateKey::History, StateValue::History(vec![earlier]));
    harness.press("H enter");
    harness.answer_page(page(0, 2));
    for key in ["<", ">", "t"] {
        harness.press(key);
        assert!(harness.notice().contains("search by it again"), "{key}: {}", harness.notice());
        assert_eq!(harness.app.results().view().unwrap().search.query, Query::Similar(anchor));
    }
    assert!(harness.requests().is_empty(), "{:?}", harness.requests());
}

#[test]
fn a_whole_item_is_searched_without_a_copy() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("b w enter");
    assert_eq!(registered(&harness), None);
    let Query::Similar(anchor) = harness.app.results().view().unwrap().search.query else {
        panic!()
    };
    assert_eq!(anchor.kind, AnchorKind::Media);
}

#[test]
fn keys_move_and_resize_the_box_with_undo() {
    let mut harness = picking();
    harness.press(", , , .");
    assert_eq!(picker(&harness).step.name(), "10 pixels");
    harness.press("l j");
    let tenths = (10.0 / 640.0, 10.0 / 480.0);
    let close = |one: f64, other: f64| (one - other).abs() < 1e-5;
    let now = picker(&harness).region;
    assert!(close(now.x, 0.25 + tenths.0) && close(now.y, 0.25 + tenths.1), "{now:?}");
    harness.press("u u L alt-k shift-up");
    let now = picker(&harness).region;
    assert!(close(now.width, 0.5 + tenths.0) && close(now.x, 0.25), "{now:?}");
    assert!(close(now.y, 0.25 - tenths.1) && close(now.height, 0.5), "{now:?}");
    for _ in 0..200 {
        harness.press("h k H K");
    }
    let now = picker(&harness).region;
    assert_eq!((now.x, now.y), (0.0, 0.0));
    assert_eq!(now.pixels((640, 480)), ((0, 0), (1, 1)), "never empty");
}

#[test]
fn typed_numbers_apply_at_once_or_are_rejected_with_a_reason() {
    let mut harness = picking();
    harness.press("tab tab tab ctrl-u");
    harness.type_text("0.9");
    let numbers = picker(&harness).number_input.as_ref().unwrap();
    assert_eq!(numbers.error, Some("outside the picture"));
    harness.press("enter");
    assert_eq!(registered(&harness), None, "what is not taken is not searched");
    harness.press("backspace");
    harness.type_text("3");
    assert_eq!(picker(&harness).region, region(0.25, 0.25, 0.3, 0.5));
    harness.press("esc u");
    assert_eq!(picker(&harness).region, region(0.25, 0.25, 0.5, 0.5));
}

#[test]
fn the_mouse_draws_moves_and_resizes_the_box() {
    let mut harness = picking();
    let covered = picker(&harness).picture_cells(&harness.app).unwrap();
    let at = |kind, column: u16, row: u16| {
        Event::Mouse(Mouse { column: covered.x + column, row: covered.y + row, kind })
    };
    harness.press("w");
    harness.happen(at(MouseKind::Click, 10, 5));
    harness.happen(at(MouseKind::Drag, 4, 2));
    harness.happen(at(MouseKind::Release, 4, 2));
    let cells =
        |harness: &AppHarness| picker(harness).region.cells((covered.width, covered.height));
    assert_eq!(cells(&harness), ((4, 2), (7, 4)));
    harness.happen(at(MouseKind::Click, 6, 3));
    harness.happen(at(MouseKind::Drag, 7, 4));
    harness.happen(at(MouseKind::Release, 7, 4));
    assert_eq!(cells(&harness), ((5, 3), (7, 4)));
    harness.happen(at(MouseKind::Click, 11, 4));
    harness.happen(at(MouseKind::Drag, 13, 4));
    // A drag outside of the picture stops at the picture's border.
    harness.happen(Event::Mouse(Mouse { column: 119, row: 0, kind: MouseKind::Drag }));
    harness.happen(at(MouseKind::Release, 13, 4));
    assert_eq!(cells(&harness), ((5, 3), (covered.width - 5, 4)));
    harness.press("u u u");
    assert_eq!(picker(&harness).region, Region::WHOLE);
}

#[test]
fn the_preview_follows_the_box_as_fast_as_pictures_arrive() {
    let mut harness = picking();
    let pictures = |harness: &AppHarness| {
        let canvas = RegionPicker::canvas(harness.app.screen());
        let here = |lane: &Lane| matches!(lane, Lane::Picture(_, at) if *at == canvas);
        harness.open.iter().filter(|(ticket, _)| here(&ticket.lane)).count()
    };
    harness.press("l l l l l l");
    assert_eq!(pictures(&harness), 1, "one is made, the newer wait");
    let first = show(&mut harness);
    assert_eq!(
        picker(&harness).displayed_picture(&harness.app),
        first,
        "the newest there is is seen"
    );
    let last = show(&mut harness);
    assert_eq!(last.crop, Crop::Highlighted(picker(&harness).region));
    assert_eq!(pictures(&harness), 0);
}

#[test]
fn the_box_is_shown_enlarged() {
    let mut harness = picking();
    harness.press("z");
    assert_eq!(show(&mut harness).crop, Crop::Region(picker(&harness).region));
    harness.press("z");
    assert!(matches!(picker(&harness).displayed_picture(&harness.app).crop, Crop::Highlighted(_)));
}

#[test]
fn a_file_opens_the_region_picker_and_remembers_its_region() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("F");
    list(&mut harness, ".", &["van.jpg"]);
    harness.press("tab tab");
    assert_eq!(picker(&harness).image.subject, PictureSubject::File("./van.jpg".into()));
    harness.press("4 enter F");
    list(&mut harness, ".", &["car.jpg", "van.jpg"]);
    harness.press("tab");
    let image = &picker(&harness).image;
    assert_eq!(image.subject, PictureSubject::File("./van.jpg".into()), "the last one comes first");
    assert_eq!(picker(&harness).region, region(0.5, 0.0, 0.5, 0.5));
}

#[test]
fn the_detail_highlights_the_region_in_the_whole_picture() {
    let mut harness = AppHarness::with_pictures(Protocol::Kitty);
    let ready = crate::support::app_harness::dataset(1, tessera_model::Status::Ready);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![ready], 0));
    let mut objects = page(0, 1);
    let part = region(0.1, 0.2, 0.3, 0.4);
    objects.clusters[0].previews[0].region = Some(part);
    harness.answer_page(objects);
    let framed = |request: &&Request| {
        matches!(request, Request::Picture(PictureSource::Link(link), Crop::Highlighted(region), _)
            if link.resource().contains("/media/") && *region == part)
    };
    assert_eq!(harness.requests().into_iter().filter(framed).count(), 1);
    // The picker starts with the box of the object.
    harness.press("b");
    assert_eq!(picker(&harness).region, part);
}
