//! Tests texts that are shown in full on every screen with room for them, even on the smallest one.

use super::{EVERY, Scene, drawn, row, screen_in};
use ratatui::{buffer::Buffer, layout::Rect};
use tessera_curation::{
    FileAction, FileActionPreview, FileContent, FoundOriginals, Original, TargetLayout,
};
use tessera_interface::{
    app::{
        Event, Pane,
        areas::DetailLayout,
        overlay::{file_picker::FilePicker, sort_filter::FilterInput},
        pane::inner_area,
    },
    drawing::theme::ThemeName,
    message::{JobId, Lane, Payload},
};
use tessera_model::{
    DatasetTag, DatasetTags, Failure, FailureKind, Inspection, Region, SafeText, Status, TagId,
};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::{
    app_harness::{AppHarness, dataset, page},
    duplicates::{group, local_desk, reviewing, reviewing_pictures},
    frames::frames,
    map::{answer, map, mapped, opening},
    scene::{
        browsing, browsing_and, caption_line, inside, marked_and, query, several, similar, stale,
        with_jobs,
    },
    styled::styled,
};

#[test]
fn all_columns_of_an_archive_are_read_as_text() {
    for (columns, is_last_shown) in [(1_400, true), (3_000, true), (40_000, false)] {
        let mut harness = with_jobs(200, 250);
        harness.app.setup_mut().is_text = true;
        harness.press("esc 4 G i");
        let names = (1..=columns).map(|number| SafeText::name(&format!("column_{number}")));
        let found = Inspection {
            path: "/downloads/set-1.zip".into(),
            rows: 1,
            columns: names.collect(),
            ..Inspection::default()
        };
        harness.answer(Lane::Inspect, Payload::Inspection(Box::new(found)));
        let last = format!("column_{columns}");
        assert_eq!(whole_screen(&harness).contains(&last), is_last_shown, "{columns} columns");
    }
}

#[test]
fn the_issues_are_listed_without_counts() {
    for (columns, rows) in [(50, 14), (80, 24), (120, 40)] {
        let mut harness = similar(columns, rows);
        harness.press("g f tab tab");
        let shown = screen_in(&harness, ThemeName::Plain);
        for text in ["Quality issues", " issues ", "blur", "No counts"] {
            assert!(shown.contains(text), "{columns}x{rows}: {text} is missing:\n{shown}");
        }
        harness.press("G");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("label_outlier") && shown.contains("normal"), "{shown}");
    }
}

/// Returns the words of an area. Wrapped lines are joined into one text.
fn words(harness: &AppHarness, area: Rect) -> String {
    let buffer = drawn(harness, ThemeName::Plain);
    let rows = area.intersection(buffer.area).rows().map(|row| -> String {
        row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol()).collect()
    });
    let rows: Vec<String> = rows.collect();
    let text = rows.join(" ").replace(['│', '┃', '█'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn whole_screen(harness: &AppHarness) -> String {
    let (columns, rows) = harness.app.screen().size;
    words(harness, Rect::new(0, 0, columns, rows))
}

#[test]
fn frames_of_videos_count_as_media() {
    let mut harness = local_desk(120, 40);
    let mut with_videos = dataset(1, Status::Ready);
    (with_videos.n_images, with_videos.n_videos) = (Some(3), Some(2));
    with_videos.n_frames = Some(31);
    harness.wait(30);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![with_videos], 0));
    for (keys, text) in [
        ("g S", "34 media items: about 27 in train, 4 in val, 3 in test."),
        ("e", "34 media items"),
        ("/ z z z", "Enter searches all 5 names"),
    ] {
        harness.press(keys);
        let screen = whole_screen(&harness);
        assert!(screen.contains(text), "{keys}: {screen}");
        harness.press("esc");
    }
}

#[test]
fn the_form_of_a_split_promises_only_the_numbers_that_are_known() {
    let mut harness = local_desk(120, 40);
    harness.press("g S");
    let tag = |(name, count): (&str, u64)| DatasetTag {
        id: TagId(Uuid::nil()),
        name: SafeText::name(name),
        color: None,
        count,
    };
    let tags = [("night", 43), ("wet", 20)].map(tag).to_vec();
    let tags = DatasetTags { tags, ..DatasetTags::default() };
    harness.answer(Lane::Tags(dataset(1, Status::Ready).id), Payload::Tags(tags));
    harness.press("tab tab tab");
    for (typed, expected) in [
        ("night", "197 media items: about 157 in train, 20 in val, 20 in test."),
        (",night", "197 media items: about 157 in train, 20 in val, 20 in test."),
        (",wet", "At least 177 media items: about 80 % in train, 10 % in val, 10 % in test."),
    ] {
        harness.type_text(typed);
        let shown = whole_screen(&harness);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn an_action_on_files_names_all_files_in_a_list_that_scrolls() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let original = |number: u32| {
        let path = folder.join(format!("{number:02}.jpg"));
        std::fs::write(&path, "x").unwrap();
        let content = FileContent::of(&path).unwrap();
        let (sidecars, shared_sidecars, pair) = Default::default();
        Original { path, folder: folder.clone(), content, sidecars, shared_sidecars, pair }
    };
    let originals = (0..40).map(original).collect();
    let layout = TargetLayout { folder: folder.join("to"), keeps_folders: false };
    let found = FoundOriginals { originals, ..FoundOriginals::default() };
    let preview = FileActionPreview::new(FileAction::Copy(layout), found, false);
    for (columns, rows) in [(120, 14), (120, 24), (120, 50)] {
        let mut harness = local_desk(columns, rows);
        harness.press("space g x");
        let lane = Lane::FileAction(dataset(1, Status::Ready).id);
        harness.answer(lane, Payload::FileActionPlanned(Box::new(preview.clone())));
        let shown = whole_screen(&harness);
        let named = shown.matches(".jpg").count();
        assert!(shown.contains("copy 40 files (40 B)"), "{rows}: {shown}");
        assert!(shown.contains("00.jpg") && named >= 4 && (named == 40) == (rows == 50), "{shown}");
        harness.press("end");
        assert!(whole_screen(&harness).contains("39.jpg"), "{rows}");
    }
}

#[test]
fn the_help_of_a_dialog_describes_its_keys_and_returns_there() {
    type Scene = fn(u16, u16) -> AppHarness;
    let scenes: [(Scene, &str); 4] = [
        (|columns, rows| mapped(columns, rows, ""), "Color by label"),
        (|columns, rows| reviewing_pictures(columns, rows, ""), "by the next rule"),
        (|columns, rows| reviewing_pictures(columns, rows, "enter"), "pixels one to one"),
        (|columns, rows| reviewing_pictures(columns, rows, "enter f"), "export the rest"),
    ];
    for (scene, described) in scenes {
        let mut harness = scene(80, 24);
        let before = whole_screen(&harness);
        harness.press("?");
        let help = whole_screen(&harness);
        assert!(help.contains("Keys here") && help.contains(described), "{help}");
        harness.press("esc");
        assert_eq!(whole_screen(&harness), before);
    }
}

#[test]
fn hints_that_do_not_fit_are_counted() {
    let harness = mapped(80, 24, "");
    let hints = row(&drawn(&harness, ThemeName::Plain), 23);
    assert!(hints.contains("more (?)") && hints.trim_end().ends_with("Esc close"), "{hints}");
}

#[test]
fn keys_that_continue_a_key_are_counted_if_they_do_not_fit() {
    let hints = |columns| {
        let mut harness = browsing(columns, 40);
        harness.press("g");
        row(&drawn(&harness, ThemeName::Plain), 39).trim_end().to_owned()
    };
    assert!(hints(80).ends_with(" more in the help"), "{}", hints(80));
    assert!(!hints(600).contains("more in the help"), "{}", hints(600));
}

#[test]
fn labels_without_a_color_of_their_own_are_counted_together() {
    let mut harness = opening(120, 40, Protocol::None);
    let mut many = map(300);
    many.labels = (0..9).map(|label| SafeText::name(&format!("label {label}"))).collect();
    for (point, label) in many.points.iter_mut().zip((0..9).cycle()) {
        point.labels = vec![label];
    }
    answer(&mut harness, many);
    let screen = whole_screen(&harness);
    assert!(screen.contains("label 0 34") && screen.contains("others 99"), "{screen}");
}

#[test]
fn the_keys_of_the_region_picker_are_whole_and_esc_is_among_them() {
    for protocol in [Protocol::HalfBlock, Protocol::None] {
        for (columns, rows) in [(50, 14), (50, 24), (61, 16), (80, 24), (120, 40), (200, 60)] {
            let mut harness = browsing(columns, rows);
            harness.happen(Event::Terminal(protocol, (10, 20)));
            harness.press("b");
            let buffer = drawn(&harness, ThemeName::Plain);
            let inside = inner_area(harness.app.overlay_area().unwrap());
            let cut = inside.rows().any(|line| row(&buffer, line.y).contains('…'));
            let shown = screen_in(&harness, ThemeName::Plain);
            assert!(!cut, "{columns}x{rows}:\n{shown}");
            for key in ["Enter search", "Tab numbers", "Esc close"] {
                assert!(shown.contains(key), "{columns}x{rows}: {key} is missing:\n{shown}");
            }
            let keys = ["hjkl move", "Alt-hjkl top left corner", "1-9 presets", "z zoom in"];
            for key in keys.into_iter().filter(|_| protocol != Protocol::None) {
                assert!(shown.contains(key), "{columns}x{rows}: {key} is missing:\n{shown}");
            }
        }
    }
}

#[test]
fn all_presets_of_regions_are_shown_without_pictures() {
    for (columns, rows) in [(50, 14), (61, 16), (80, 24), (120, 40)] {
        let mut harness = browsing(columns, rows);
        harness.happen(Event::Terminal(Protocol::None, (10, 20)));
        harness.press("b");
        let shown = screen_in(&harness, ThemeName::Plain);
        for (number, (name, _)) in (1..).zip(Region::PRESETS) {
            let preset = format!("{number} {name}");
            assert!(shown.contains(&preset), "{columns}x{rows}: {preset} is missing:\n{shown}");
        }
    }
}

#[test]
fn all_checks_of_a_query_are_read_where_the_pane_is_full() {
    for (columns, rows) in [(50, 14), (80, 24), (120, 40)] {
        let mut harness = query(columns, rows);
        harness.press("f7");
        let mut shown = whole_screen(&harness);
        for _ in 0..20 {
            harness.press("j");
            shown.push_str(&whole_screen(&harness));
        }
        for text in [
            "Checks of the query",
            "must be a number",
            "The query cannot run until this is fixed",
            "media must match all enabled filters (AND)",
        ] {
            assert!(shown.contains(text), "{columns}x{rows}: {text} is missing:\n{shown}");
        }
    }
    let full = screen_in(&query(50, 14), ThemeName::Plain);
    assert!(full.contains("F7 shows all"), "{full}");
}

#[test]
fn the_failure_above_the_results_is_wrapped() {
    for (columns, rows) in [(50, 14), (50, 24), (80, 24)] {
        let harness = stale(columns, rows);
        let shown = words(&harness, harness.app.areas().pane(Pane::Results).unwrap());
        assert!(
            shown.contains("r tries again: no answer within 30 s"),
            "{columns}x{rows}: {shown}"
        );
    }
}

#[test]
fn titles_shorten_names_and_not_words() {
    let mut harness = browsing(50, 24);
    harness.press("enter");
    let heading =
        row(&drawn(&harness, ThemeName::Plain), harness.app.areas().pane(Pane::Results).unwrap().y);
    assert!(heading.contains("members of "), "{heading}");
    for part in heading.split(" · ").skip(1) {
        assert!(!part.contains('…'), "{heading}");
    }
    let mut list = several();
    list[0].name = SafeText::name("a dataset whose name is longer than the frame of a form on it");
    let mut harness = AppHarness::new();
    harness.happen(Event::Resize(50, 24));
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    harness.answer_page(page(100, 3));
    for (keys, title) in [("A", "Add media to a dataset"), ("e", "Export a dataset")] {
        harness.press(keys);
        let shown = row(&drawn(&harness, ThemeName::Plain), harness.app.overlay_area().unwrap().y);
        assert!(shown.contains(title) && shown.contains("… ┓"), "{shown}");
        harness.press("esc");
    }
}

#[test]
fn a_long_text_under_the_mouse_is_wrapped() {
    for (columns, rows) in [(50, 14), (80, 24)] {
        let mut harness = browsing(columns, rows);
        let text = "Select the cluster (detail: the preview, or exclude it from its selected cluster): \
                    unavailable: no dataset is open";
        harness.happen(Event::Hover(Some(SafeText::detail(text))));
        let shown = whole_screen(&harness);
        assert!(shown.contains(text), "{columns}x{rows}: {shown}");
    }
}

#[test]
fn a_long_list_uses_the_row_below_its_filter() {
    let harness = browsing_and(50, 14, ":");
    let inside = inner_area(harness.app.overlay_area().unwrap());
    let buffer = drawn(&harness, ThemeName::Plain);
    for line in inside.rows() {
        let text = row(&buffer, line.y);
        assert!(!text.replace('┃', " ").trim().is_empty(), "row {} is blank", line.y);
    }
}

#[test]
fn a_name_that_is_cut_above_a_compared_picture_is_in_the_title() {
    let name = "a-photograph-of-the-old-harbor-with-boats.jpg";
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(80, 24));
    harness.answer(Lane::Datasets, Payload::Datasets(several(), 0));
    let mut loaded = page(0, 3);
    loaded.clusters[0].previews[0].file_name = SafeText::file_name(name);
    harness.answer_page(loaded);
    harness.press("m");
    let title = row(&drawn(&harness, ThemeName::Plain), 0);
    assert!(title.contains(name), "{title}");
    harness.press("tab");
    let title = row(&drawn(&harness, ThemeName::Plain), 0);
    assert!(!title.contains(name), "{title}");
}

#[test]
fn the_names_of_datasets_in_jobs_are_whole_in_a_wide_pane() {
    let name = "street-scenes-of-rainy-nights";
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(200, 60));
    let mut datasets = several();
    datasets[0].name = SafeText::name(name);
    harness.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
    harness.answer_page(page(0, 3));
    harness.press("e enter 4");
    let jobs = words(&harness, harness.app.areas().pane(Pane::Jobs).unwrap());
    assert!(jobs.contains(name), "{jobs}");
}

#[test]
fn the_end_of_a_review_counts_no_group_that_was_decided_before_the_rule_changed() {
    let mut harness = reviewing(120, 40);
    harness.press("enter o n esc r");
    let groups = vec![group(1, &[10, 9]), group(4, &[50, 40, 30])];
    harness.answer(Lane::FileAction(dataset(1, Status::Ready).id), Payload::Duplicates(groups));
    harness.press("f");
    let shown = whole_screen(&harness);
    let expected = "1 group was not opened: there, the rule best-quality decides";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn the_classes_of_a_map_count_media_with_several_labels() {
    let mut all = map(10);
    all.labels = (0..8).map(|number| SafeText::name(&format!("label {number}"))).collect();
    for (number, point) in all.points.iter_mut().enumerate() {
        // Each label from number 6 on has the color of the others.
        point.labels = match number {
            0..4 => vec![0, 1],
            4..8 => vec![0, 7],
            8 => vec![6, 7],
            _ => vec![],
        };
    }
    let mut harness = opening(120, 40, Protocol::None);
    answer(&mut harness, all);
    let screen = whole_screen(&harness);
    assert!(screen.contains("A label 0 8 B label 1 4 · others 2"), "{screen}");
    harness.press("tab tab a");
    assert!(harness.notice().starts_with("selected 4 media items"), "{}", harness.notice());
    harness.press("shift-tab shift-tab shift-tab shift-tab a");
    let screen = whole_screen(&harness);
    assert!(screen.contains("label 7 5 alone"), "{screen}");
    assert!(harness.notice().starts_with("selected 5 media items"), "{}", harness.notice());
}

/// Ellipses that the program writes on purpose. Any other ellipsis marks a cut.
const INTENDED_ELLIPSES: [&str; 7] = [
    "checking the files…",
    "arn:…:role/…,",
    "add filter …",
    " new …",
    "the service …",
    "keyring …",
    "Alt-1 … Alt-9",
];

/// Returns whether a row of an area is cut while another row is blank.
fn is_cut_beside_blank_rows(buffer: &Buffer, area: Rect) -> bool {
    let text = |row: Rect| -> String {
        row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol()).collect()
    };
    let rows: Vec<String> = area.rows().map(text).collect();
    let is_cut = rows.iter().any(|row| {
        INTENDED_ELLIPSES
            .iter()
            .fold(row.clone(), |row, intended| row.replace(intended, ""))
            .contains('…')
    });
    is_cut && rows.iter().any(|row| row.trim().is_empty())
}

/// Returns the areas of text that are not under a dialog: panes with text, and the inside of the dialog.
///
/// Lists of names that users gave have one row for each name, which may be cut, because the full name of the selected
/// row is shown below the list or, with Enter, in the detail. These lists are the datasets, the results, and the
/// candidates of the file picker. Fields that take typed text, among them the lines of the JSON editor, scroll with
/// their cursor.
fn text_areas(harness: &AppHarness) -> Vec<Rect> {
    let areas = harness.app.areas();
    let detail = areas.pane(Pane::Detail).map(|area| DetailLayout::new(&harness.app, area).text);
    let framed = |area: Option<Rect>| area.filter(|area| area.height > 2).map(inner_area);
    let query = areas
        .pane(Pane::Query)
        .filter(|_| harness.app.query().draft(harness.app.results()).json.is_none());
    let panes =
        [areas.status, query, areas.pane(Pane::Jobs), areas.pane(Pane::Basket), areas.connection];
    let panes: Vec<Rect> = panes.into_iter().filter_map(framed).chain(detail).collect();
    let Some(overlay) = harness.app.overlay() else { return panes };
    let dialog = overlay.area(&harness.app);
    let inside = if harness.app.dialog::<FilterInput>().is_some() {
        dialog
    } else if harness.app.dialog::<FilePicker>().is_some() {
        FilePicker::areas(dialog).path
    } else {
        inner_area(dialog)
    };
    let uncovered = panes.into_iter().filter(|pane| !pane.intersects(dialog));
    uncovered.chain([inside]).collect()
}

/// Scenes with long texts, which the reviewed screens do not have.
const LONG_TEXTS: [(&str, Scene); 9] = [
    ("invalid addition", |columns, rows| {
        let mut harness = browsing_and(columns, rows, "a enter");
        harness.press("tab tab");
        harness
    }),
    ("rejected login", |columns, rows| {
        let mut harness = browsing(columns, rows);
        harness.wait(30);
        let (ticket, _) = harness.take(|lane| *lane == Lane::Datasets);
        harness.respond(ticket, Err(long_failure(FailureKind::Unauthorized)));
        harness.press("L");
        harness
    }),
    ("unreadable archive", |columns, rows| {
        let mut harness = inside(columns, rows);
        harness.press("esc i");
        let (ticket, _) = harness.take(|lane| *lane == Lane::Inspect);
        harness.respond(ticket, Err(long_failure(FailureKind::Local)));
        harness
    }),
    ("failed job", |columns, rows| {
        let mut harness = browsing_and(columns, rows, "e enter");
        let (ticket, _) = harness.take(|lane| *lane == Lane::StartJob(JobId(0)));
        harness.respond(ticket, Err(long_failure(FailureKind::Invalid)));
        harness.press("esc 4");
        harness
    }),
    ("unavailable action", |columns, rows| browsing_and(columns, rows, ". R e i n d enter")),
    ("score of a caption", |columns, rows| browsing_and(columns, rows, "c tab 7 7")),
    ("page", |columns, rows| browsing_and(columns, rows, "g n")),
    ("selection file", |columns, rows| marked_and(columns, rows, "M o")),
    ("status, facts and query", |columns, rows| similar_and(columns, rows, "1 j j j j")),
];

fn similar_and(columns: u16, rows: u16, keys: &str) -> AppHarness {
    let mut harness = similar(columns, rows);
    harness.press("esc");
    harness.press(keys);
    harness
}

fn long_failure(kind: FailureKind) -> Failure {
    let reason = "the service refused it because the volume that it writes to has no space left";
    Failure::new(kind, reason).with_remedy(
        "Free 2 GiB on the volume of the service, or ask its operator to, and try again",
    )
}

#[test]
fn no_text_is_cut_while_its_pane_has_blank_rows() {
    let sizes = [
        (50, 14),
        (50, 24),
        (50, 70),
        (61, 16),
        (80, 24),
        (88, 31),
        (100, 24),
        (120, 40),
        (141, 50),
        (163, 45),
        (200, 60),
        (240, 14),
        (240, 70),
    ];
    let mut cut = Vec::new();
    for (name, scene) in EVERY.iter().chain(&LONG_TEXTS) {
        let mut harness = scene(120, 40);
        for (columns, rows) in sizes {
            harness.happen(Event::Resize(columns, rows));
            let buffer = drawn(&harness, ThemeName::Plain);
            for area in text_areas(&harness) {
                if is_cut_beside_blank_rows(&buffer, area.intersection(buffer.area)) {
                    let screen = if cut.is_empty() { styled(&buffer) } else { String::new() };
                    cut.push(format!("{name} at {columns}x{rows} in {area}\n{screen}"));
                }
            }
        }
    }
    assert!(cut.is_empty(), "{}", cut.join("\n"));
}

#[test]
fn text_in_panes_of_every_dataset_is_not_cut_while_there_are_blank_rows() {
    for (columns, rows) in [(50, 17), (80, 24), (99, 31), (120, 40), (134, 24), (163, 45)] {
        for keys in ["1 j", "1 j j j", "1 j j j j", "2 f", "2 i", "i l"] {
            let harness = similar_and(columns, rows, keys);
            let buffer = drawn(&harness, ThemeName::Plain);
            for area in text_areas(&harness) {
                let cut = is_cut_beside_blank_rows(&buffer, area);
                assert!(!cut, "{keys} at {columns}x{rows}:\n{}", styled(&buffer));
            }
        }
    }
}

#[test]
fn the_keys_of_a_dialog_are_never_cut_and_the_way_out_is_among_them() {
    for (name, scene) in EVERY {
        let mut harness = scene(120, 40);
        if harness.app.overlay().is_none() {
            continue;
        }
        for (columns, rows) in [(50, 14), (80, 24)] {
            harness.happen(Event::Resize(columns, rows));
            let hints = row(&drawn(&harness, ThemeName::Plain), rows - 1);
            let counted = usize::from(hints.contains(" more ("));
            let is_whole = hints.matches('…').count() == counted;
            assert!(is_whole && hints.contains("Esc"), "{name}: {hints}");
        }
    }
}

#[test]
fn a_form_scrolls_to_its_focused_field_and_keeps_what_enter_does() {
    let mut harness = browsing(50, 14);
    harness.press("A");
    let shown = |harness: &AppHarness| screen_in(harness, ThemeName::Plain);
    assert!(shown(&harness).contains("▸ paths"), "{}", shown(&harness));
    harness.press("tab tab tab tab tab");
    let last = shown(&harness);
    for text in ["▸ spot", "default of the service", "Enter checks the files"] {
        assert!(last.contains(text), "{text} is missing:\n{last}");
    }
}

#[test]
fn the_whole_text_of_an_archive_is_reached_on_a_small_screen() {
    let mut harness = inside(50, 14);
    let shown = |harness: &AppHarness| screen_in(harness, ThemeName::Plain);
    assert!(shown(&harness).contains("rows without a file"), "{}", shown(&harness));
    for _ in 0..30 {
        harness.press("down");
    }
    let end = shown(&harness);
    for text in [".0 ", ".9 "] {
        assert!(end.contains(text), "{text} is missing:\n{end}");
    }
}

#[test]
fn the_legend_of_the_scores_is_shown_in_full() {
    let visual = "lower is closer: same 0 · high ≤.30 · related · loose ≥.50";
    let captions = "lower is closer: strong <.40 · partial ≤.60 · loose >.60";
    for (columns, rows) in [(80, 24), (120, 24), (120, 40), (160, 45), (200, 60)] {
        let shown = screen_in(&similar(columns, rows), ThemeName::Plain);
        assert!(shown.contains(visual), "{columns}x{rows}:\n{shown}");
        let mut harness = caption_line(columns, rows);
        harness.press("esc");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains(captions), "{columns}x{rows}:\n{shown}");
    }
    let narrow = screen_in(&similar(100, 40), ThemeName::Plain);
    for part in ["lower is closer: same 0 · high ≤.30", "related · loose ≥.50"] {
        assert!(narrow.contains(part), "{part} is missing:\n{narrow}");
    }
}

#[test]
fn the_number_of_members_of_a_tile_is_never_cut() {
    for columns in (60..=240).step_by(9) {
        for rows in [16, 24, 40] {
            let harness = frames(columns, rows);
            let (buffer, area) =
                (drawn(&harness, ThemeName::Plain), harness.app.areas().pane(Pane::Results));
            for row in area.into_iter().flat_map(Rect::rows) {
                let text: String =
                    row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol()).collect();
                let counts = ["image", "frame", "video", "member"];
                let is_count = counts.iter().any(|noun| text.contains(noun));
                assert!(!is_count || !text.contains('…'), "{columns}x{rows}: {text}");
            }
        }
    }
    let narrow = screen_in(&frames(60, 40), ThemeName::Plain);
    assert!(!narrow.contains("3 frames, 2 v…"), "{narrow}");
}
