//! The layout: valid for every size, and clicks match it.

use proptest::prelude::*;
use tessera::{
    app::{App, Event, Mouse, MouseKind, Pane, Setup, tile_grid::TileGrid},
    config::TileSize,
    input::Keymap,
};
use tessera_model::SafeText;
use tessera_picture::Protocol;

use crate::support::desk::Desk;

#[test]
fn panes_by_size() {
    let mut desk = Desk::with_clusters(9);
    let areas = desk.app.areas();
    assert!(areas.tabs.is_none() && areas.datasets.is_some() && areas.detail.is_some());
    desk.happen(Event::Resize(80, 24));
    let areas = desk.app.areas();
    assert!(areas.tabs.is_some() && areas.results.is_some() && areas.detail.is_none());
    desk.press("z");
    desk.happen(Event::Resize(120, 40));
    assert!(desk.app.areas().datasets.is_none(), "zoomed");
    desk.press("esc");
    assert!(desk.app.areas().datasets.is_some());
}

#[test]
fn the_side_panes_are_resized_within_limits() {
    let mut desk = Desk::with_clusters(9);
    let width = |desk: &Desk| desk.app.areas().datasets.unwrap().width;
    let usual = width(&desk);
    desk.press(") )");
    assert!(width(&desk) > usual);
    for _ in 0..20 {
        desk.press(")");
    }
    assert!(desk.app.areas().results.unwrap().width >= 40);
    for _ in 0..40 {
        desk.press("(");
    }
    assert!(width(&desk) < usual && width(&desk) >= 20);
}

#[test]
fn tiles_have_the_configured_size_and_change_by_a_key() {
    let begun = |tile| {
        let setup = Setup {
            tile_size: tile,
            ..Setup::new(SafeText::name("x"), Keymap::built_in().unwrap())
        };
        App::new(setup).tile_size
    };
    assert_eq!(TileSize::ALL.map(begun), TileSize::ALL);
    let mut desk = Desk::with_clusters(60);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let usual = desk.app.grid().unwrap().columns;
    desk.press("+");
    assert_eq!(desk.app.tile_size, TileSize::Large);
    assert!(desk.app.grid().unwrap().columns < usual);
    desk.press("- -");
    assert_eq!(desk.app.tile_size, TileSize::Small);
    assert!(desk.app.grid().unwrap().columns > usual);
}

#[test]
fn a_click_on_a_tile_selects_it_and_a_second_one_opens() {
    let mut desk = Desk::with_clusters(9);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let tile = desk.app.grid().unwrap().tile_area(1).unwrap();
    let click = Event::Mouse(Mouse { column: tile.x + 2, row: tile.y + 1, kind: MouseKind::Click });
    desk.happen(click.clone());
    assert_eq!((desk.app.view().unwrap().cursor, desk.app.focus), (1, Pane::Results));
    desk.happen(click);
    assert!(desk.app.shows_members());
}

#[test]
fn the_wheel_moves_the_pane_under_it() {
    let mut desk = Desk::with_clusters(60);
    let area = desk.app.areas().results.unwrap();
    desk.press("1");
    let wheel = Mouse { column: area.x + 3, row: area.y + 3, kind: MouseKind::WheelDown };
    desk.happen(Event::Mouse(wheel));
    assert_eq!(desk.app.focus, Pane::Results);
    assert!(desk.app.view().unwrap().cursor > 0);
}

proptest! {
    #[test]
    fn any_size_and_any_click_is_handled(
        columns in 0u16..600, rows in 0u16..300, x in any::<u16>(), y in any::<u16>(), keys in "[hjkl1234z+?<>]{0,9}",
    ) {
        let mut desk = Desk::with_clusters(40);
        desk.happen(Event::Terminal(Protocol::HalfBlock, (0, 0)));
        desk.happen(Event::Resize(columns, rows));
        for key in keys.chars() {
            desk.press(key.encode_utf8(&mut [0; 4]));
        }
        for kind in [MouseKind::Click, MouseKind::Click, MouseKind::WheelDown, MouseKind::WheelUp] {
            desk.happen(Event::Mouse(Mouse { column: x, row: y, kind }));
        }
        let screen = ratatui::layout::Rect::new(0, 0, columns, rows);
        if let Some(results) = desk.app.areas().results {
            let grid = TileGrid::new(&desk.app, results);
            for tile in (0..grid.columns * grid.rows).filter_map(|place| grid.tile_area(place)) {
                prop_assert_eq!(tile.intersection(screen), tile);
            }
        }
    }
}
