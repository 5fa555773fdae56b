//! Tests texts that are shown in full on every screen with room for them, even on the smallest one.

use super::{drawn, row, screen_in};
use ratatui::layout::Rect;
use tessera_curation::{
    FileAction, FileActionPreview, FileContent, FoundOriginals, Original, TargetLayout,
};
use tessera_interface::{
    app::{Event, pane::inner_area},
    drawing::theme::ThemeName,
    message::{Lane, Payload},
};
use tessera_model::{DatasetTag, DatasetTags, Inspection, Region, SafeText, Status, TagId};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::{
    desk::{Desk, dataset, page},
    duplicates::{group, local_desk, reviewing, reviewing_pictures},
    map::{answer, map, mapped, opening},
    scene::{browsing, browsing_and, query, several, similar, stale, with_jobs},
};

#[test]
fn all_columns_of_an_archive_are_read_as_text() {
    for (columns, is_last_shown) in [(1_400, true), (3_000, true), (40_000, false)] {
        let mut desk = with_jobs(200, 250);
        desk.app.setup_mut().is_text = true;
        desk.press("esc 4 G i");
        let names = (1..=columns).map(|number| SafeText::name(&format!("column_{number}")));
        let found = Inspection {
            path: "/downloads/set-1.zip".into(),
            rows: 1,
            columns: names.collect(),
            ..Inspection::default()
        };
        desk.answer(Lane::Inspect, Payload::Inspection(Box::new(found)));
        let last = format!("column_{columns}");
        assert_eq!(whole_screen(&desk).contains(&last), is_last_shown, "{columns} columns");
    }
}

#[test]
fn the_issues_are_listed_without_counts() {
    for (columns, rows) in [(50, 14), (80, 24), (120, 40)] {
        let mut desk = similar(columns, rows);
        desk.press("g f tab tab");
        let shown = screen_in(&desk, ThemeName::Plain);
        for text in ["Quality issues", " issues ", "blur", "No counts"] {
            assert!(shown.contains(text), "{columns}x{rows}: {text} is missing:\n{shown}");
        }
        desk.press("G");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("label_outlier") && shown.contains("normal"), "{shown}");
    }
}

/// Returns the words of an area. Wrapped lines are joined into one text.
fn words(desk: &Desk, area: Rect) -> String {
    let buffer = drawn(desk, ThemeName::Plain);
    let rows = area.intersection(buffer.area).rows().map(|row| -> String {
        row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol()).collect()
    });
    let rows: Vec<String> = rows.collect();
    let text = rows.join(" ").replace(['│', '┃', '█'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn whole_screen(desk: &Desk) -> String {
    let (columns, rows) = desk.app.screen().size;
    words(desk, Rect::new(0, 0, columns, rows))
}

#[test]
fn the_form_of_a_split_promises_only_the_numbers_that_are_known() {
    let mut desk = local_desk(120, 40);
    desk.press("g S");
    let tag = |(name, count): (&str, u64)| DatasetTag {
        id: TagId(Uuid::nil()),
        name: SafeText::name(name),
        color: None,
        count,
    };
    let tags = [("night", 43), ("wet", 20)].map(tag).to_vec();
    let tags = DatasetTags { tags, ..DatasetTags::default() };
    desk.answer(Lane::Tags(dataset(1, Status::Ready).id), Payload::Tags(tags));
    desk.press("tab tab tab");
    for (typed, expected) in [
        ("night", "197 media items: about 157 in train, 20 in val, 20 in test."),
        (",night", "197 media items: about 157 in train, 20 in val, 20 in test."),
        (",wet", "At least 177 media items: about 80 % in train, 10 % in val, 10 % in test."),
    ] {
        desk.type_text(typed);
        let shown = whole_screen(&desk);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn an_action_on_files_names_as_many_files_as_fit() {
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
        let mut desk = local_desk(columns, rows);
        desk.press("space g x");
        let lane = Lane::FileAction(dataset(1, Status::Ready).id);
        desk.answer(lane, Payload::FileActionPlanned(Box::new(preview.clone())));
        let shown = whole_screen(&desk);
        let named = shown.matches(".jpg").count();
        assert!(shown.contains("copy 40 files (40 B)"), "{rows}: {shown}");
        if rows == 50 {
            assert!(named == 40 && !shown.contains("more files"), "{shown}");
        } else {
            let more = format!("and {} more files", 40 - named);
            assert!(named >= 4 && shown.contains(&more), "{shown}");
        }
    }
}

#[test]
fn the_help_of_a_dialog_describes_its_keys_and_returns_there() {
    type Scene = fn(u16, u16) -> Desk;
    let scenes: [(Scene, &str); 4] = [
        (|columns, rows| mapped(columns, rows, ""), "Color by label"),
        (|columns, rows| reviewing_pictures(columns, rows, ""), "by the next rule"),
        (|columns, rows| reviewing_pictures(columns, rows, "enter"), "pixels one to one"),
        (|columns, rows| reviewing_pictures(columns, rows, "enter f"), "export the rest"),
    ];
    for (scene, described) in scenes {
        let mut desk = scene(80, 24);
        let before = whole_screen(&desk);
        desk.press("?");
        let help = whole_screen(&desk);
        assert!(help.contains("Keys here") && help.contains(described), "{help}");
        desk.press("esc");
        assert_eq!(whole_screen(&desk), before);
    }
}

#[test]
fn hints_that_do_not_fit_are_counted() {
    let desk = mapped(80, 24, "");
    let hints = row(&drawn(&desk, ThemeName::Plain), 23);
    assert!(hints.contains("more (?)") && hints.trim_end().ends_with("Esc close"), "{hints}");
}

#[test]
fn keys_that_continue_a_key_are_counted_if_they_do_not_fit() {
    let hints = |columns| {
        let mut desk = browsing(columns, 40);
        desk.press("g");
        row(&drawn(&desk, ThemeName::Plain), 39).trim_end().to_owned()
    };
    assert!(hints(80).ends_with(" more in the help"), "{}", hints(80));
    assert!(!hints(600).contains("more in the help"), "{}", hints(600));
}

#[test]
fn labels_without_a_color_of_their_own_are_counted_together() {
    let mut desk = opening(120, 40, Protocol::None);
    let mut many = map(300);
    many.labels = (0..9).map(|label| SafeText::name(&format!("label {label}"))).collect();
    for (point, label) in many.points.iter_mut().zip((0..9).cycle()) {
        point.label = Some(label);
    }
    answer(&mut desk, many);
    let screen = whole_screen(&desk);
    assert!(screen.contains("label 0 34") && screen.contains("others 99"), "{screen}");
}

#[test]
fn the_keys_of_the_region_picker_are_whole_and_esc_is_among_them() {
    for protocol in [Protocol::HalfBlock, Protocol::None] {
        for (columns, rows) in [(50, 14), (50, 24), (61, 16), (80, 24), (120, 40), (200, 60)] {
            let mut desk = browsing(columns, rows);
            desk.happen(Event::Terminal(protocol, (10, 20)));
            desk.press("b");
            let buffer = drawn(&desk, ThemeName::Plain);
            let inside = inner_area(desk.app.overlay_area().unwrap());
            let cut = inside.rows().any(|line| row(&buffer, line.y).contains('…'));
            let shown = screen_in(&desk, ThemeName::Plain);
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
        let mut desk = browsing(columns, rows);
        desk.happen(Event::Terminal(Protocol::None, (10, 20)));
        desk.press("b");
        let shown = screen_in(&desk, ThemeName::Plain);
        for (number, (name, _)) in (1..).zip(Region::PRESETS) {
            let preset = format!("{number} {name}");
            assert!(shown.contains(&preset), "{columns}x{rows}: {preset} is missing:\n{shown}");
        }
    }
}

#[test]
fn all_checks_of_a_query_are_read_where_the_pane_is_full() {
    for (columns, rows) in [(50, 14), (80, 24), (120, 40)] {
        let mut desk = query(columns, rows);
        desk.press("f7");
        let mut shown = whole_screen(&desk);
        for _ in 0..20 {
            desk.press("j");
            shown.push_str(&whole_screen(&desk));
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
        let desk = stale(columns, rows);
        let shown = words(&desk, desk.app.areas().results.unwrap());
        assert!(
            shown.contains("r tries again: no answer within 30 s"),
            "{columns}x{rows}: {shown}"
        );
    }
}

#[test]
fn titles_shorten_names_and_not_words() {
    let mut desk = browsing(50, 24);
    desk.press("enter");
    let heading = row(&drawn(&desk, ThemeName::Plain), desk.app.areas().results.unwrap().y);
    assert!(heading.contains("members of "), "{heading}");
    for part in heading.split(" · ").skip(1) {
        assert!(!part.contains('…'), "{heading}");
    }
    let mut list = several();
    list[0].name = SafeText::name("a dataset whose name is longer than the frame of a form on it");
    let mut desk = Desk::new();
    desk.happen(Event::Resize(50, 24));
    desk.answer(Lane::Datasets, Payload::Datasets(list, 0));
    desk.answer_page(page(100, 3));
    for (keys, title) in [("A", "Add media to a dataset"), ("e", "Export a dataset")] {
        desk.press(keys);
        let shown = row(&drawn(&desk, ThemeName::Plain), desk.app.overlay_area().unwrap().y);
        assert!(shown.contains(title) && shown.contains("… ┓"), "{shown}");
        desk.press("esc");
    }
}

#[test]
fn a_long_text_under_the_mouse_is_wrapped() {
    for (columns, rows) in [(50, 14), (80, 24)] {
        let mut desk = browsing(columns, rows);
        let text = "Select the cluster (detail: the preview, or exclude it from its selected cluster): \
                    unavailable: no dataset is open";
        desk.happen(Event::Hover(Some(SafeText::detail(text))));
        let shown = whole_screen(&desk);
        assert!(shown.contains(text), "{columns}x{rows}: {shown}");
    }
}

#[test]
fn a_long_list_uses_the_row_below_its_filter() {
    let desk = browsing_and(50, 14, ":");
    let inside = inner_area(desk.app.overlay_area().unwrap());
    let buffer = drawn(&desk, ThemeName::Plain);
    for line in inside.rows() {
        let text = row(&buffer, line.y);
        assert!(!text.replace('┃', " ").trim().is_empty(), "row {} is blank", line.y);
    }
}

#[test]
fn a_name_that_is_cut_above_a_compared_picture_is_in_the_title() {
    let name = "a-photograph-of-the-old-harbor-with-boats.jpg";
    let mut desk = Desk::with_pictures(Protocol::HalfBlock);
    desk.happen(Event::Resize(80, 24));
    desk.answer(Lane::Datasets, Payload::Datasets(several(), 0));
    let mut loaded = page(0, 3);
    loaded.clusters[0].previews[0].file_name = SafeText::file_name(name);
    desk.answer_page(loaded);
    desk.press("m");
    let title = row(&drawn(&desk, ThemeName::Plain), 0);
    assert!(title.contains(name), "{title}");
    desk.press("tab");
    let title = row(&drawn(&desk, ThemeName::Plain), 0);
    assert!(!title.contains(name), "{title}");
}

#[test]
fn the_names_of_datasets_in_jobs_are_whole_in_a_wide_pane() {
    let name = "street-scenes-of-rainy-nights";
    let mut desk = Desk::with_pictures(Protocol::HalfBlock);
    desk.happen(Event::Resize(200, 60));
    let mut datasets = several();
    datasets[0].name = SafeText::name(name);
    desk.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
    desk.answer_page(page(0, 3));
    desk.press("e enter 4");
    let jobs = words(&desk, desk.app.areas().jobs.unwrap());
    assert!(jobs.contains(name), "{jobs}");
}

#[test]
fn the_end_of_a_review_counts_no_group_that_was_decided_before_the_rule_changed() {
    let mut desk = reviewing(120, 40);
    desk.press("enter o n esc r");
    let groups = vec![group(1, &[10, 9]), group(4, &[50, 40, 30])];
    desk.answer(Lane::FileAction(dataset(1, Status::Ready).id), Payload::Duplicates(groups));
    desk.press("f");
    let shown = whole_screen(&desk);
    let expected = "1 group was not opened: there, the rule best-quality decides";
    assert!(shown.contains(expected), "{shown}");
}
