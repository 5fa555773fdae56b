//! Tests searches: anchors, granularity, pages and going back.

use tessera_interface::{
    app::{Effect, Pane},
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Anchor, AnchorKind, EntityType, FailureKind, Granularity, MediaId, PictureSource, Query, Status,
};
use tessera_picture::{Crop, Protocol};
use uuid::Uuid;

use crate::support::desk::{Desk, dataset, page};

fn open_search(desk: &Desk) -> tessera_model::Search {
    desk.open
        .iter()
        .find_map(|(_, request)| match request {
            Request::Explore(search) => Some(search.clone()),
            _ => None,
        })
        .unwrap()
}

#[test]
fn similar_skips_registration() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l f");
    let media = MediaId(Uuid::from_u128(100_010));
    let search = open_search(&desk);
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
    assert_eq!(open_search(&desk).query, Query::Similar(anchor));
    desk.answer_page(page(50, 4));
    // Another granularity needs the file registered again.
    desk.press("<");
    assert_eq!(desk.requests(), [&register(Granularity::DEFAULT.finer())]);
    let again = Anchor { media: MediaId(Uuid::from_u128(8)), kind: AnchorKind::Upload };
    desk.answer(Lane::Anchor, Payload::Anchor(again));
    let search = open_search(&desk);
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
    assert_eq!(open_search(&desk).granularity.level(), 0);
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
    assert_eq!(open_search(&desk).page, 1);
    desk.answer_page(page(100, 40));
    desk.press("n");
    assert_eq!(desk.notice(), "this is the last page");
}

#[test]
fn a_page_that_could_not_be_loaded_is_not_the_last_one() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    desk.fail(Lane::Page(open_search(&desk).clone()), FailureKind::Unreachable);
    desk.press("n");
    assert_eq!(desk.notice(), "page 2 could not be loaded; r tries again");
    desk.press("esc");

    let mut desk = Desk::with_clusters(9);
    desk.press("r");
    desk.fail(Lane::Page(open_search(&desk).clone()), FailureKind::Unreachable);
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
