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

use crate::support::app_harness::{AppHarness, dataset, page};

#[test]
fn similar_skips_registration() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l f");
    let media = MediaId(Uuid::from_u128(100_010));
    let search = harness.open_searches().remove(0);
    assert_eq!(search.query, Query::Similar(Anchor { media, kind: AnchorKind::Media }));
    assert_eq!((search.page, search.entity), (0, EntityType::Images));
}

#[test]
fn esc_returns_to_the_previous_view_without_a_request() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l l f");
    harness.answer_page(page(50, 4));
    harness.press("esc");
    assert_eq!(harness.app.results().view().unwrap().cursor, 2);
    assert!(harness.requests().is_empty(), "the page before is still known");
}

#[test]
fn similar_search_is_unavailable_with_a_reason_outside_ready() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::PartialIndex)], 0));
    harness.answer_page(page(0, 3));
    harness.press("f");
    assert_eq!(harness.notice(), "Image search: not available while PARTIAL INDEX. Reindex first.");
    assert!(harness.requests().is_empty());
}

#[test]
fn a_file_is_registered_and_then_explored_with_its_granularity() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("F");
    harness.type_text("~/a b.jpg");
    harness.press("enter");
    let id = dataset(1, Status::Ready).id;
    let register = |granularity| Request::RegisterAnchor {
        dataset: id,
        image: PictureSource::File("/home/me/a b.jpg".into()),
        entity: EntityType::Images,
        granularity,
        region: None,
    };
    assert!(harness.requests().contains(&&register(Granularity::DEFAULT)));
    let anchor = Anchor { media: MediaId(Uuid::from_u128(7)), kind: AnchorKind::Upload };
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    assert_eq!(harness.open_searches()[0].query, Query::Similar(anchor));
    harness.answer_page(page(50, 4));
    // Another granularity needs the file registered again.
    harness.press("<");
    assert_eq!(harness.requests(), [&register(Granularity::DEFAULT.finer())]);
    let again = Anchor { media: MediaId(Uuid::from_u128(8)), kind: AnchorKind::Upload };
    harness.answer(Lane::Anchor, Payload::Anchor(again));
    let search = harness.open_searches().remove(0);
    assert_eq!(
        (search.query, search.granularity),
        (Query::Similar(again), Granularity::DEFAULT.finer())
    );
    assert_eq!(harness.steps(), 2, "the view of the same file is replaced");
}

#[test]
fn a_second_file_replaces_the_first() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("F");
    harness.type_text("/one.jpg");
    harness.press("enter");
    let (first, _) = harness.take(|lane| *lane == Lane::Anchor);
    harness.press("F");
    harness.type_text("/two.jpg");
    harness.press("enter");
    let response = |number| {
        Payload::Anchor(Anchor {
            media: MediaId(Uuid::from_u128(number)),
            kind: AnchorKind::Upload,
        })
    };
    harness.respond(first, Ok(response(1)));
    assert_eq!(harness.steps(), 1, "the replaced response opens nothing");
    harness.answer(Lane::Anchor, response(2));
    assert_eq!(
        harness.app.results().view().unwrap().similar_to.as_ref().unwrap().as_str(),
        "two.jpg"
    );
}

#[test]
fn a_rejected_file_is_reported_and_the_view_stays() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("F");
    harness.type_text("/no.txt");
    harness.press("enter");
    harness.fail(Lane::Anchor, FailureKind::Local);
    assert_eq!(harness.notice(), "it broke");
    assert_eq!(harness.steps(), 1);
}

#[test]
fn granularity_has_limits_with_a_reason() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("<");
    harness.answer_page(page(0, 9));
    harness.press("<");
    assert_eq!(harness.open_searches()[0].granularity.level(), 0);
    harness.answer_page(page(0, 9));
    harness.press("<");
    assert_eq!(harness.notice(), "granularity 0 is the finest");
}

#[test]
fn pages_end_where_the_service_ends() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("p");
    assert_eq!(harness.notice(), "this is the first page");
    harness.press("n");
    assert_eq!(harness.open_searches()[0].page, 1);
    harness.answer_page(page(100, 40));
    harness.press("n");
    assert_eq!(harness.notice(), "this is the last page");
}

#[test]
fn a_page_that_could_not_be_loaded_is_not_the_last_one() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    harness.fail(Lane::Page(harness.open_searches()[0].clone()), FailureKind::Unreachable);
    harness.press("n");
    assert_eq!(harness.notice(), "page 2 could not be loaded; r tries again");
    harness.press("esc");

    let mut harness = AppHarness::with_clusters(9);
    harness.press("r");
    harness.fail(Lane::Page(harness.open_searches()[0].clone()), FailureKind::Unreachable);
    harness.press("n");
    assert_eq!(harness.notice(), "page 1 could not be loaded; r tries again");
}

#[test]
fn enter_opens_dataset_cluster_and_full_size() {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(tessera_interface::app::Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("1 enter");
    assert_eq!(harness.app.panes().focus, Pane::Results);
    harness.press("enter l enter");
    assert_eq!(
        (harness.app.panes().focus, harness.app.results().view().unwrap().preview_index),
        (Pane::Detail, 1)
    );
    harness.press("enter");
    let original = |request: &&Request| {
        matches!(request, Request::Picture(PictureSource::Link(link), Crop::Zoomed(..), _)
            if link.resource().ends_with("/media/1"))
    };
    assert_eq!(harness.requests().into_iter().filter(original).count(), 1);
}

#[test]
fn a_dataset_opens_whole_after_a_search() {
    let mut harness = AppHarness::with_clusters(9);
    let whole = harness.app.results().view().unwrap().search.clone();
    harness.press("f");
    harness.answer_page(page(0, 3));
    assert_ne!(harness.app.results().view().unwrap().search, whole);
    harness.press("1 enter");
    assert_eq!(harness.app.results().view().unwrap().search, whole);
    assert_eq!(harness.app.panes().focus, Pane::Results);
    harness.press("esc");
    assert_ne!(harness.app.results().view().unwrap().search, whole, "Esc returns to the search");
}

#[test]
fn pasted_text_is_never_handled_as_keys() {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(tessera_interface::app::Event::Paste("q\nq\n".into()));
    assert!(!harness.other.contains(&Effect::Quit));
}

#[test]
fn tabs_are_kept_while_another_dataset_is_open() {
    let mut harness = AppHarness::new();
    let both = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(both, 0));
    harness.answer_page(page(0, 9));
    harness.press("l l 1 j enter");
    harness.answer_page(page(0, 9));
    assert_eq!(harness.app.dataset().unwrap().name.as_str(), "set-2");
    harness.press("1 k enter");
    assert_eq!(
        (
            harness.app.dataset().unwrap().name.as_str(),
            harness.app.results().view().unwrap().cursor
        ),
        ("set-1", 2)
    );
}

/// Searches all names for a text that the first page of the search on screen does not have.
fn searching(text: &str) -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("/");
    harness.type_text(text);
    harness.press("enter");
    harness
}

fn label(harness: &AppHarness) -> String {
    harness.app.results().view().unwrap().title().to_string()
}

fn names(harness: &AppHarness) -> Vec<String> {
    let tiles = harness.app.results().tiles().into_iter();
    tiles.map(|tile| tile.preview.unwrap().file_name.to_string()).collect()
}

#[test]
fn all_pages_are_looked_at_and_the_matching_file_is_on_the_tile() {
    let mut harness = searching("1502");
    let first = harness.open_searches().remove(0);
    assert_eq!((first.page, first.granularity), (0, Granularity::FINEST));
    harness.answer_page(page(0, 100));
    assert_eq!(harness.open_searches().first().map(|search| search.page), Some(1));
    assert!(names(&harness).is_empty());
    harness.answer_page(page(100, 100));
    assert_eq!(names(&harness), ["1502.jpg"], "the third file of a cluster comes first");
    assert_eq!(harness.open_searches().first().map(|search| search.page), Some(2));
    harness.answer_page(page(200, 40));
    assert!(harness.open_searches().is_empty());
    assert_eq!(label(&harness), "“1502” in names: 1 cluster, all 3 pages looked at");
    harness.press("esc");
    assert_eq!(harness.app.results().visible_clusters().len(), 3, "Esc goes back");
}

#[test]
fn a_stop_says_how_far_it_was_and_refresh_continues() {
    for stop in ["esc", "ctrl-c"] {
        let mut harness = searching("2502");
        harness.answer_page(page(0, 100));
        harness.press(stop);
        assert!(harness.open_searches().is_empty(), "{stop} cancels the page");
        assert_eq!(
            label(&harness),
            "“2502” in names: 0 clusters, only the first page looked at; r continues"
        );
        harness.press("r");
        assert_eq!(harness.open_searches().first().map(|search| search.page), Some(1), "{stop}");
    }
}

#[test]
fn a_failed_page_ends_it_with_the_reason_and_a_second_try_continues() {
    let mut harness = searching("zebra");
    let search = harness.open_searches().remove(0);
    harness.fail(Lane::Page(search), FailureKind::NoResponse);
    assert!(label(&harness).contains("no page looked at; r continues"), "{}", label(&harness));
    assert!(harness.open_searches().is_empty(), "a failed page is not requested in a loop");
    harness.press("r");
    assert_eq!(harness.open_searches().first().map(|search| search.page), Some(0));
}

#[test]
fn a_service_that_repeats_its_pages_ends_it() {
    let mut harness = searching("zebra");
    harness.answer_page(page(0, 100));
    harness.answer_page(page(0, 100));
    assert!(harness.open_searches().is_empty());
}

#[test]
fn another_tab_pauses_it_and_coming_back_continues() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("ctrl-t /");
    harness.type_text("zebra");
    harness.press("enter");
    harness.answer_page(page(0, 100));
    harness.press("alt-1");
    assert!(harness.open_searches().is_empty());
    harness.press("alt-2");
    assert_eq!(harness.open_searches().first().map(|search| search.page), Some(1));
}

#[test]
fn an_empty_result_says_on_which_pages_was_looked_and_what_no_page_lists() {
    let mut harness = searching("zebra");
    let mut first = page(0, 2);
    first.clusters[0].n_images = Some(1_203);
    harness.answer_page(first);
    let view = harness.app.results().view().unwrap();
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
    let mut harness = searching("1502");
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.answer_page(page(0, 100));
    harness.answer_page(page(100, 60));
    let found = harness.app.results().preview().unwrap().media;
    let is_found = |lane: &Lane| matches!(lane, Lane::Picture(view, _) if *view == found.into());
    assert!(harness.open.iter().any(|(ticket, _)| is_found(&ticket.lane)));
}
