//! Tests snapshots of screens with styles. A changed snapshot is a change of the interface, and is
//! reviewed as such.

mod panes;
mod themes;
mod whole_text;

use std::{fmt::Write as _, time::Duration};

use crate::support::app_harness::AppHarness;
use crate::support::frames::frames;
use crate::support::scene::{browsed, browsing, similar, with_jobs, with_marks};
use crate::support::styled::styled;
use proptest::prelude::*;
use ratatui::{buffer::Buffer, layout::Rect};
use tessera_interface::{
    app::{Event, areas::Areas, screen::MIN_SCREEN},
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    message::{Lane, WorkerEvent},
    ui,
};
use tessera_model::FailureKind;
use tessera_picture::Protocol;

fn layer() -> PictureLayer {
    PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor })
}

fn screen_in(harness: &AppHarness, theme: ThemeName) -> String {
    styled(&drawn(harness, theme))
}

/// Draws a screen in the 16 colors of a theme, whose names make a snapshot readable.
fn drawn(harness: &AppHarness, theme: ThemeName) -> Buffer {
    drawn_at_depth(harness, theme, ColorDepth::Palette16)
}

fn drawn_at_depth(harness: &AppHarness, theme: ThemeName, depth: ColorDepth) -> Buffer {
    let theme = Theme::built_in(theme, depth).unwrap();
    let mut buffer =
        Buffer::empty(Rect::new(0, 0, harness.app.screen().size.0, harness.app.screen().size.1));
    ui::draw(&harness.app, &theme, &mut buffer, &mut layer());
    buffer
}

macro_rules! screens {
    ($($name:ident: $screen:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!($screen); })*
    };
}

/// Brings a core to a screen of this size (columns, rows).
type Scene = fn(u16, u16) -> AppHarness;

macro_rules! every {
    ($($name:ident: $scene:expr;)*) => {
        mod every {
            use super::reviewed;

            $(#[test] fn $name() { insta::assert_snapshot!(reviewed($scene)); })*
        }

        /// All screens by name.
        const EVERY: &[(&str, Scene)] = &[$((stringify!($name), $scene),)*];
    };
}

every! {
    loading: crate::support::scene::loading;
    browse: crate::support::scene::browsing;
    similar: crate::support::scene::similar;
    datasets: crate::support::scene::datasets;
    detail: crate::support::scene::detail;
    jobs: crate::support::scene::with_jobs;
    help: crate::support::scene::help;
    export_form: crate::support::scene::export_form;
    file_line: crate::support::scene::file_line;
    file_picker: crate::support::scene::file_picker;
    region_picker: crate::support::scene::region_picker;
    region_numbers: crate::support::scene::region_numbers;
    framed_detail: crate::support::scene::framed_detail;
    failed: crate::support::scene::failed;
    stale: crate::support::scene::stale;
    no_clusters_yet: crate::support::scene::no_clusters_yet;
    query: crate::support::scene::query;
    query_json: crate::support::scene::query_json;
    chips: crate::support::scene::chips;
    score_histogram: crate::support::scene::score_histogram;
    facets: crate::support::scene::facets;
    facets_dates: crate::support::scene::facets_dates;
    caption_line: crate::support::scene::caption_line;
    marked: crate::support::scene::with_marks;
    basket: |columns, rows| crate::support::scene::marked_and(columns, rows, "M j");
    export_basket: |columns, rows| crate::support::scene::marked_and(columns, rows, "E");
    save_selection: |columns, rows| crate::support::scene::marked_and(columns, rows, "M w");
    diverse: |columns, rows| crate::support::scene::local_and(columns, rows, "g v 5 0");
    split: |columns, rows| crate::support::scene::local_and(columns, rows, "g S tab");
    replace_sets: crate::support::scene::replacing_sets;
    check: |columns, rows| crate::support::scene::local_and(columns, rows, "g c tab");
    check_results: crate::support::scene::checked;
    basket_empty: |columns, rows| crate::support::scene::browsing_and(columns, rows, "M");
    range: |columns, rows| crate::support::scene::browsing_and(columns, rows, "l v l l j");
    menu: |columns, rows| crate::support::scene::browsing_and(columns, rows, ".");
    palette: |columns, rows| crate::support::scene::browsing_and(columns, rows, ":");
    log: crate::support::scene::log;
    jumping: |columns, rows| crate::support::scene::browsing_and(columns, rows, "ctrl-o");
    pin: |columns, rows| crate::support::scene::browsing_and(columns, rows, "1 I");
    timeline: crate::support::scene::timeline;
    inside: crate::support::scene::inside;
    adding: crate::support::scene::adding;
    add_media: |columns, rows| crate::support::scene::browsing_and(columns, rows, "A");
    reindex: |columns, rows| crate::support::scene::browsing_and(columns, rows, "1 j j j R");
    remove_dataset: crate::support::scene::removing;
    offering_model: crate::support::scene::offering_model;
    models: crate::support::scene::models;
    model_sizes: crate::support::scene::model_sizes;
    getting_model: crate::support::scene::getting_model;
    sort: |columns, rows| crate::support::scene::browsing_and(columns, rows, ",");
    map: |columns, rows| crate::support::map::mapped(columns, rows, "h h");
    map_rectangle: |columns, rows| crate::support::map::mapped(columns, rows, "v L L J space v H K");
    duplicates: |columns, rows| crate::support::duplicates::reviewing_pictures(columns, rows, "");
    duplicate_group: |columns, rows| crate::support::duplicates::reviewing_pictures(columns, rows, "enter");
    duplicate_difference: |columns, rows| crate::support::duplicates::reviewing_pictures(columns, rows, "enter d");
    duplicates_end: |columns, rows| crate::support::duplicates::reviewing_pictures(columns, rows, "enter n n");
    mosaic: crate::support::scene::mosaic;
    sorted_files: crate::support::scene::sorted_files;
    name_scan: |columns, rows| crate::support::scene::name_scan(columns, rows, false);
    name_scan_in_vain: |columns, rows| crate::support::scene::name_scan(columns, rows, true);
    filter: |columns, rows| crate::support::scene::browsing_and(columns, rows, "/");
    members: |columns, rows| crate::support::scene::browsing_and(columns, rows, "enter l");
    tabs: |columns, rows| crate::support::scene::browsing_and(columns, rows, "ctrl-t = 1");
    combine: |columns, rows| crate::support::scene::browsing_and(columns, rows, "ctrl-t =");
    record: crate::support::scene::record;
    compare: |columns, rows| crate::support::scene::browsing_and(columns, rows, "m");
    full_size: |columns, rows| crate::support::scene::browsing_and(columns, rows, "l s");
    picture_test: |columns, rows| crate::support::scene::browsing_and(columns, rows, "g p");
}

#[test]
fn the_help_starts_with_its_pane_and_keys_reach_its_end() {
    let mut harness = browsing(80, 24);
    harness.press("?");
    let shows =
        |harness: &AppHarness, text: &str| screen_in(harness, ThemeName::Dark).contains(text);
    assert!(shows(&harness, "In Results") && shows(&harness, "Search in captions"));
    for (keys, text) in [
        ("G", "the service no longer reports one"),
        ("k k k k k k k k", "of a semantic filter: keeps higher"),
        ("g", "In Results"),
        ("end", "the service no longer reports one"),
    ] {
        harness.press(keys);
        assert!(shows(&harness, text), "{keys}");
    }
}

/// Renders a screen at three sizes and in two themes.
fn reviewed(scene: Scene) -> String {
    let mut text = String::new();
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let harness = scene(columns, rows);
        let [dark, light] = [ThemeName::Dark, ThemeName::Light].map(|theme| drawn(&harness, theme));
        let _ = writeln!(text, "== {columns}x{rows}");
        text.push_str(&crate::support::styled::in_two_themes(&dark, &light));
    }
    text
}

screens! {
    region_without_pictures_80x24: {
        let mut harness = browsing(80, 24);
        harness.happen(Event::Terminal(Protocol::None, (10, 20)));
        harness.press("b");
        screen_in(&harness, ThemeName::Dark)
    };
    similar_plain_120x40: screen_in(&similar(120, 40), ThemeName::Plain);
    marked_plain_80x24: screen_in(&with_marks(80, 24), ThemeName::Plain);
    compact_list_50x14: screen_in(&similar(50, 14), ThemeName::Dark);
    too_small_20x5: screen_in(&browsing(20, 5), ThemeName::Dark);
}

#[test]
fn every_status_is_visible_without_color() {
    let shown = screen_in(&browsing(80, 24), ThemeName::Plain);
    let mut harness = browsing(80, 24);
    harness.press("1");
    let list = screen_in(&harness, ThemeName::Plain);
    assert!(!shown.contains("rgb(") && !list.contains("cyan") && !list.contains("green"));
    for word in
        ["● set-1", "◔ set-2", "INDEXING 41%", "READ ONLY", "PARTIAL INDEX", "ERROR", "DRAFT"]
    {
        assert!(list.contains(word), "{word} is missing:\n{list}");
    }
}

#[test]
fn a_rejected_login_is_visible_in_the_header_and_in_every_pane() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut harness = with_jobs(columns, rows);
        harness.press("esc");
        harness.wait(30);
        harness.fail(Lane::Datasets, FailureKind::Unauthorized);
        let buffer = drawn(&harness, ThemeName::Plain);
        let header = row(&buffer, 0);
        assert!(header.contains("login required: L") && header.contains("last known"), "{header}");
        for (keys, words) in
            [("2", "rejects the login"), ("4", "needs login"), ("1", "(last known)")]
        {
            harness.press(keys);
            let shown = screen_in(&harness, ThemeName::Plain);
            assert!(shown.contains(words), "{columns}: {words} is missing:\n{shown}");
        }
    }
}

#[test]
fn frames_show_their_video_their_time_and_their_number() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut harness = frames(columns, rows);
        let shown = screen_in(&harness, ThemeName::Plain);
        for text in ["00:04 a.mp4", "3 frames", "2 frames", "3 images"] {
            assert!(shown.contains(text), "{columns}: {text} is missing:\n{shown}");
        }
        harness.press("i }");
        let shown = screen_in(&harness, ThemeName::Plain);
        let hints = "{ earlier frame  } later frame";
        let texts =
            ["00:06.5 a.mp4", "frame 3 of 4 on this page", "cluster: 2 frames, 2 videos", hints];
        for text in texts {
            assert!(shown.contains(text), "{columns}: {text} is missing:\n{shown}");
        }
    }
}

#[test]
fn the_header_shows_who_is_logged_in_and_until_when() {
    let mut harness =
        browsed(AppHarness::hosted(Protocol::HalfBlock, "ak_0123456789abcdef"), 120, 40);
    harness.happen(Event::Worker(WorkerEvent::TokenIssued(
        harness.app.clock() + Duration::from_secs(485),
    )));
    let header = row(&drawn(&harness, ThemeName::Dark), 0);
    assert!(header.contains("ak_01234567… · token 8 min"), "{header}");
    harness.happen(Event::Resize(80, 24));
    let header = row(&drawn(&harness, ThemeName::Dark), 0);
    assert!(header.contains("token 8 min") && !header.contains("ak_"), "{header}");
    harness.wait(460);
    let header = row(&drawn(&harness, ThemeName::Dark), 0);
    assert!(header.contains("token 25 s"), "{header}");
}

#[test]
fn secrets_are_masked_where_they_are_typed() {
    let mut harness = browsed(AppHarness::hosted(Protocol::HalfBlock, "ak_1"), 80, 24);
    harness.press("L right tab tab");
    harness.type_text("canary");
    let shown = screen_in(&harness, ThemeName::Dark);
    assert!(shown.contains("••••••") && !shown.contains("canary"), "{shown}");
    harness.press("up up right down");
    harness.type_text("canary");
    let shown = screen_in(&harness, ThemeName::Dark);
    assert!(shown.contains("••••••") && !shown.contains("canary"), "{shown}");
}

#[test]
fn hostile_names_never_reach_a_cell_raw() {
    let buffer = drawn(&similar(120, 40), ThemeName::Dark);
    for cell in buffer.content() {
        let symbol = cell.symbol();
        assert!(symbol.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{symbol:?}");
    }
}

/// Returns the text of a row.
fn row(buffer: &Buffer, y: u16) -> String {
    (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect()
}

/// Returns all areas of a screen.
fn parts(areas: &Areas) -> Vec<Rect> {
    let Areas { header, chips, tabs, panes, status, connection, notification: notice, hints } =
        *areas;
    let others = [Some(chips), tabs, status, connection];
    panes.into_iter().chain(others).flatten().chain([header, notice, hints]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_screen_is_drawn_at_any_size(columns in 20u16..320, rows in 6u16..120) {
        for (name, scene) in EVERY {
            let mut harness = scene(120, 40);
            harness.happen(Event::Resize(columns, rows));
            crate::support::scene::paint(&mut harness);
            let buffer = drawn(&harness, ThemeName::Dark);
            if columns < MIN_SCREEN.0 || rows < MIN_SCREEN.1 {
                continue;
            }
            let screen = buffer.area;
            let layer = harness.app.overlay().map(|overlay| overlay.area(&harness.app));
            let layer = layer.unwrap_or_default();
            prop_assert_eq!(layer.intersection(screen), layer);
            for y in [0, rows - 1].into_iter().filter(|y| !layer.rows().any(|row| row.y == *y)) {
                prop_assert!(!row(&buffer, y).trim().is_empty(), "{name}: row {y} is empty");
            }
            let parts = parts(&harness.app.areas());
            for (index, part) in parts.iter().enumerate() {
                prop_assert_eq!(part.intersection(screen), *part);
                let overlaps = parts[index + 1..].iter().any(|other| part.intersects(*other));
                prop_assert!(!overlaps, "{name} at {columns}x{rows}: {part} is covered");
            }
        }
    }
}
