//! Tests the selection of the media of a search that differ most: when it is possible, what is requested, and what
//! happens to the selection.

use tessera::usecase::file_actions::selection_of_media;
use tessera_config::{DeploymentKind, input::Action};
use tessera_interface::{
    app::{availability::unavailable_reason, overlay::prompt::TextPrompt},
    message::{Lane, Payload, Request},
};
use tessera_model::{
    DatasetId, FailureKind, MediaId, Query, Selection, StateKey, StateValue, Status,
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, page};

fn local() -> AppHarness {
    with_status(Status::Ready)
}

fn with_status(status: Status) -> AppHarness {
    AppHarness::new().opening_folder(vec![dataset(1, status)])
}

fn id() -> DatasetId {
    dataset(1, Status::Ready).id
}

fn lane() -> Lane {
    Lane::SelectDiverse(id())
}

fn chosen(count: u128) -> Payload {
    let media = (1..=count).map(|number| (MediaId(Uuid::from_u128(number)), "a\u{1b}.jpg".into()));
    Payload::Selection(id(), selection_of_media(&media.collect::<Vec<_>>()))
}

fn selection(harness: &AppHarness) -> Selection {
    harness.app.baskets().selection(harness.app.results()).unwrap().clone()
}

fn reason(harness: &AppHarness) -> Option<String> {
    unavailable_reason(&harness.app, Action::SelectDiverse)
}

#[test]
fn only_images_of_a_search_in_a_local_folder_are_compared() {
    let mut harness = local();
    assert_eq!(reason(&harness), None);
    harness.press("t");
    harness.answer_page(page(0, 2));
    assert!(reason(&harness).unwrap().contains("t switches to images"));
    let busy = reason(&with_status(Status::PartialIndex)).unwrap();
    assert!(busy.contains("not available while PARTIAL INDEX"), "{busy}");
    for other in [DeploymentKind::Hosted, DeploymentKind::Onprem] {
        harness.app.setup_mut().deployment = other;
        assert!(reason(&harness).unwrap().contains("open a folder"));
    }
    harness.press("g v");
    assert!(harness.app.dialog::<TextPrompt>().is_none());
    assert!(harness.notice().contains("open a folder"), "{}", harness.notice());
}

#[test]
fn what_is_not_a_number_is_refused() {
    let mut harness = local();
    harness.press("g v");
    for typed in ["", "0", "-1", "1.5", "many", "4294967296", "٣"] {
        harness.type_text(typed);
        harness.press("enter");
        assert!(harness.notice().contains("type a number from 1"), "{typed}: {}", harness.notice());
        assert!(harness.app.dialog::<TextPrompt>().is_some(), "{typed}");
        harness.press("ctrl-u");
    }
    assert!(!harness.app.tickets().is_open(&lane()));
}

#[test]
fn the_chosen_media_of_the_search_replace_the_selection_and_undo_restores_it() {
    let mut harness = local();
    harness.press("space f");
    harness.answer_page(page(0, 3));
    let before = selection(&harness);
    harness.press("g v");
    harness.type_text(" 4 ");
    harness.press("enter");
    let is_choice = |request: &&Request| {
        matches!(request, Request::SelectDiverse(search, 4)
            if search.dataset == id() && matches!(search.query, Query::Similar(_)))
    };
    assert!(harness.requests().iter().any(is_choice), "{:?}", harness.requests());
    harness.answer(lane(), chosen(3));
    assert!(harness.notice().contains("selected 3 media items"), "{}", harness.notice());
    assert_eq!((selection(&harness).len(), before.len()), (3, 1));
    let saved = &harness.kept[&StateKey::Basket(id())];
    assert_eq!(*saved, StateValue::Basket(id(), selection(&harness)));
    harness.press("u");
    assert_eq!(selection(&harness), before);
}

#[test]
fn nothing_and_failures_and_stale_responses_leave_the_selection_alone() {
    let mut harness = local();
    harness.press("space g v 2 enter");
    let before = selection(&harness);
    harness.answer(lane(), chosen(0));
    assert!(harness.notice().contains("finds no images"), "{}", harness.notice());
    harness.press("g v 2 enter");
    harness.fail(lane(), FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    harness.press("g v 2 enter");
    let (stale, _) = harness.take(|open| *open == lane());
    harness.press("g v 3 enter");
    harness.respond(stale, Ok(chosen(2)));
    assert_eq!(selection(&harness), before);
    harness.answer(lane(), chosen(3));
    assert_eq!(selection(&harness).len(), 3);
    harness.press("g v 2 enter space");
    assert!(!harness.app.tickets().is_open(&lane()), "the newer selection is not replaced");
}
