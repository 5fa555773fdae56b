//! Tests terminals: no requests are left behind, and no action needs a key that a keyboard lacks.

use tessera_config::input::{Action, KeyContext, Keymap};
use tessera_interface::{
    app::{
        Effect, Event,
        overlay::{graphics_check::GraphicsCheck, help::Help},
    },
    message::Lane,
};
use tessera_model::Preview;
use tessera_picture::{PictureView, Protocol};

use crate::support::desk::{Desk, page};

fn pictures(desk: &Desk) -> usize {
    desk.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..))).count()
}

#[test]
fn scrolling_ten_pages_leaves_no_download_off_screen() {
    let mut desk = Desk::with_clusters(100);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let at_first = pictures(&desk);
    assert!(at_first > 1, "pictures are asked for");
    for number in 1..=10 {
        desk.press("ctrl-d");
        desk.press("n");
        desk.answer_page(page(number * 100, 100));
    }
    let on_screen = desk.app.grid().map(|grid| grid.visible().len()).unwrap_or_default();
    // The pictures are those of the grid, the one of the detail, and three of its strip.
    assert!(pictures(&desk) <= on_screen + 1 + 3, "{} are under way", pictures(&desk));
    assert!(desk.cancelled.len() >= 10 * (at_first - 1), "{} cancelled", desk.cancelled.len());
    let shown: Vec<_> = desk.app.results().page().unwrap().clusters.iter().collect();
    for (ticket, _) in &desk.open {
        let Lane::Picture(sight, _) = &ticket.lane else { continue };
        let is_seen = |one: &Preview| PictureView::from(one.media) == *sight;
        let is_here = shown.iter().any(|each| each.previews.iter().any(is_seen));
        assert!(is_here, "{sight:?} is not of this page");
    }
}

#[test]
fn a_sixel_picture_is_as_large_as_the_terminal_draws() {
    let mut desk = Desk::with_clusters(3);
    let cells = |desk: &Desk| {
        let canvas = desk.app.screen().canvas(300, 150);
        (canvas.columns, canvas.rows)
    };
    desk.happen(Event::Terminal(Protocol::Sixel, (10, 20)));
    assert_eq!(cells(&desk), (100, 50));
    desk.happen(Event::SixelSide(2_400));
    assert_eq!(cells(&desk), (240, 120));
    desk.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    assert_eq!(cells(&desk), (300, 150));
}

#[test]
fn every_action_has_a_key_on_every_keyboard() {
    let keymap = Keymap::built_in().unwrap();
    let contexts: Vec<KeyContext> = keymap.contexts().collect();
    for &action in Action::ALL {
        let keys = keymap.keys_of(&contexts, action);
        let is_rare = |keys: &String| keys.chars().any(|c| "[]{}|\\~".contains(c));
        let all: Vec<String> = keys.iter().map(ToString::to_string).collect();
        assert!(!all.iter().all(is_rare), "{} has only {all:?}", action.name());
    }
}

#[test]
fn the_test_picture_is_shown_once_and_its_result_saved() {
    let mut desk = Desk::with_clusters(3);
    desk.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    desk.happen(Event::PixelsUnconfirmed);
    assert!(desk.app.dialog::<GraphicsCheck>().is_some());
    desk.press("x b");
    assert!(desk.app.overlay().is_none());
    assert_eq!(desk.app.screen().protocol, Protocol::HalfBlock);
    assert!(desk.other.contains(&Effect::SaveProtocol(Protocol::HalfBlock)));
    desk.press("g p n");
    assert_eq!(desk.app.screen().protocol, Protocol::None);
    // Half-blocks are available everywhere, so they are used next.
    desk.press("g p y");
    assert_eq!(desk.app.screen().protocol, Protocol::HalfBlock);
}

#[test]
fn ctrl_z_suspends_from_everything_that_takes_keys_and_changes_nothing_there() {
    for keys in ["?", ":", "c r e d", "ctrl-o", "3 tab", "3 w a"] {
        let mut desk = Desk::with_clusters(3);
        desk.press(keys);
        let state = |desk: &Desk| {
            let draft = desk.app.query().draft(desk.app.results());
            format!("{:?} {} {draft:?}", desk.app.overlay(), desk.app.jump_mode())
        };
        let before = state(&desk);
        desk.press("ctrl-z");
        assert_eq!(desk.other.last(), Some(&Effect::Suspend), "{keys}");
        assert_eq!(state(&desk), before, "{keys}");
    }
}

#[test]
fn the_test_picture_does_not_cover_an_overlay() {
    let mut desk = Desk::with_clusters(3);
    desk.press("?");
    desk.happen(Event::PixelsUnconfirmed);
    assert!(desk.app.dialog::<Help>().is_some());
}
