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

use crate::support::desk::{Desk, dataset, page};

fn local() -> Desk {
    with_status(Status::Ready)
}

fn with_status(status: Status) -> Desk {
    Desk::new().opening_folder(vec![dataset(1, status)])
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

fn selection(desk: &Desk) -> Selection {
    desk.app.baskets().selection(desk.app.results()).unwrap().clone()
}

fn reason(desk: &Desk) -> Option<String> {
    unavailable_reason(&desk.app, Action::SelectDiverse)
}

#[test]
fn only_images_of_a_search_in_a_local_folder_are_compared() {
    let mut desk = local();
    assert_eq!(reason(&desk), None);
    desk.press("t");
    desk.answer_page(page(0, 2));
    assert!(reason(&desk).unwrap().contains("t switches to images"));
    let busy = reason(&with_status(Status::PartialIndex)).unwrap();
    assert!(busy.contains("not available while PARTIAL INDEX"), "{busy}");
    for other in [DeploymentKind::Hosted, DeploymentKind::Onprem] {
        desk.app.setup_mut().deployment = other;
        assert!(reason(&desk).unwrap().contains("open a folder"));
    }
    desk.press("g v");
    assert!(desk.app.dialog::<TextPrompt>().is_none());
    assert!(desk.notice().contains("open a folder"), "{}", desk.notice());
}

#[test]
fn what_is_not_a_number_is_refused() {
    let mut desk = local();
    desk.press("g v");
    for typed in ["", "0", "-1", "1.5", "many", "4294967296", "٣"] {
        desk.type_text(typed);
        desk.press("enter");
        assert!(desk.notice().contains("type a number from 1"), "{typed}: {}", desk.notice());
        assert!(desk.app.dialog::<TextPrompt>().is_some(), "{typed}");
        desk.press("ctrl-u");
    }
    assert!(!desk.app.tickets().is_open(&lane()));
}

#[test]
fn the_chosen_media_of_the_search_replace_the_selection_and_undo_restores_it() {
    let mut desk = local();
    desk.press("space f");
    desk.answer_page(page(0, 3));
    let before = selection(&desk);
    desk.press("g v");
    desk.type_text(" 4 ");
    desk.press("enter");
    let is_choice = |request: &&Request| {
        matches!(request, Request::SelectDiverse(search, 4)
            if search.dataset == id() && matches!(search.query, Query::Similar(_)))
    };
    assert!(desk.requests().iter().any(is_choice), "{:?}", desk.requests());
    desk.answer(lane(), chosen(3));
    assert!(desk.notice().contains("selected 3 media items"), "{}", desk.notice());
    assert_eq!((selection(&desk).len(), before.len()), (3, 1));
    let saved = &desk.kept[&StateKey::Basket(id())];
    assert_eq!(*saved, StateValue::Basket(id(), selection(&desk)));
    desk.press("u");
    assert_eq!(selection(&desk), before);
}

#[test]
fn nothing_and_failures_and_stale_responses_leave_the_selection_alone() {
    let mut desk = local();
    desk.press("space g v 2 enter");
    let before = selection(&desk);
    desk.answer(lane(), chosen(0));
    assert!(desk.notice().contains("finds no images"), "{}", desk.notice());
    desk.press("g v 2 enter");
    desk.fail(lane(), FailureKind::Local);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    desk.press("g v 2 enter");
    let (stale, _) = desk.take(|open| *open == lane());
    desk.press("g v 3 enter");
    desk.respond(stale, Ok(chosen(2)));
    assert_eq!(selection(&desk), before);
    desk.answer(lane(), chosen(3));
    assert_eq!(selection(&desk).len(), 3);
    desk.press("g v 2 enter space");
    assert!(!desk.app.tickets().is_open(&lane()), "the newer selection is not replaced");
}
