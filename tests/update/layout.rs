//! Tests the layout: it is valid for every size, and clicks match it.

use proptest::prelude::*;
use ratatui::layout::{Margin, Rect};
use tessera_config::{TileSize, input::Keymap};
use tessera_interface::{
    app::{
        App, Event, Mouse, MouseKind, Pane, Setup, areas::DetailLayout, jobs::rows::JobRows,
        pane::inner_area, tile_grid::TileGrid,
    },
    message::{JobId, Lane, Payload},
};
use tessera_model::{FailureKind, SafeText, Status};
use tessera_picture::Protocol;

use crate::support::app_harness::{AppHarness, dataset, page, settings};

#[test]
fn panes_by_size() {
    let mut harness = AppHarness::with_clusters(9);
    let areas = harness.app.areas();
    assert!(
        areas.tabs.is_none()
            && areas.pane(Pane::Datasets).is_some()
            && areas.pane(Pane::Detail).is_some()
    );
    harness.happen(Event::Resize(80, 24));
    let areas = harness.app.areas();
    assert!(
        areas.tabs.is_some()
            && areas.pane(Pane::Results).is_some()
            && areas.pane(Pane::Detail).is_none()
    );
    harness.press("z");
    harness.happen(Event::Resize(120, 40));
    assert!(harness.app.areas().pane(Pane::Datasets).is_none(), "zoomed");
    harness.press("esc");
    assert!(harness.app.areas().pane(Pane::Datasets).is_some());
}

#[test]
fn the_side_panes_are_resized_within_limits() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("g s");
    let width = |harness: &AppHarness| harness.app.areas().pane(Pane::Datasets).unwrap().width;
    let usual = width(&harness);
    harness.press(") )");
    assert!(width(&harness) > usual);
    for _ in 0..20 {
        harness.press(")");
    }
    assert!(harness.app.areas().pane(Pane::Results).unwrap().width >= 40);
    for _ in 0..40 {
        harness.press("(");
    }
    assert!(width(&harness) < usual && width(&harness) >= 20);
}

#[test]
fn tiles_have_the_configured_size_and_change_by_a_key() {
    let begun = |tile| {
        let mut settings = settings();
        settings.ui.tile = tile;
        App::new(Setup::new(SafeText::name("x"), settings, Keymap::built_in().unwrap()))
            .panes()
            .tile_size
    };
    assert_eq!(TileSize::ALL.map(begun), TileSize::ALL);
    let mut harness = AppHarness::with_clusters(60);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let usual = harness.app.grid().unwrap().columns();
    harness.press("+");
    assert_eq!(harness.app.panes().tile_size, TileSize::Large);
    assert!(harness.app.grid().unwrap().columns() < usual);
    harness.press("- -");
    assert_eq!(harness.app.panes().tile_size, TileSize::Small);
    assert!(harness.app.grid().unwrap().columns() > usual);
}

/// Creates a core of this size with a page of clusters, whose pictures are shown in cells of this
/// size.
fn shown(size: (u16, u16), count: usize, cell: (u16, u16)) -> AppHarness {
    let mut harness = AppHarness::with_clusters(count);
    harness.happen(Event::Terminal(Protocol::HalfBlock, cell));
    harness.happen(Event::Resize(size.0, size.1));
    harness
}

/// Returns the visible tiles with their margins.
fn visible_tiles(harness: &AppHarness) -> Vec<Rect> {
    let grid = harness.app.grid().unwrap();
    let count = harness.app.results().tiles().len();
    let visible = grid.visible().filter(|tile| *tile < count);
    visible.map(|tile| grid.tile_area(tile).unwrap().outer(Margin::new(1, 1))).collect()
}

/// Returns the share of the cells below the query's line that belong to a tile or its margin.
fn used_part(harness: &AppHarness) -> f64 {
    let results = inner_area(harness.app.areas().pane(Pane::Results).unwrap());
    let below = Rect { y: results.y + 1, height: results.height - 1, ..results };
    let tiles = visible_tiles(harness);
    let used = below.positions().filter(|at| tiles.iter().any(|tile| tile.contains(*at))).count();
    f64::from(u32::try_from(used).unwrap()) / f64::from(below.area())
}

#[test]
fn a_short_result_fills_the_pane_with_larger_tiles() {
    let smallest = |count| {
        let harness = shown((200, 60), count, (10, 20));
        visible_tiles(&harness).iter().map(|tile| tile.area()).min().unwrap()
    };
    assert!(smallest(6) > 3 * smallest(100), "{} and {}", smallest(6), smallest(100));
    assert!(smallest(1) > smallest(2) && smallest(2) > smallest(6));
}

#[test]
fn the_rows_of_a_short_result_differ_by_one_tile_and_vertical_keys_follow_them() {
    let mut harness = shown((200, 60), 5, (10, 20));
    let rows: Vec<u16> = visible_tiles(&harness).iter().map(|tile| tile.y).collect();
    assert!(rows[0] < rows[4] && rows[0] == rows[1]);
    let first_of_next = rows.iter().position(|row| *row > rows[0]).unwrap();
    harness.press("j");
    assert_eq!(harness.app.results().view().unwrap().cursor, first_of_next);
    harness.press("l k");
    assert_eq!(harness.app.results().view().unwrap().cursor, 1);
}

#[test]
fn the_tiles_stay_while_a_filter_is_typed_and_grow_when_it_is_accepted() {
    let mut harness = shown((120, 40), 100, (10, 20));
    let before = harness.app.grid().unwrap().columns();
    harness.press("/");
    harness.type_text("12.jpg");
    assert_eq!(
        (harness.app.grid().unwrap().columns(), harness.app.results().tiles().len()),
        (before, 10)
    );
    harness.press("enter");
    assert!(harness.app.grid().unwrap().visible().len() < 20, "the short result grows");
}

#[test]
fn the_rows_of_a_short_list_have_more_lines() {
    let height = |count| {
        let harness = shown((50, 14), count, (10, 20));
        let grid = harness.app.grid().unwrap();
        assert!(grid.is_list());
        grid.tile_area(0).unwrap().height
    };
    assert_eq!([1, 2, 3, 7, 100].map(height), [6, 3, 2, 1, 1]);
}

#[test]
fn nothing_moves_when_a_job_starts_or_a_search_has_filters() {
    let mut harness = AppHarness::with_clusters(9);
    let idle = harness.app.areas();
    assert_eq!(idle.pane(Pane::Jobs).unwrap().height, 1);
    harness.press("e enter");
    assert_eq!(harness.app.areas(), idle, "an export starts");
    harness.fail(Lane::StartJob(JobId(0)), FailureKind::Invalid);
    harness.press("3 a 6 0 . 5 f5");
    harness.answer_page(page(0, 9));
    harness.press("2");
    assert_eq!(harness.app.areas(), idle, "the search has a filter");
    // The list of jobs takes the place of the results, and nothing else moves.
    harness.press("4");
    let jobs = harness.app.areas();
    assert!(jobs.pane(Pane::Jobs).unwrap().height > 20 && jobs.pane(Pane::Results).is_none());
    assert_eq!(
        (jobs.pane(Pane::Datasets), jobs.status, jobs.chips),
        (idle.pane(Pane::Datasets), idle.status, idle.chips)
    );
}

#[test]
fn the_query_builder_beside_the_detail_is_a_line_without_the_focus() {
    let mut harness = shown((200, 60), 9, (10, 20));
    let rows = |harness: &AppHarness| harness.app.areas().pane(Pane::Query).unwrap().height;
    let idle = harness.app.areas();
    assert_eq!(rows(&harness), 1);
    harness.press("3");
    assert!(rows(&harness) > 10);
    assert!(
        harness.app.areas().pane(Pane::Detail).unwrap().height
            < idle.pane(Pane::Detail).unwrap().height
    );
    harness.press("a 1");
    harness.type_text("van");
    harness.press("esc esc");
    assert_eq!(harness.app.areas(), idle, "the line above the results names the draft");
    harness.press("4");
    assert_eq!(harness.app.areas().pane(Pane::Results), idle.pane(Pane::Results));
    assert!(harness.app.areas().pane(Pane::Jobs).unwrap().height > 10);
}

#[test]
fn the_connection_is_shown_where_the_datasets_leave_rows() {
    let connection = |size| {
        let mut harness = shown(size, 9, (10, 20));
        harness.press("g s");
        harness.app.areas().connection
    };
    assert!(connection((200, 60)).is_some());
    assert!(connection((100, 24)).is_none(), "status and datasets need all rows");
}

#[test]
fn a_single_dataset_is_a_line_until_the_user_wants_its_column() {
    let mut harness = shown((120, 40), 9, (10, 20));
    let line = harness.app.areas();
    assert_eq!(
        (line.pane(Pane::Datasets).unwrap().height, line.pane(Pane::Datasets).unwrap().width),
        (1, 120)
    );
    assert_eq!((line.status, line.connection), (None, None));
    harness.press("1");
    assert_eq!(harness.app.areas(), line, "nothing moves with the focus");
    harness.press("g s");
    let column = harness.app.areas();
    assert!(column.status.is_some() && column.connection.is_some());
    assert!(column.pane(Pane::Results).unwrap().width < line.pane(Pane::Results).unwrap().width);
    let two = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.press("g s r");
    harness.answer(Lane::Datasets, Payload::Datasets(two.clone(), 0));
    assert!(harness.app.areas().status.is_none(), "the user has decided");
    let mut undecided = shown((120, 40), 9, (10, 20));
    undecided.press("r");
    undecided.answer(Lane::Datasets, Payload::Datasets(two, 0));
    assert!(undecided.app.areas().status.is_some());
}

#[test]
fn the_panes_keep_their_sizes_while_a_dialog_is_open() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("e enter ?");
    let busy = harness.app.areas();
    harness.fail(Lane::StartJob(JobId(0)), FailureKind::Invalid);
    assert_eq!(harness.app.areas(), busy, "a job ended");
    harness.wait(30);
    let datasets = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
    assert_eq!(harness.app.areas(), busy, "a dataset was added");
    harness.press("esc");
    let idle = harness.app.areas();
    assert_eq!(
        (idle.pane(Pane::Jobs).unwrap().height, idle.pane(Pane::Datasets).unwrap().height),
        (1, 4),
        "a column"
    );
}

#[test]
fn a_click_selects_a_job_whose_summary_has_several_rows() {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(Event::Resize(80, 24));
    harness.press("e enter e enter 4");
    let rows = JobRows::new(&harness.app, harness.app.areas().pane(Pane::Jobs).unwrap());
    assert_eq!(rows.areas.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1]);
    let (_, second) = rows.areas[1];
    assert!(rows.areas[0].1.height > 1 && second.height > 1);
    let click = |row| Event::Mouse(Mouse { column: 9, row, kind: MouseKind::Click });
    harness.happen(click(second.bottom() - 1));
    assert_eq!(harness.app.jobs().cursor(), 1);
    harness.happen(click(second.bottom() + 3));
    assert_eq!(harness.app.jobs().cursor(), 1, "a blank row");
}

#[test]
fn the_strip_of_the_detail_contains_the_selected_preview_and_a_click_selects_another() {
    let mut harness = AppHarness::with_clusters(1);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let layout = |harness: &AppHarness| {
        DetailLayout::new(&harness.app, harness.app.areas().pane(Pane::Detail).unwrap())
    };
    let strip = layout(&harness).strip;
    assert_eq!(strip.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2]);
    let (_, area) = strip[2];
    harness.happen(Event::Mouse(Mouse { column: area.x, row: area.y, kind: MouseKind::Click }));
    assert_eq!(harness.app.results().view().unwrap().preview_index, 2);
    harness.happen(Event::Resize(100, 24));
    let low = layout(&harness);
    assert!(low.picture.height >= 8);
    assert!(low.strip.is_empty() || low.strip.iter().any(|(index, _)| *index == 2));
}

#[test]
fn a_cluster_is_a_collage_where_the_small_pictures_have_enough_pixels() {
    let pictures_of_a_tile = |protocol, size| {
        let mut harness = shown((200, 60), 100, (10, 20));
        if size == TileSize::Large {
            harness.press("+");
        }
        assert_eq!(harness.app.panes().tile_size, size);
        harness.happen(Event::Terminal(protocol, (10, 20)));
        let grid = harness.app.grid().unwrap();
        let tile = grid.tile_area(0).unwrap();
        let areas: Vec<Rect> = grid
            .pictures(&harness.app, 0, tile, &harness.app.results().tiles()[0])
            .into_iter()
            .map(|(_, area)| area)
            .collect();
        for (index, area) in areas.iter().enumerate() {
            assert_eq!(area.intersection(tile), *area);
            assert!(areas[index + 1..].iter().all(|other| !other.intersects(*area)));
            assert!(area.area() <= areas[0].area());
        }
        areas.len()
    };
    assert_eq!(pictures_of_a_tile(Protocol::Kitty, TileSize::Medium), 3);
    assert_eq!(pictures_of_a_tile(Protocol::Sixel, TileSize::Large), 3);
    assert_eq!(pictures_of_a_tile(Protocol::HalfBlock, TileSize::Large), 3);
    assert_eq!(pictures_of_a_tile(Protocol::HalfBlock, TileSize::Medium), 1);
}

#[test]
fn all_tiles_of_a_short_result_have_small_pictures_or_none() {
    for columns in 90..220 {
        for count in 2..12 {
            let harness = shown((columns, 40), count, (10, 20));
            let grid = harness.app.grid().unwrap();
            let tiles = harness.app.results().tiles();
            let areas =
                (0..count).filter_map(|place| Some((place, grid.tile_area(place)?, &tiles[place])));
            let pictures =
                |(place, area, tile)| grid.pictures(&harness.app, place, area, tile).len().min(2);
            let shown: Vec<usize> = areas.map(pictures).collect();
            assert!(shown.iter().all(|it| *it == shown[0]), "{columns} {count}: {shown:?}");
        }
    }
}

#[test]
fn a_click_on_a_tile_selects_it_and_a_second_one_opens() {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let tile = harness.app.grid().unwrap().tile_area(1).unwrap();
    let click = Event::Mouse(Mouse { column: tile.x + 2, row: tile.y + 1, kind: MouseKind::Click });
    harness.happen(click.clone());
    assert_eq!(
        (harness.app.results().view().unwrap().cursor, harness.app.panes().focus),
        (1, Pane::Results)
    );
    harness.happen(click);
    assert!(harness.app.results().shows_members());
}

#[test]
fn the_wheel_moves_the_pane_under_it() {
    let mut harness = AppHarness::with_clusters(60);
    let area = harness.app.areas().pane(Pane::Results).unwrap();
    harness.press("1");
    let wheel = Mouse { column: area.x + 3, row: area.y + 3, kind: MouseKind::WheelDown };
    harness.happen(Event::Mouse(wheel));
    assert_eq!(harness.app.panes().focus, Pane::Results);
    assert!(harness.app.results().view().unwrap().cursor > 0);
}

proptest! {
    #[test]
    fn tiles_use_the_pane_at_any_size_and_for_any_number(
        columns in 60u16..=240, rows in 16u16..=70, count in 1usize..=100,
        cell in prop::sample::select(vec![(10u16, 20u16), (8, 16), (7, 15), (9, 18), (12, 24)]),
        larger in 0usize..3, key in prop::sample::select(vec!["+", "-"]),
    ) {
        let mut harness = shown((columns, rows), count, cell);
        for _ in 0..larger {
            harness.press(key);
        }
        prop_assert!(!harness.app.grid().unwrap().is_list());
        let used = used_part(&harness);
        prop_assert!(used >= 0.85, "{used:.2} of the cells are used");
        let tiles = visible_tiles(&harness);
        let text_and_pictures: u32 = tiles.iter().map(|tile| inner_area(*tile).area()).sum();
        let results = inner_area(harness.app.areas().pane(Pane::Results).unwrap());
        prop_assert!(f64::from(text_and_pictures) >= 0.5 * f64::from(results.area()));
        for (index, tile) in tiles.iter().enumerate() {
            let inside = inner_area(*tile);
            prop_assert!(tiles[index + 1..].iter().all(|other| !inner_area(*other).intersects(inside)));
        }
    }

    #[test]
    fn any_size_and_any_click_is_handled(
        columns in 0u16..600, rows in 0u16..300, x in any::<u16>(), y in any::<u16>(), keys in "[hjkl1234z+?<>]{0,9}",
    ) {
        let mut harness = AppHarness::with_clusters(40);
        harness.happen(Event::Terminal(Protocol::HalfBlock, (0, 0)));
        harness.happen(Event::Resize(columns, rows));
        for key in keys.chars() {
            harness.press(key.encode_utf8(&mut [0; 4]));
        }
        for kind in [MouseKind::Click, MouseKind::Click, MouseKind::WheelDown, MouseKind::WheelUp] {
            harness.happen(Event::Mouse(Mouse { column: x, row: y, kind }));
        }
        let screen = ratatui::layout::Rect::new(0, 0, columns, rows);
        if let Some(results) = harness.app.areas().pane(Pane::Results) {
            let grid = TileGrid::new(&harness.app, results);
            for tile in grid.visible().filter_map(|tile| grid.tile_area(tile)) {
                prop_assert_eq!(tile.intersection(screen), tile);
            }
        }
    }
}
