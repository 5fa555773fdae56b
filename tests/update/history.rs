//! Tests the picture beside the selected past search.

use tessera_interface::{
    app::{Event, overlay::command_list::CommandList},
    message::{Lane, Payload},
};
use tessera_model::{Anchor, AnchorKind, MediaId};
use tessera_picture::{PictureSubject, Protocol};
use uuid::Uuid;

use crate::support::{
    desk::{Desk, page},
    scene::paint,
};

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
