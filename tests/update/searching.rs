//! Tests searches: anchors, granularity, pages and going back, and the search of all names on a service that has no such
//! search: all pages are looked at, with progress, a stop and a way to continue.

use tessera_interface::{
    app::{Effect, Event, Pane},
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Anchor, AnchorKind, EntityType, FailureKind, Granularity, MediaId, PictureSource, Query, Status,
};
use tessera_picture::{Crop, Protocol};
use uuid::Uuid;

use crate::support::desk::{Desk, dataset, page};

#[test]
fn similar_skips_registration() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l f");
    let media = MediaId(Uuid::from_u128(100_010));
    let search = desk.open_searches().remove(0);
    assert_eq!(search.query, Query::Similar(Anchor { media, kind: AnchorKind::Media }));
    assert_eq!((search.page, search.entity), (0, EntityType::Images));
}

#[test]
fn esc_returns_to_the_previous_view_without_a_request() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l l f");
    desk.answer_page(page(50, 4));
    desk.press("esc");
    assert_eq!(desk.app.results().view().unwrap().cursor, 2);
    assert!(desk.requests().is_empty(), "the page before is still known");
}

#[test]
fn similar_search_is_unavailable_with_a_reason_outside_ready() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::PartialIndex)], 0));
    desk.answer_page(page(0, 3));
    desk.press("f");
    assert_eq!(desk.notice(), "Image search: not available while PARTIAL INDEX. Reindex first.");
    assert!(desk.requests().is_empty());
}

#[test]
fn a_file_is_registered_and_then_explored_with_its_granularity() {
    let mut desk = Desk::with_clusters(9);
    desk.press("F");
    desk.type_text("~/a b.jpg");
    desk.press("enter");
    let id = dataset(1, Status::Ready).id;
    let register = |granularity| Request::RegisterAnchor {
        dataset: id,
        image: PictureSource::File("/home/me/a b.jpg".into()),
        entity: EntityType::Images,
        granularity,
        region: None,
    };
    assert!(desk.requests().contains(&&register(Granularity::DEFAULT)));
    let anchor = Anchor { media: MediaId(Uuid::from_u128(7)), kind: AnchorKind::Upload };
    desk.answer(Lane::Anchor, Payload::Anchor(anchor));
    assert_eq!(desk.open_searches()[0].query, Query::Similar(anchor));
    desk.answer_page(page(50, 4));
    // Another granularity needs the file registered again.
    desk.press("<");
    assert_eq!(desk.requests(), [&register(Granularity::DEFAULT.finer())]);
    let again = Anchor { media: MediaId(Uuid::from_u128(8)), kind: AnchorKind::Upload };
    desk.answer(Lane::Anchor, Payload::Anchor(again));
    let search = desk.open_searches().remove(0);
    assert_eq!(
        (search.query, search.granularity),
        (Query::Similar(again), Granularity::DEFAULT.finer())
    );
    assert_eq!(desk.steps(), 2, "the view of the same file is replaced");
}

#[test]
fn a_second_file_replaces_the_first() {
    let mut desk = Desk::with_clusters(9);
    desk.press("F");
    desk.type_text("/one.jpg");
    desk.press("enter");
    let (first, _) = desk.take(|lane| *lane == Lane::Anchor);
    desk.press("F");
    desk.type_text("/two.jpg");
    desk.press("enter");
    let response = |number| {
        Payload::Anchor(Anchor {
            media: MediaId(Uuid::from_u128(number)),
            kind: AnchorKind::Upload,
        })
    };
    desk.respond(first, Ok(response(1)));
    assert_eq!(desk.steps(), 1, "the replaced response opens nothing");
    desk.answer(Lane::Anchor, response(2));
    assert_eq!(desk.app.results().view().unwrap().similar_to.as_ref().unwrap().as_str(), "two.jpg");
}

#[test]
fn a_rejected_file_is_reported_and_the_view_stays() {
    let mut desk = Desk::with_clusters(9);
    desk.press("F");
    desk.type_text("/no.txt");
    desk.press("enter");
    desk.fail(Lane::Anchor, FailureKind::Local);
    assert_eq!(desk.notice(), "it broke");
    assert_eq!(desk.steps(), 1);
}

#[test]
fn granularity_has_limits_with_a_reason() {
    let mut desk = Desk::with_clusters(9);
    desk.press("<");
    desk.answer_page(page(0, 9));
    desk.press("<");
    assert_eq!(desk.open_searches()[0].granularity.level(), 0);
    desk.answer_page(page(0, 9));
    desk.press("<");
    assert_eq!(desk.notice(), "granularity 0 is the finest");
}

#[test]
fn pages_end_where_the_service_ends() {
    let mut desk = Desk::with_clusters(100);
    desk.press("p");
    assert_eq!(desk.notice(), "this is the first page");
    desk.press("n");
    assert_eq!(desk.open_searches()[0].page, 1);
    desk.answer_page(page(100, 40));
    desk.press("n");
    assert_eq!(desk.notice(), "this is the last page");
}

#[test]
fn a_page_that_could_not_be_loaded_is_not_the_last_one() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    desk.fail(Lane::Page(desk.open_searches()[0].clone()), FailureKind::Unreachable);
    desk.press("n");
    assert_eq!(desk.notice(), "page 2 could not be loaded; r tries again");
    desk.press("esc");

    let mut desk = Desk::with_clusters(9);
    desk.press("r");
    desk.fail(Lane::Page(desk.open_searches()[0].clone()), FailureKind::Unreachable);
    desk.press("n");
    assert_eq!(desk.notice(), "page 1 could not be loaded; r tries again");
}

#[test]
fn enter_opens_dataset_cluster_and_full_size() {
    let mut desk = Desk::with_clusters(9);
    desk.happen(tessera_interface::app::Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.press("1 enter");
    assert_eq!(desk.app.panes().focus, Pane::Results);
    desk.press("enter l enter");
    assert_eq!(
        (desk.app.panes().focus, desk.app.results().view().unwrap().preview_index),
        (Pane::Detail, 1)
    );
    desk.press("enter");
    let original = |request: &&Request| {
        matches!(request, Request::Picture(PictureSource::Link(link), Crop::Zoomed(..), _)
            if link.resource().ends_with("/media/1"))
    };
    assert_eq!(desk.requests().into_iter().filter(original).count(), 1);
}

#[test]
fn a_dataset_opens_whole_after_a_search() {
    let mut desk = Desk::with_clusters(9);
    let whole = desk.app.results().view().unwrap().search.clone();
    desk.press("f");
    desk.answer_page(page(0, 3));
    assert_ne!(desk.app.results().view().unwrap().search, whole);
    desk.press("1 enter");
    assert_eq!(desk.app.results().view().unwrap().search, whole);
    assert_eq!(desk.app.panes().focus, Pane::Results);
    desk.press("esc");
    assert_ne!(desk.app.results().view().unwrap().search, whole, "Esc returns to the search");
}

#[test]
fn pasted_text_is_never_handled_as_keys() {
    let mut desk = Desk::with_clusters(9);
    desk.happen(tessera_interface::app::Event::Paste("q\nq\n".into()));
    assert!(!desk.other.contains(&Effect::Quit));
}

#[test]
fn tabs_are_kept_while_another_dataset_is_open() {
    let mut desk = Desk::new();
    let both = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    desk.answer(Lane::Datasets, Payload::Datasets(both, 0));
    desk.answer_page(page(0, 9));
    desk.press("l l 1 j enter");
    desk.answer_page(page(0, 9));
    assert_eq!(desk.app.dataset().unwrap().name.as_str(), "set-2");
    desk.press("1 k enter");
    assert_eq!(
        (desk.app.dataset().unwrap().name.as_str(), desk.app.results().view().unwrap().cursor),
        ("set-1", 2)
    );
}

/// Searches all names for a text that the first page of the search on screen does not have.
fn searching(text: &str) -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("/");
    desk.type_text(text);
    desk.press("enter");
    desk
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
    let first = desk.open_searches().remove(0);
    assert_eq!((first.page, first.granularity), (0, Granularity::FINEST));
    desk.answer_page(page(0, 100));
    assert_eq!(desk.open_searches().first().map(|search| search.page), Some(1));
    assert!(names(&desk).is_empty());
    desk.answer_page(page(100, 100));
    assert_eq!(names(&desk), ["1502.jpg"], "the third file of a cluster comes first");
    assert_eq!(desk.open_searches().first().map(|search| search.page), Some(2));
    desk.answer_page(page(200, 40));
    assert!(desk.open_searches().is_empty());
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
        assert!(desk.open_searches().is_empty(), "{stop} cancels the page");
        assert_eq!(
            label(&desk),
            "“2502” in names: 0 clusters, only the first page looked at; r continues"
        );
        desk.press("r");
        assert_eq!(desk.open_searches().first().map(|search| search.page), Some(1), "{stop}");
    }
}

#[test]
fn a_failed_page_ends_it_with_the_reason_and_a_second_try_continues() {
    let mut desk = searching("zebra");
    let search = desk.open_searches().remove(0);
    desk.fail(Lane::Page(search), FailureKind::NoResponse);
    assert!(label(&desk).contains("no page looked at; r continues"), "{}", label(&desk));
    assert!(desk.open_searches().is_empty(), "a failed page is not requested in a loop");
    desk.press("r");
    assert_eq!(desk.open_searches().first().map(|search| search.page), Some(0));
}

#[test]
fn a_service_that_repeats_its_pages_ends_it() {
    let mut desk = searching("zebra");
    desk.answer_page(page(0, 100));
    desk.answer_page(page(0, 100));
    assert!(desk.open_searches().is_empty());
}

#[test]
fn another_tab_pauses_it_and_coming_back_continues() {
    let mut desk = Desk::with_clusters(3);
    desk.press("ctrl-t /");
    desk.type_text("zebra");
    desk.press("enter");
    desk.answer_page(page(0, 100));
    desk.press("alt-1");
    assert!(desk.open_searches().is_empty());
    desk.press("alt-2");
    assert_eq!(desk.open_searches().first().map(|search| search.page), Some(1));
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
