//! Tests the mouse. Dragging over tiles selects a range. The screen explains what is under the mouse, and an event
//! is sent only when that changes.

use ratatui::{buffer::Buffer, layout::Rect};
use tessera_interface::{
    app::{
        Event, Mouse, MouseKind, Pane,
        overlay::{
            add_media::{AddMediaField, AddMediaForm},
            export::{ExportField, ExportForm},
            file_picker::FilePicker,
        },
        view::sort_filter::SortKey,
    },
    drawing::{
        MouseTargets, PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    ui,
};
use tessera_model::SafeText;
use tessera_picture::Protocol;

use crate::support::{app_harness::AppHarness, scene};

fn on_tile(harness: &AppHarness, tile: usize, kind: MouseKind) -> Event {
    let area = harness.app.grid().unwrap().tile_area(tile).unwrap();
    Event::Mouse(Mouse { column: area.x + 2, row: area.y + 1, kind })
}

fn with_tiles() -> AppHarness {
    let mut harness = AppHarness::with_clusters(9);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness
}

fn mouse(harness: &mut AppHarness, tile: usize, kind: MouseKind) {
    let event = on_tile(harness, tile, kind);
    harness.happen(event);
}

#[test]
fn a_drag_over_tiles_selects_their_range() {
    let mut harness = with_tiles();
    mouse(&mut harness, 1, MouseKind::Click);
    mouse(&mut harness, 1, MouseKind::Drag);
    assert_eq!(
        harness.app.baskets().selected_tile_range(harness.app.results()),
        None,
        "still on the first tile"
    );
    mouse(&mut harness, 2, MouseKind::Drag);
    mouse(&mut harness, 3, MouseKind::Drag);
    assert_eq!(harness.app.baskets().selected_tile_range(harness.app.results()), Some(1..=3));
    mouse(&mut harness, 3, MouseKind::Release);
    assert_eq!(harness.app.baskets().selection(harness.app.results()).unwrap().len(), 3);
    assert_eq!(harness.notice(), "3 clusters selected; u undoes it");
    assert_eq!(harness.app.baskets().selected_tile_range(harness.app.results()), None);
    harness.press("u");
    assert_eq!(harness.app.baskets().selection(harness.app.results()).unwrap().len(), 0);
}

#[test]
fn a_click_selects_an_entry_of_the_basket_beside_a_picture_or_as_a_line() {
    for (protocol, rows) in [(Protocol::HalfBlock, 3), (Protocol::None, 1)] {
        let mut harness = AppHarness::with_clusters(9);
        harness.happen(Event::Terminal(protocol, (10, 20)));
        harness.press("V 5");
        let area = harness.app.areas().pane(Pane::Basket).unwrap();
        let at = |entry: u16| Mouse {
            column: area.x + 2,
            row: area.y + 1 + entry * rows,
            kind: MouseKind::Click,
        };
        harness.happen(Event::Mouse(at(2)));
        assert_eq!(harness.app.baskets().cursor(), 2, "{protocol:?}");
        harness.happen(Event::Mouse(Mouse { row: area.bottom() - 1, ..at(0) }));
        assert_eq!(harness.app.baskets().cursor(), 2, "the frame is no entry");
    }
}

#[test]
fn a_click_without_a_drag_selects_nothing() {
    let mut harness = with_tiles();
    for kind in [MouseKind::Click, MouseKind::Drag, MouseKind::Release] {
        mouse(&mut harness, 2, kind);
    }
    assert_eq!(
        (
            harness.app.results().view().unwrap().cursor,
            harness.app.baskets().selection(harness.app.results()).unwrap().len()
        ),
        (2, 0)
    );
    // A drag that starts elsewhere does not select tiles.
    let header = Mouse { column: 0, row: 0, kind: MouseKind::Click };
    harness.happen(Event::Mouse(header));
    mouse(&mut harness, 4, MouseKind::Drag);
    mouse(&mut harness, 4, MouseKind::Release);
    assert_eq!(harness.app.results().view().unwrap().cursor, 2);
}

#[test]
fn a_drag_can_end_outside_of_the_tiles() {
    let mut harness = with_tiles();
    mouse(&mut harness, 3, MouseKind::Click);
    mouse(&mut harness, 2, MouseKind::Drag);
    harness.happen(Event::Mouse(Mouse { column: 0, row: 0, kind: MouseKind::Drag }));
    harness.happen(Event::Mouse(Mouse { column: 0, row: 0, kind: MouseKind::Release }));
    assert_eq!(harness.app.baskets().selection(harness.app.results()).unwrap().len(), 2);
}

/// Returns the texts of the frame, and the frame itself.
fn texts(harness: &AppHarness) -> (MouseTargets, Buffer) {
    let mut buffer =
        Buffer::empty(Rect::new(0, 0, harness.app.screen().size.0, harness.app.screen().size.1));
    let settings = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
    let (mut layer, mut texts) = (PictureLayer::new(settings), MouseTargets::default());
    let theme = Theme::built_in(ThemeName::Dark, ColorDepth::Palette16).unwrap();
    ui::draw_with_texts(&harness.app, &theme, &mut buffer, &mut layer, &mut texts);
    (texts, buffer)
}

/// Returns the cell where a text begins on the screen.
pub(super) fn find(buffer: &Buffer, text: &str) -> (u16, u16) {
    let rows = (0..buffer.area.height).map(|y| {
        let row = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (y, row)
    });
    let mut found = rows.filter_map(|(y, row)| {
        let before = row.split_once(text)?.0.chars().count();
        Some((u16::try_from(before).unwrap(), y))
    });
    found.next_back().unwrap_or_else(|| panic!("`{text}` is not on the screen"))
}

fn text_at(harness: &AppHarness, words: &str) -> String {
    let (texts, buffer) = texts(harness);
    match texts.change(None, find(&buffer, words)) {
        Some(Event::Hover(Some(text))) => text.to_string(),
        None => String::new(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_footer_key_a_model_mark_and_a_cut_label_are_explained() {
    let mut harness = scene::similar(120, 40);
    assert_eq!(text_at(&harness, ". actions"), "Show all actions, and why some are unavailable");
    assert!(text_at(&harness, "?cap").contains("CAPTION_IMAGES"), "{}", text_at(&harness, "?cap"));
    assert!(
        text_at(&harness, "A red balloon").ends_with("”"),
        "{}",
        text_at(&harness, "A red balloon")
    );
    assert_eq!(text_at(&harness, "Datasets"), "", "nothing is cut there");
    harness.happen(Event::Hover(Some(SafeText::name("some words"))));
    let (texts_of_keys, buffer) = texts(&harness);
    let at = find(&buffer, "some words");
    assert_eq!(at.1, 39, "in the hint line");
    assert!(texts_of_keys.change(None, at).is_some(), "the keys are still below it");
    for event in [Event::Key("j".parse().unwrap()), on_tile(&harness, 1, MouseKind::Click)] {
        harness.happen(Event::Hover(Some(SafeText::name("some words"))));
        harness.happen(event);
        assert_eq!(harness.app.hover(), None);
    }
}

/// Clicks where a text begins on the screen.
fn click(harness: &mut AppHarness, words: &str) {
    let (texts, buffer) = texts(harness);
    let (column, row) = find(&buffer, words);
    harness.happen(texts.clicked(Event::Mouse(Mouse { column, row, kind: MouseKind::Click })));
}

#[test]
fn hints_and_tabs_can_be_clicked() {
    let mut harness = scene::browsing(120, 40);
    click(&mut harness, ". actions");
    assert!(harness.app.overlay().is_some());
    click(&mut harness, "Esc close");
    assert!(harness.app.overlay().is_none());
    harness.press("ctrl-t");
    assert_eq!(harness.app.results().tabs().unwrap().active(), 1);
    click(&mut harness, "#1 all");
    assert_eq!(harness.app.results().tabs().unwrap().active(), 0);
    // A dialog covers the tabs.
    let (before, buffer) = texts(&harness);
    let (column, row) = find(&buffer, "#2 all");
    let event = Event::Mouse(Mouse { column, row, kind: MouseKind::Click });
    assert_ne!(before.clicked(event.clone()), event);
    harness.press(".");
    assert_eq!(texts(&harness).0.clicked(event.clone()), event);
}

#[test]
fn rows_of_lists_can_be_clicked() {
    let mut harness = scene::browsing(120, 40);
    harness.press(",");
    click(&mut harness, "name, from A to Z");
    assert!(harness.app.overlay().is_some(), "the first click selects");
    click(&mut harness, "name, from A to Z");
    assert!(harness.app.overlay().is_none(), "the second one sorts");
    assert_eq!(harness.app.results().view().unwrap().list_options.order.by, SortKey::Name);
    harness.press(",");
    let selected = find(&texts(&harness).1, "▸");
    let (column, row) = (60, 20);
    harness.happen(Event::Mouse(Mouse { column, row, kind: MouseKind::WheelDown }));
    assert_eq!(find(&texts(&harness).1, "▸").1, selected.1 + 1, "the wheel moves the cursor");
}

#[test]
fn kinds_of_facets_and_rows_of_the_query_can_be_clicked() {
    let mut harness = scene::facets(120, 40);
    let before = texts(&harness).1;
    click(&mut harness, " issues ");
    assert_ne!(texts(&harness).1, before, "another kind is shown");
    harness.press("esc 3");
    click(&mut harness, "add filter");
    assert!(harness.app.overlay().is_some(), "a click on the selected row does what Enter does");
}

#[test]
fn a_click_on_another_filter_leaves_the_one_that_is_edited() {
    let mut harness = scene::browsing(120, 40);
    harness.press("3 a 1");
    harness.type_text("red");
    harness.press("esc a 1");
    let rows = |harness: &AppHarness| {
        let draft = harness.app.query().draft(harness.app.results());
        (draft.cursor, draft.field, draft.rows.len())
    };
    assert_eq!(rows(&harness), (1, Some(0), 2));
    click(&mut harness, "[red");
    assert_eq!(rows(&harness), (0, None, 1), "the empty filter is removed");
    harness.press("enter");
    click(&mut harness, "add filter");
    assert_eq!(rows(&harness), (1, None, 1));
    harness.press("k a 1");
    click(&mut harness, "add filter");
    assert_eq!(rows(&harness), (1, None, 1), "the row below has moved up");
}

#[test]
fn fields_of_forms_can_be_clicked() {
    let mut harness = scene::browsing(120, 40);
    harness.press("e");
    for (label, field) in [
        ("folder", ExportField::Folder),
        ("format", ExportField::Format),
        ("file name", ExportField::Name),
        ("download", ExportField::Download),
    ] {
        click(&mut harness, label);
        assert_eq!(harness.app.dialog::<ExportForm>().unwrap().field, field);
    }
    let downloads =
        |harness: &AppHarness| harness.app.dialog::<ExportForm>().unwrap().auto_download;
    let before = downloads(&harness);
    click(&mut harness, "download");
    assert_ne!(downloads(&harness), before, "a click on the focused choice changes it");
    harness.press("esc A");
    click(&mut harness, "reindex the whole dataset");
    assert_eq!(harness.app.dialog::<AddMediaForm>().unwrap().field, AddMediaField::Reindex);
    let reindexes =
        |harness: &AppHarness| harness.app.dialog::<AddMediaForm>().unwrap().auto_reindex;
    for (choice, expected) in [
        ("reindex the whole dataset", true),
        ("only index the new media", false),
        ("only index the new media", false),
        ("reindex the whole dataset", true),
    ] {
        click(&mut harness, choice);
        assert_eq!(reindexes(&harness), expected, "{choice}");
    }
    harness.press("up");
    click(&mut harness, "Ctrl-F browse");
    assert!(harness.app.dialog::<FilePicker>().is_some());
    click(&mut harness, "Esc back");
    assert!(harness.app.dialog::<AddMediaForm>().is_some());
}

#[test]
fn a_form_that_is_scrolled_is_clicked_where_it_is_drawn() {
    let mut harness = scene::browsing(80, 24);
    harness.press("A");
    harness.press("up up");
    let form = |harness: &AppHarness| harness.app.dialog::<AddMediaForm>().unwrap().field;
    let last = form(&harness);
    click(&mut harness, "spot");
    assert_eq!(form(&harness), last);
    click(&mut harness, "objects");
    assert_eq!(form(&harness), AddMediaField::Objects);
}

#[test]
fn motion_over_the_same_text_changes_nothing() {
    let harness = scene::similar(120, 40);
    let (texts, buffer) = texts(&harness);
    let (x, y) = find(&buffer, ". actions");
    let Some(Event::Hover(shown)) = texts.change(None, (x, y)) else { panic!("no text") };
    for x in x..x + 9 {
        assert_eq!(texts.change(shown.as_ref(), (x, y)), None);
    }
    let nothing = find(&buffer, "Datasets");
    assert_eq!(texts.change(None, nothing), None);
    assert_eq!(texts.change(shown.as_ref(), nothing), Some(Event::Hover(None)));
}

#[test]
fn below_a_dialog_nothing_is_explained() {
    let mut harness = scene::similar(120, 40);
    harness.press("g h");
    let (texts, buffer) = texts(&harness);
    assert_eq!(texts.change(None, find(&buffer, "?cap")), None);
}
