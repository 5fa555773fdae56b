//! Tests the last session, which is saved as it changes and continued at the next start, and the picture beside the
//! selected past search.

use tessera_config::{TileSize, input::Keymap};
use tessera_interface::{
    app::{App, Effect, Event, Setup, overlay::command_list::CommandList},
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Anchor, AnchorKind, DatasetId, MediaId, SafeText, SavedSession, Search, StateKey, StateValue,
    Status,
};
use tessera_picture::{PictureSubject, Protocol};
use uuid::Uuid;

use crate::support::{
    app_harness::{AppHarness, dataset, page, settings},
    scene::paint,
};

fn saved(harness: &AppHarness) -> SavedSession {
    match harness.kept.get(&StateKey::Session) {
        Some(StateValue::Session(session)) => session.clone(),
        other => panic!("{other:?}"),
    }
}

/// Starts with two datasets after a session.
fn continued(session: SavedSession) -> AppHarness {
    let mut harness = AppHarness::new();
    let setup = Setup {
        session: Some(session),
        ..Setup::new(SafeText::name("local"), settings(), Keymap::built_in().unwrap())
    };
    harness.app = App::new(setup);
    harness.open.clear();
    harness.wait(0);
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    harness
}

#[test]
fn the_dataset_the_tabs_and_the_tile_size_come_back() {
    let mut harness = AppHarness::new();
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    harness.answer_page(page(0, 9));
    harness.press("1 j enter");
    harness.answer_page(page(20, 9));
    harness.press("ctrl-t c");
    harness.type_text("a van");
    harness.press("enter +");
    let search = harness.app.results().view().unwrap().search.clone();
    let session = saved(&harness);
    assert_eq!((session.tabs.len(), session.active_tab), (2, 1));
    let harness = continued(session);
    assert_eq!(harness.app.results().view().unwrap().search, search);
    assert_eq!(
        (harness.app.results().tab_count(), harness.app.panes().tile_size),
        (2, TileSize::Large)
    );
    let loads = |request: &&Request| matches!(request, Request::Explore(open) if *open == search);
    assert!(harness.requests().iter().any(loads));
}

#[test]
fn a_dataset_that_is_gone_is_replaced_by_the_first() {
    let gone = DatasetId(Uuid::from_u128(77));
    let tab = tessera_model::HistoryEntry::new(Search::browse(gone));
    let session = SavedSession { dataset: Some(gone), tabs: vec![tab], ..SavedSession::default() };
    let harness = continued(session);
    assert_eq!(harness.app.results().view().unwrap().search.dataset, DatasetId(Uuid::from_u128(1)));
    assert_eq!(harness.app.panes().tile_size, TileSize::Medium);
}

#[test]
fn results_of_an_uploaded_picture_are_left_to_the_history() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("F");
    harness.type_text("~/a.jpg");
    harness.press("enter");
    let anchor = tessera_model::Anchor {
        media: tessera_model::MediaId(Uuid::from_u128(7)),
        kind: tessera_model::AnchorKind::Upload,
    };
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    assert!(saved(&harness).tabs.is_empty());
    harness.press("esc");
    assert_eq!(saved(&harness).tabs.len(), 1);
}

#[test]
fn the_cursor_of_each_tab_comes_back() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("j j");
    harness.press("ctrl-t");
    harness.press("j j j j j");
    harness.wait(2);
    let session = saved(&harness);
    let at = [0, 1].map(|tab| harness.app.results().tabs().unwrap().all()[tab].view.cursor);
    assert!(at[0] > 0 && at[1] > at[0], "{at:?}");
    assert_eq!(session.cursors, at);
    let mut harness = continued(session);
    harness.answer_page(page(0, 9));
    assert_eq!(harness.app.results().view().unwrap().cursor, at[1]);
    let name = harness.app.results().preview().unwrap().file_name.to_string();
    assert_eq!(name, format!("{}.jpg", 10 * at[1]), "the detail is of this cluster");
}

#[test]
fn a_moving_cursor_is_saved_at_once_and_then_from_time_to_time() {
    let mut harness = AppHarness::with_clusters(9);
    harness.wait(9);
    let cursor = |harness: &AppHarness| saved(harness).cursors[0];
    harness.press("j");
    let first = cursor(&harness);
    assert_eq!(first, harness.app.results().view().unwrap().cursor);
    harness.press("j j");
    assert_eq!(cursor(&harness), first, "not on every key");
    assert!(harness.other.iter().any(|effect| matches!(effect, Effect::WakeAt(_))));
    harness.wait(2);
    assert_eq!(cursor(&harness), harness.app.results().view().unwrap().cursor);
}

#[test]
fn the_cursor_of_a_sorted_page_is_saved_by_its_place_on_the_page() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press(", 7");
    let place = harness.app.results().visible_clusters()[0].index;
    assert!(place > 0);
    harness.press("g g");
    harness.wait(2);
    assert_eq!(saved(&harness).cursors, [place]);
}

/// Searches by a file, then by a caption.
fn searched(protocol: Protocol) -> AppHarness {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(Event::Terminal(protocol, (10, 20)));
    harness.press("F");
    harness.type_text("~/a.jpg");
    harness.press("enter");
    let anchor = Anchor { media: MediaId(Uuid::from_u128(7)), kind: AnchorKind::Upload };
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    harness.answer_page(page(20, 4));
    harness.press("c");
    harness.type_text("a van");
    harness.press("enter");
    harness.answer_page(page(50, 4));
    paint(&mut harness);
    harness
}

fn requested(harness: &AppHarness) -> Vec<PictureSubject> {
    let lanes = harness.open.iter().filter_map(|(ticket, _)| match &ticket.lane {
        Lane::Picture(view, _) => Some(view.subject.clone()),
        _ => None,
    });
    lanes.collect()
}

#[test]
fn a_search_by_a_file_shows_the_file_and_another_its_first_result() {
    let mut harness = searched(Protocol::Kitty);
    harness.press("H");
    let first_result = PictureSubject::Media(MediaId(Uuid::from_u128(100_500)));
    assert_eq!(requested(&harness), [first_result]);
    harness.press("down");
    assert_eq!(requested(&harness), [PictureSubject::File("/home/me/a.jpg".into())]);
    paint(&mut harness);
    harness.press("up down");
    assert_eq!(requested(&harness), [], "it is kept");
}

#[test]
fn a_search_by_a_media_item_shows_that_item() {
    let mut harness = searched(Protocol::Kitty);
    harness.press("l f");
    harness.answer_page(page(70, 4));
    paint(&mut harness);
    harness.press("H");
    assert_eq!(requested(&harness), [PictureSubject::Media(MediaId(Uuid::from_u128(100_510)))]);
}

#[test]
fn without_pictures_the_list_has_the_whole_dialog() {
    let mut harness = searched(Protocol::None);
    harness.press("H");
    assert_eq!(requested(&harness), []);
    let Some(list) = harness.app.dialog::<CommandList>() else { panic!("no list is open") };
    let inside = list_area(&harness);
    assert_eq!(list.areas(inside), (inside, None));
}

fn list_area(harness: &AppHarness) -> ratatui::layout::Rect {
    harness.app.overlay_area().unwrap()
}
