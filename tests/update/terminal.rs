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

use crate::support::app_harness::{AppHarness, page};

fn pictures(harness: &AppHarness) -> usize {
    harness.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..))).count()
}

#[test]
fn scrolling_ten_pages_leaves_no_download_off_screen() {
    let mut harness = AppHarness::with_clusters(100);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let at_first = pictures(&harness);
    assert!(at_first > 1, "pictures are asked for");
    for number in 1..=10 {
        harness.press("ctrl-d");
        harness.press("n");
        harness.answer_page(page(number * 100, 100));
    }
    let on_screen = harness.app.grid().map(|grid| grid.visible().len()).unwrap_or_default();
    // The pictures are those of the grid, the one of the detail, and three of its strip.
    assert!(pictures(&harness) <= on_screen + 1 + 3, "{} are under way", pictures(&harness));
    assert!(
        harness.cancelled.len() >= 10 * (at_first - 1),
        "{} cancelled",
        harness.cancelled.len()
    );
    let shown: Vec<_> = harness.app.results().page().unwrap().clusters.iter().collect();
    for (ticket, _) in &harness.open {
        let Lane::Picture(sight, _) = &ticket.lane else { continue };
        let is_seen = |one: &Preview| PictureView::from(one.media) == *sight;
        let is_here = shown.iter().any(|each| each.previews.iter().any(is_seen));
        assert!(is_here, "{sight:?} is not of this page");
    }
}

#[test]
fn a_sixel_picture_is_as_large_as_the_terminal_draws() {
    let mut harness = AppHarness::with_clusters(3);
    let cells = |harness: &AppHarness| {
        let canvas = harness.app.screen().canvas(300, 150);
        (canvas.columns, canvas.rows)
    };
    harness.happen(Event::Terminal(Protocol::Sixel, (10, 20)));
    assert_eq!(cells(&harness), (100, 50));
    harness.happen(Event::SixelSide(2_400));
    assert_eq!(cells(&harness), (240, 120));
    harness.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    assert_eq!(cells(&harness), (300, 150));
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
    let mut harness = AppHarness::with_clusters(3);
    harness.happen(Event::Terminal(Protocol::Kitty, (10, 20)));
    harness.happen(Event::PixelsUnconfirmed);
    assert!(harness.app.dialog::<GraphicsCheck>().is_some());
    harness.press("x b");
    assert!(harness.app.overlay().is_none());
    assert_eq!(harness.app.screen().protocol, Protocol::HalfBlock);
    assert!(harness.other.contains(&Effect::SaveProtocol(Protocol::HalfBlock)));
    harness.press("g p n");
    assert_eq!(harness.app.screen().protocol, Protocol::None);
    // Half-blocks are available everywhere, so they are used next.
    harness.press("g p y");
    assert_eq!(harness.app.screen().protocol, Protocol::HalfBlock);
}

#[test]
fn ctrl_z_suspends_from_everything_that_takes_keys_and_changes_nothing_there() {
    for keys in ["?", ":", "c r e d", "ctrl-o", "3 tab", "3 w a"] {
        let mut harness = AppHarness::with_clusters(3);
        harness.press(keys);
        let state = |harness: &AppHarness| {
            let draft = harness.app.query().draft(harness.app.results());
            format!("{:?} {} {draft:?}", harness.app.overlay(), harness.app.jump_mode())
        };
        let before = state(&harness);
        harness.press("ctrl-z");
        assert_eq!(harness.other.last(), Some(&Effect::Suspend), "{keys}");
        assert_eq!(state(&harness), before, "{keys}");
    }
}

#[test]
fn the_test_picture_does_not_cover_an_overlay() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("?");
    harness.happen(Event::PixelsUnconfirmed);
    assert!(harness.app.dialog::<Help>().is_some());
}
