//! Level 3: screens, styled, as a person sees them. A change of any of these files is a change of
//! what people see, and is reviewed as one.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../update/desk.rs"]
#[expect(dead_code, reason = "shared with the tests of the core, which use more of it")]
mod desk;
#[path = "../support/scene.rs"]
mod scene;
#[path = "../support/styled.rs"]
mod styled;

use desk::Desk;
use proptest::prelude::*;
use ratatui::{buffer::Buffer, layout::Rect};
use scene::{browsing, similar, with_marks};
use styled::styled;
use tessera::{
    app::{
        Event,
        areas::{Areas, SMALLEST},
    },
    picture::Protocol,
    ui::{
        self, Layer, Theme,
        layer::{Colours, Surface},
        theme::ThemeName,
    },
};

fn layer() -> Layer {
    Layer::new(Surface { in_tmux: false, colours: Colours::Exact })
}

fn screen_in(desk: &Desk, theme: ThemeName) -> String {
    styled(&drawn(desk, theme))
}

fn drawn(desk: &Desk, theme: ThemeName) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, desk.app.size.0, desk.app.size.1));
    ui::draw(&desk.app, &Theme::shipped(theme).unwrap(), &mut buffer, &mut layer());
    buffer
}

fn screen(desk: &Desk) -> String {
    screen_in(desk, ThemeName::Dark)
}

macro_rules! screens {
    ($($name:ident: $screen:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!($screen); })*
    };
}

/// A core brought to a screen of this many columns and rows.
type Scene = fn(u16, u16) -> Desk;

macro_rules! every {
    ($($name:ident: $scene:path;)*) => {
        /// Every screen by its name.
        const EVERY: &[(&str, Scene)] = &[$((stringify!($name), $scene),)*];
    };
}

every! {
    loading: scene::loading;
    browse: scene::browsing;
    similar: scene::similar;
    datasets: scene::datasets;
    detail: scene::detail;
    jobs: scene::with_jobs;
    help: scene::help;
    export_form: scene::export_form;
    file_line: scene::file_line;
    file_picker: scene::file_picker;
    region_picker: scene::region_picker;
    region_numbers: scene::region_numbers;
    framed_detail: scene::framed_detail;
    failed: scene::failed;
    stale: scene::stale;
    no_clusters_yet: scene::no_clusters_yet;
    query: scene::query;
    query_json: scene::query_json;
    chips: scene::chips;
    caption_line: scene::caption_line;
}

screens! {
    loading_120x40: screen(&scene::loading(120, 40));
    browse_80x24: screen(&browsing(80, 24));
    browse_120x40: screen(&browsing(120, 40));
    browse_200x60: screen(&browsing(200, 60));
    similar_80x24: screen(&similar(80, 24));
    similar_120x40: screen(&similar(120, 40));
    jobs_120x40: screen(&scene::with_jobs(120, 40));
    datasets_80x24: screen(&scene::datasets(80, 24));
    detail_80x24: screen(&scene::detail(80, 24));
    help_80x24: screen(&scene::help(80, 24));
    export_form_80x24: screen(&scene::export_form(80, 24));
    file_line_80x24: screen(&scene::file_line(80, 24));
    file_picker_120x40: screen(&scene::file_picker(120, 40));
    region_picker_120x40: screen(&scene::region_picker(120, 40));
    region_numbers_80x24: screen(&scene::region_numbers(80, 24));
    region_without_pictures_80x24: {
        let mut desk = browsing(80, 24);
        desk.happen(Event::Terminal(Protocol::None, (10, 20)));
        desk.press("b");
        screen(&desk)
    };
    framed_detail_120x40: screen(&scene::framed_detail(120, 40));
    failed_120x40: screen(&scene::failed(120, 40));
    stale_120x40: screen(&scene::stale(120, 40));
    no_clusters_yet_120x40: screen(&scene::no_clusters_yet(120, 40));
    query_80x24: screen(&scene::query(80, 24));
    query_120x40: screen(&scene::query(120, 40));
    query_200x60: screen(&scene::query(200, 60));
    query_json_120x40: screen(&scene::query_json(120, 40));
    chips_120x40: screen(&scene::chips(120, 40));
    caption_line_120x40: screen(&scene::caption_line(120, 40));
    similar_plain_120x40: screen_in(&similar(120, 40), ThemeName::Plain);
    marked_120x40: screen(&with_marks(120, 40));
    marked_plain_80x24: screen_in(&with_marks(80, 24), ThemeName::Plain);
    basket_120x40: {
        let mut desk = with_marks(120, 40);
        desk.press("M j");
        screen(&desk)
    };
    basket_empty_120x40: {
        let mut desk = browsing(120, 40);
        desk.press("M");
        screen(&desk)
    };
    export_basket_120x40: {
        let mut desk = with_marks(120, 40);
        desk.press("E");
        screen(&desk)
    };
    save_selection_80x24: {
        let mut desk = with_marks(80, 24);
        desk.press("M w");
        screen(&desk)
    };
    range_120x40: {
        let mut desk = browsing(120, 40);
        desk.press("l v l l j");
        screen(&desk)
    };
    compact_list_50x14: screen(&similar(50, 14));
    too_small_20x5: screen(&browsing(20, 5));
}

#[test]
fn t14_every_status_is_told_without_colour() {
    let shown = screen_in(&browsing(80, 24), ThemeName::Plain);
    let mut desk = browsing(80, 24);
    desk.press("1");
    let list = screen_in(&desk, ThemeName::Plain);
    assert!(!shown.contains("rgb(") && !list.contains("cyan") && !list.contains("green"));
    for word in
        ["● set-1", "◔ set-2", "INDEXING 41%", "READ ONLY", "PARTIAL INDEX", "ERROR", "DRAFT"]
    {
        assert!(list.contains(word), "{word} is missing:\n{list}");
    }
}

#[test]
fn t01_names_from_hell_reach_no_cell_raw() {
    let buffer = drawn(&similar(120, 40), ThemeName::Dark);
    for cell in buffer.content() {
        let symbol = cell.symbol();
        assert!(symbol.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{symbol:?}");
    }
}

/// The words of a row.
fn row(buffer: &Buffer, y: u16) -> String {
    (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect()
}

/// All parts of a screen that are there.
fn parts(areas: &Areas) -> Vec<Rect> {
    let Areas {
        header,
        chips,
        tabs,
        datasets,
        status,
        results,
        detail,
        query,
        jobs,
        basket,
        notice,
        hints,
    } = *areas;
    let panes = [chips, tabs, datasets, status, results, detail, query, jobs, basket];
    panes.into_iter().flatten().chain([header, notice, hints]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn t15_every_screen_is_drawn_at_any_size(columns in 20u16..500, rows in 6u16..200) {
        for (name, scene) in EVERY {
            let mut desk = scene(120, 40);
            desk.happen(Event::Resize(columns, rows));
            scene::paint(&mut desk);
            let buffer = drawn(&desk, ThemeName::Dark);
            if columns < SMALLEST.0 || rows < SMALLEST.1 {
                continue;
            }
            let screen = buffer.area;
            let layer = desk.app.overlay.as_ref().map(|overlay| overlay.area(desk.app.size));
            let layer = layer.unwrap_or_default();
            prop_assert_eq!(layer.intersection(screen), layer);
            for y in [0, rows - 1].into_iter().filter(|y| !layer.rows().any(|row| row.y == *y)) {
                prop_assert!(!row(&buffer, y).trim().is_empty(), "{name}: row {y} is empty");
            }
            let parts = parts(&desk.app.areas());
            for (index, part) in parts.iter().enumerate() {
                prop_assert_eq!(part.intersection(screen), *part);
                let overlaps = parts[index + 1..].iter().any(|other| part.intersects(*other));
                prop_assert!(!overlaps, "{name} at {columns}x{rows}: {part} is covered");
            }
        }
    }
}
