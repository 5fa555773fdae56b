//! Tests the mosaic: rows of pictures with the same height, whose widths follow from the sizes that the service states.

use proptest::prelude::*;
use ratatui::layout::Rect;
use tessera_config::{TileLayout, input::Keymap};
use tessera_interface::app::{App, Event, Mouse, MouseKind, Pane, Setup, pane::inner_area};
use tessera_interface::message::{Lane, Payload};
use tessera_model::{SafeText, SavedSession, StateKey, StateValue, Status};
use tessera_picture::Protocol;

use crate::support::{
    app_harness::{AppHarness, dataset, page, settings},
    scene::paint,
};

const LANDSCAPE: (u32, u32) = (1_200, 800);
const PORTRAIT: (u32, u32) = (600, 900);

/// Shows the mosaic of pictures with these sizes.
fn mosaic((columns, rows): (u16, u16), sizes: &[Option<(u32, u32)>]) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let mut pictures = page(0, sizes.len());
    for (cluster, size) in pictures.clusters.iter_mut().zip(sizes) {
        cluster.previews[0].dimensions = *size;
    }
    harness.answer_page(pictures);
    harness.press("g r");
    harness
}

/// Returns the areas of the visible tiles and of their pictures, in the order of the tiles.
fn visible_tiles(harness: &AppHarness) -> Vec<(Rect, Rect)> {
    let grid = harness.app.grid().unwrap();
    let tiles = grid.visible().map(|tile| (tile, grid.tile_area(tile).unwrap()));
    tiles.map(|(tile, area)| (area, grid.picture_area(tile, area))).collect()
}

/// Returns the visible tiles and pictures, row by row.
fn visible_rows(harness: &AppHarness) -> Vec<Vec<(Rect, Rect)>> {
    let tiles = visible_tiles(harness);
    tiles.chunk_by(|(one, _), (other, _)| one.y == other.y).map(<[_]>::to_vec).collect()
}

fn cursor(harness: &AppHarness) -> usize {
    harness.app.results().tile_cursor().tile
}

#[test]
fn the_pictures_of_a_row_have_one_height_and_the_widths_of_their_shapes() {
    let harness = mosaic((120, 40), &[Some(LANDSCAPE), Some(PORTRAIT)].repeat(50));
    for row in visible_rows(&harness) {
        let heights: Vec<u16> = row.iter().map(|(_, picture)| picture.height).collect();
        assert!(heights.iter().all(|height| *height == heights[0]), "{heights:?}");
        for pair in row.windows(2) {
            let [one, other] = [pair[0].0.width, pair[1].0.width].map(f64::from);
            let ratio = if one > other { one / other } else { other / one };
            assert!((1.8..=2.8).contains(&ratio), "{one} and {other}");
        }
    }
}

#[test]
fn pictures_that_arrive_move_nothing() {
    let mut harness = mosaic((120, 40), &[None, Some(PORTRAIT), Some(LANDSCAPE)].repeat(20));
    let before = visible_tiles(&harness);
    paint(&mut harness);
    assert_eq!(visible_tiles(&harness), before);
}

#[test]
fn few_pictures_are_as_large_as_the_screen_allows() {
    let height = |count| {
        let harness = mosaic((200, 60), &vec![Some(PORTRAIT); count]);
        assert_eq!(visible_tiles(&harness).len(), count, "all are visible");
        visible_tiles(&harness)[0].1.height
    };
    let heights = [3, 12, 40].map(height);
    assert!(heights[0] > heights[1] && heights[1] > heights[2], "{heights:?}");
}

#[test]
fn a_tile_has_a_single_picture_and_a_click_selects_it() {
    let mut harness = mosaic((120, 40), &[Some(LANDSCAPE), Some(PORTRAIT), None].repeat(20));
    let grid = harness.app.grid().unwrap();
    let area = grid.tile_area(4).unwrap();
    let tiles = harness.app.results().tiles();
    assert_eq!(grid.pictures(&harness.app, 4, area, &tiles[4]).len(), 1);
    let click = Mouse { column: area.x + 1, row: area.y + 1, kind: MouseKind::Click };
    harness.happen(Event::Mouse(click));
    assert_eq!(cursor(&harness), 4);
}

#[test]
fn the_keys_of_rows_go_to_the_picture_above_or_below() {
    let mut harness = mosaic((120, 40), &[Some(LANDSCAPE), Some(PORTRAIT), None].repeat(30));
    let middle = |harness: &AppHarness| {
        let area = harness.app.grid().unwrap().tile_area(cursor(harness)).unwrap();
        (area.x + area.width / 2, area.y)
    };
    harness.press("l l");
    let (column, row) = middle(&harness);
    harness.press("j");
    let below = middle(&harness);
    assert!(below.1 > row && below.0.abs_diff(column) <= 10, "{column} and {below:?}");
    harness.press("k");
    assert_eq!(middle(&harness).1, row);
    harness.press("k");
    assert_eq!(cursor(&harness), 0, "there is no row above");
}

#[test]
fn more_members_leave_the_rows_that_are_shown() {
    let mut harness = mosaic((120, 40), &[Some(LANDSCAPE)]);
    let mut members = page(0, 1);
    let preview = members.clusters[0].previews[0].clone();
    let mut with_members = |count: usize| {
        members.clusters[0].previews = vec![preview.clone(); count];
        for (member, size) in members.clusters[0].previews.iter_mut().zip((1u32..).step_by(7)) {
            member.dimensions = Some((400 + size * 13 % 900, 600));
        }
        harness.press("r");
        harness.answer_page(members.clone());
        if !harness.app.results().shows_members() {
            harness.press("enter");
        }
        visible_tiles(&harness)
    };
    let few = with_members(60);
    assert!(few.len() < 50, "the members continue below the screen");
    assert_eq!(with_members(90), few);
}

#[test]
fn the_layout_is_a_setting_and_the_last_choice_comes_back() {
    let layout = |setting, session: Option<SavedSession>| {
        let mut settings = settings();
        settings.ui.layout = setting;
        let setup = Setup {
            session,
            ..Setup::new(SafeText::name("x"), settings, Keymap::built_in().unwrap())
        };
        App::new(setup).panes().tile_layout
    };
    assert_eq!(TileLayout::ALL.map(|setting| layout(setting, None)), TileLayout::ALL);
    let mut harness = mosaic((120, 40), &[None; 9]);
    let saved = |harness: &AppHarness| match harness.kept.get(&StateKey::Session) {
        Some(StateValue::Session(session)) => session.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(layout(TileLayout::Grid, Some(saved(&harness))), TileLayout::Mosaic);
    harness.press("g r");
    assert_eq!(saved(&harness).tile_layout, None, "the choice is that of the settings again");
}

proptest! {
    #[test]
    fn rows_fill_the_width_in_order_and_keys_reach_every_tile(
        columns in 60u16..=240, rows in 16u16..=70,
        sizes in prop::collection::vec(prop::option::of((1u32..6_000, 1u32..6_000)), 1..=100),
        cell in prop::sample::select(vec![(10u16, 20u16), (8, 16), (9, 18), (12, 24)]),
        key in prop::sample::select(vec!["l", "j", "ctrl-d"]),
    ) {
        let mut harness = mosaic((columns, rows), &sizes);
        harness.happen(Event::Terminal(Protocol::HalfBlock, cell));
        prop_assert!(!harness.app.grid().unwrap().is_list());
        let pane = inner_area(harness.app.areas().pane(Pane::Results).unwrap());
        let mut before = (0, None);
        loop {
            let grid = harness.app.grid().unwrap();
            let tiles = visible_rows(&harness);
            let last_row = grid.visible().end == sizes.len();
            for (index, row) in tiles.iter().enumerate() {
                let (first, last) = (row[0].0, row[row.len() - 1].0);
                prop_assert_eq!(first.x, pane.x + 1);
                prop_assert!(last.right() < pane.right());
                if !last_row || index + 1 < tiles.len() {
                    prop_assert!(last.right() + 2 >= pane.right(), "{} of {}", last, pane);
                }
                prop_assert!(row.iter().all(|(_, picture)| picture.height == row[0].1.height));
                prop_assert!(row.windows(2).all(|pair| pair[0].0.right() < pair[1].0.x));
            }
            prop_assert!(tiles.windows(2).all(|pair| pair[0][0].0.bottom() < pair[1][0].0.y));
            prop_assert!(grid.tile_area(cursor(&harness)).is_some(), "the cursor is visible");
            if key == "l" {
                prop_assert_eq!(cursor(&harness), before.1.map_or(0, |tile: usize| tile + 1));
            }
            if cursor(&harness) + 1 == sizes.len() {
                break;
            }
            before = (before.0 + 1, Some(cursor(&harness)));
            prop_assert!(before.0 <= sizes.len(), "the last tile is not reached");
            harness.press(key);
        }
    }
}
