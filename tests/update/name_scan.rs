//! Tests the search of all names on a service that has no such search: all pages are looked at, with progress, a stop
//! and a way to continue.

use tessera_interface::{
    app::Event,
    message::{Lane, Request},
};
use tessera_model::{FailureKind, Granularity, Search};
use tessera_picture::Protocol;

use crate::support::desk::{Desk, page};

/// Searches all names for a text that the first page of the search on screen does not have.
fn searching(text: &str) -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("/");
    desk.type_text(text);
    desk.press("enter");
    desk
}

fn requested(desk: &Desk) -> Option<Search> {
    desk.requests().into_iter().find_map(|request| match request {
        Request::Explore(search) => Some(search.clone()),
        _ => None,
    })
}

fn label(desk: &Desk) -> String {
    desk.app.results().view().unwrap().title().to_string()
}

fn names(desk: &Desk) -> Vec<String> {
    let tiles = desk.app.results().tiles().into_iter();
    tiles.map(|tile| tile.preview.unwrap().file_name.to_string()).collect()
}

#[test]
fn all_pages_are_looked_at_and_the_matching_file_is_on_the_tile() {
    let mut desk = searching("1502");
    let first = requested(&desk).unwrap();
    assert_eq!((first.page, first.granularity), (0, Granularity::FINEST));
    desk.answer_page(page(0, 100));
    assert_eq!(requested(&desk).map(|search| search.page), Some(1));
    assert!(names(&desk).is_empty());
    desk.answer_page(page(100, 100));
    assert_eq!(names(&desk), ["1502.jpg"], "the third file of a cluster comes first");
    assert_eq!(requested(&desk).map(|search| search.page), Some(2));
    desk.answer_page(page(200, 40));
    assert!(requested(&desk).is_none());
    assert_eq!(label(&desk), "“1502” in names: 1 cluster, all 3 pages looked at");
    desk.press("esc");
    assert_eq!(desk.app.results().visible_clusters().len(), 3, "Esc goes back");
}

#[test]
fn a_stop_says_how_far_it_was_and_refresh_continues() {
    for stop in ["esc", "ctrl-c"] {
        let mut desk = searching("2502");
        desk.answer_page(page(0, 100));
        desk.press(stop);
        assert!(requested(&desk).is_none(), "{stop} cancels the page");
        assert_eq!(
            label(&desk),
            "“2502” in names: 0 clusters, only the first page looked at; r continues"
        );
        desk.press("r");
        assert_eq!(requested(&desk).map(|search| search.page), Some(1), "{stop}");
    }
}

#[test]
fn a_failed_page_ends_it_with_the_reason_and_a_second_try_continues() {
    let mut desk = searching("zebra");
    let search = requested(&desk).unwrap();
    desk.fail(Lane::Page(search), FailureKind::NoResponse);
    assert!(label(&desk).contains("no page looked at; r continues"), "{}", label(&desk));
    assert!(requested(&desk).is_none(), "a failed page is not requested in a loop");
    desk.press("r");
    assert_eq!(requested(&desk).map(|search| search.page), Some(0));
}

#[test]
fn a_service_that_repeats_its_pages_ends_it() {
    let mut desk = searching("zebra");
    desk.answer_page(page(0, 100));
    desk.answer_page(page(0, 100));
    assert!(requested(&desk).is_none());
}

#[test]
fn another_tab_pauses_it_and_coming_back_continues() {
    let mut desk = Desk::with_clusters(3);
    desk.press("ctrl-t /");
    desk.type_text("zebra");
    desk.press("enter");
    desk.answer_page(page(0, 100));
    desk.press("alt-1");
    assert!(requested(&desk).is_none());
    desk.press("alt-2");
    assert_eq!(requested(&desk).map(|search| search.page), Some(1));
}

#[test]
fn an_empty_result_says_on_which_pages_was_looked_and_what_no_page_lists() {
    let mut desk = searching("zebra");
    let mut first = page(0, 2);
    first.clusters[0].n_images = Some(1_203);
    desk.answer_page(first);
    let view = desk.app.results().view().unwrap();
    assert_eq!(
        view.scan().unwrap().empty_lines(),
        [
            "No file that was looked at is called “zebra”.",
            "The only page looked at, with 2 clusters.",
            "The service does not list the names of 1 200 members of large clusters.",
            "Esc goes back",
        ]
    );
}

#[test]
fn the_picture_of_the_last_match_is_requested_with_its_page() {
    let mut desk = searching("1502");
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.answer_page(page(0, 100));
    desk.answer_page(page(100, 60));
    let found = desk.app.results().preview().unwrap().media;
    let is_found = |lane: &Lane| matches!(lane, Lane::Picture(view, _) if *view == found.into());
    assert!(desk.open.iter().any(|(ticket, _)| is_found(&ticket.lane)));
}
