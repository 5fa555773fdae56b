//! Finding one's way: the menu of actions, the palette, the help, what is copied and logged.

use tessera::{
    app::{Event, Mouse, MouseKind, Overlay, Pane},
    input::Action,
    message::{Answer, Lane},
    model::Status,
};

use crate::desk::{Desk, dataset, page};

/// A desk with one dataset of this status open.
fn standing(status: Status) -> Desk {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Answer::Datasets(vec![dataset(1, status)], 0));
    desk.answer_page(page(0, 9));
    desk
}

/// The lines of the open menu: name and whether it is refused.
fn menu(desk: &Desk) -> Vec<(Action, bool)> {
    let Some(Overlay::Menu(menu)) = &desk.app.overlay else { panic!("no menu is open") };
    menu.pick.choices().iter().map(|choice| (choice.value, choice.refused)).collect()
}

#[test]
fn m14_the_menu_lists_what_is_forbidden_with_its_reason() {
    let mut desk = standing(Status::Indexing);
    desk.press(".");
    assert!(menu(&desk).contains(&(Action::Export, true)));
    assert!(menu(&desk).contains(&(Action::Refresh, false)));
    let Some(Overlay::Menu(open)) = &desk.app.overlay else { unreachable!() };
    let export = open.pick.choices().iter().find(|choice| choice.value == Action::Export).unwrap();
    assert!(export.note.as_str().contains("busy indexing"), "{}", export.note);
}

#[test]
fn p65_a_forbidden_line_explains_itself_and_offers_a_step() {
    let mut desk = standing(Status::Indexing);
    desk.press(".");
    desk.type_text("Export the dataset");
    desk.press("enter");
    let Some(Overlay::Menu(explained)) = &desk.app.overlay else { panic!("it is explained") };
    assert!(explained.title.as_str().contains("busy indexing"), "{}", explained.title);
    assert_eq!(menu(&desk), [(Action::Refresh, false), (Action::Menu, false)]);
    desk.press("enter");
    assert!(desk.app.overlay.is_none());
    desk.take(|lane| *lane == Lane::Datasets);
}

#[test]
fn a_right_click_opens_the_menu_of_what_is_under_it() {
    let mut desk = standing(Status::Ready);
    let area = desk.app.areas().datasets.unwrap();
    let at = Mouse { column: area.x + 3, row: area.y + 1, kind: MouseKind::RightClick };
    desk.happen(Event::Mouse(at));
    assert_eq!(desk.app.focus, Pane::Datasets);
    assert!(!menu(&desk).is_empty());
    desk.press("esc");
    assert!(desk.app.overlay.is_none());
}
