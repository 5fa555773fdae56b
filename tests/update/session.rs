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
    desk::{Desk, dataset, page, settings},
    scene::paint,
};

fn saved(desk: &Desk) -> SavedSession {
    match desk.kept.get(&StateKey::Session) {
        Some(StateValue::Session(session)) => session.clone(),
        other => panic!("{other:?}"),
    }
}

/// Starts with two datasets after a session.
fn continued(session: SavedSession) -> Desk {
    let mut desk = Desk::new();
    let setup = Setup {
        session: Some(session),
        ..Setup::new(SafeText::name("local"), settings(), Keymap::built_in().unwrap())
    };
    desk.app = App::new(setup);
    desk.open.clear();
    desk.wait(0);
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    desk.answer(Lane::Datasets, Payload::Datasets(list, 0));
    desk
}

#[test]
fn the_dataset_the_tabs_and_the_tile_size_come_back() {
    let mut desk = Desk::new();
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    desk.answer(Lane::Datasets, Payload::Datasets(list, 0));
    desk.answer_page(page(0, 9));
    desk.press("1 j enter");
    desk.answer_page(page(20, 9));
    desk.press("ctrl-t c");
    desk.type_text("a van");
    desk.press("enter +");
    let search = desk.app.results().view().unwrap().search.clone();
    let session = saved(&desk);
    assert_eq!((session.tabs.len(), session.active_tab), (2, 1));
    let desk = continued(session);
    assert_eq!(desk.app.results().view().unwrap().search, search);
    assert_eq!((desk.app.results().tab_count(), desk.app.panes().tile_size), (2, TileSize::Large));
    let loads = |request: &&Request| matches!(request, Request::Explore(open) if *open == search);
    assert!(desk.requests().iter().any(loads));
}

#[test]
fn a_dataset_that_is_gone_is_replaced_by_the_first() {
    let gone = DatasetId(Uuid::from_u128(77));
    let tab = tessera_model::HistoryEntry::new(Search::browse(gone));
    let session = SavedSession { dataset: Some(gone), tabs: vec![tab], ..SavedSession::default() };
    let desk = continued(session);
    assert_eq!(desk.app.results().view().unwrap().search.dataset, DatasetId(Uuid::from_u128(1)));
    assert_eq!(desk.app.panes().tile_size, TileSize::Medium);
}

#[test]
fn results_of_an_uploaded_picture_are_left_to_the_history() {
    let mut desk = Desk::with_clusters(9);
    desk.press("F");
    desk.type_text("~/a.jpg");
    desk.press("enter");
    let anchor = tessera_model::Anchor {
        media: tessera_model::MediaId(Uuid::from_u128(7)),
        kind: tessera_model::AnchorKind::Upload,
    };
    desk.answer(Lane::Anchor, Payload::Anchor(anchor));
    assert!(saved(&desk).tabs.is_empty());
    desk.press("esc");
    assert_eq!(saved(&desk).tabs.len(), 1);
}

#[test]
fn the_cursor_of_each_tab_comes_back() {
    let mut desk = Desk::with_clusters(9);
    desk.press("j j");
    desk.press("ctrl-t");
    desk.press("j j j j j");
    desk.wait(2);
    let session = saved(&desk);
    let at = [0, 1].map(|tab| desk.app.results().tabs().unwrap().all()[tab].view.cursor);
    assert!(at[0] > 0 && at[1] > at[0], "{at:?}");
    assert_eq!(session.cursors, at);
    let mut desk = continued(session);
    desk.answer_page(page(0, 9));
    assert_eq!(desk.app.results().view().unwrap().cursor, at[1]);
    let name = desk.app.results().preview().unwrap().file_name.to_string();
    assert_eq!(name, format!("{}.jpg", 10 * at[1]), "the detail is of this cluster");
}

#[test]
fn a_moving_cursor_is_saved_at_once_and_then_from_time_to_time() {
    let mut desk = Desk::with_clusters(9);
    desk.wait(9);
    let cursor = |desk: &Desk| saved(desk).cursors[0];
    desk.press("j");
    let first = cursor(&desk);
    assert_eq!(first, desk.app.results().view().unwrap().cursor);
    desk.press("j j");
    assert_eq!(cursor(&desk), first, "not on every key");
    assert!(desk.other.iter().any(|effect| matches!(effect, Effect::WakeAt(_))));
    desk.wait(2);
    assert_eq!(cursor(&desk), desk.app.results().view().unwrap().cursor);
}

#[test]
fn the_cursor_of_a_sorted_page_is_saved_by_its_place_on_the_page() {
    let mut desk = Desk::with_clusters(9);
    desk.press(", 7");
    let place = desk.app.results().visible_clusters()[0].index;
    assert!(place > 0);
    desk.press("g g");
    desk.wait(2);
    assert_eq!(saved(&desk).cursors, [place]);
}

/// Searches by a file, then by a caption.
fn searched(protocol: Protocol) -> Desk {
    let mut desk = Desk::with_clusters(9);
    desk.happen(Event::Terminal(protocol, (10, 20)));
    desk.press("F");
    desk.type_text("~/a.jpg");
    desk.press("enter");
    let anchor = Anchor { media: MediaId(Uuid::from_u128(7)), kind: AnchorKind::Upload };
    desk.answer(Lane::Anchor, Payload::Anchor(anchor));
    desk.answer_page(page(20, 4));
    desk.press("c");
    desk.type_text("a van");
    desk.press("enter");
    desk.answer_page(page(50, 4));
    paint(&mut desk);
    desk
}

fn requested(desk: &Desk) -> Vec<PictureSubject> {
    let lanes = desk.open.iter().filter_map(|(ticket, _)| match &ticket.lane {
        Lane::Picture(view, _) => Some(view.subject.clone()),
        _ => None,
    });
    lanes.collect()
}

#[test]
fn a_search_by_a_file_shows_the_file_and_another_its_first_result() {
    let mut desk = searched(Protocol::Kitty);
    desk.press("H");
    let first_result = PictureSubject::Media(MediaId(Uuid::from_u128(100_500)));
    assert_eq!(requested(&desk), [first_result]);
    desk.press("down");
    assert_eq!(requested(&desk), [PictureSubject::File("/home/me/a.jpg".into())]);
    paint(&mut desk);
    desk.press("up down");
    assert_eq!(requested(&desk), [], "it is kept");
}

#[test]
fn a_search_by_a_media_item_shows_that_item() {
    let mut desk = searched(Protocol::Kitty);
    desk.press("l f");
    desk.answer_page(page(70, 4));
    paint(&mut desk);
    desk.press("H");
    assert_eq!(requested(&desk), [PictureSubject::Media(MediaId(Uuid::from_u128(100_510)))]);
}

#[test]
fn without_pictures_the_list_has_the_whole_dialog() {
    let mut desk = searched(Protocol::None);
    desk.press("H");
    assert_eq!(requested(&desk), []);
    let Some(list) = desk.app.dialog::<CommandList>() else { panic!("no list is open") };
    let inside = list_area(&desk);
    assert_eq!(list.areas(inside), (inside, None));
}

fn list_area(desk: &Desk) -> ratatui::layout::Rect {
    desk.app.overlay_area().unwrap()
}
