//! Tests how panes use their space: positions, single lines in place of panes, and text that is not
//! cut.

use std::time::Duration;

use serde_json::json;

use super::{EVERY, Scene, drawn, row, screen_in};
use ratatui::{buffer::Buffer, layout::Rect};
use tessera_config::DeploymentKind;
use tessera_interface::{
    app::{
        Event,
        areas::DetailLayout,
        overlay::{file_picker::FilePicker, sort_filter::FilterInput},
        pane::inner_area,
    },
    drawing::theme::ThemeName,
    message::{JobId, Lane, Payload},
};
use tessera_model::{
    Failure, FailureKind, FileFacts, IMPORTED_EMBEDDINGS, Page, Preflight, RequestOutcome,
    RequestRecord, SafeText, Status, Tag, UserTags,
};
use tessera_picture::Protocol;
use tessera_wire::enrichment::read_enrichment;

use crate::support::{
    desk::{Desk, dataset, page},
    duplicates::{group, local_desk},
    frames::frames,
    scene::{
        browsing, browsing_and, caption_line, chips, datasets, inside, inside_plain, marked_and,
        similar,
    },
    styled::styled,
};

#[test]
fn the_position_in_the_search_is_shown_with_the_total_once_it_is_known() {
    let mut desk = Desk::with_clusters(100);
    desk.happen(Event::Resize(80, 24));
    let heading = |desk: &Desk| row(&drawn(desk, ThemeName::Plain), 3);
    assert!(
        heading(&desk).contains("clusters 1-100 · granularity 2 · page 1"),
        "{}",
        heading(&desk)
    );
    desk.press("n");
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("loading page 2   Esc stay here"), "{shown}");
    desk.answer_page(page(100, 34));
    assert!(heading(&desk).contains("clusters 101-134 of 134"), "{}", heading(&desk));
    desk.press("p");
    assert!(heading(&desk).contains("clusters 1-100 of 134"), "{}", heading(&desk));
}

#[test]
fn the_detail_begins_with_the_path_and_the_facts_of_the_file() {
    let mut desk = browsing(120, 40);
    let mut found = page(0, 3);
    let preview = &mut found.clusters[0].previews[0];
    preview.original_uri = Some(SafeText::detail("trips/rome/0.jpg"));
    preview.file = FileFacts {
        bytes: Some(3 << 20),
        date: Some(SafeText::name("2024-05-17")),
        camera: Some(SafeText::name("NIKON D90")),
    };
    desk.press("f");
    desk.answer_page(found);
    let lines: Vec<String> = (0..40).map(|y| row(&drawn(&desk, ThemeName::Plain), y)).collect();
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).expect(text);
    let first = at("trips/rome/0.jpg");
    assert_eq!([at("640×480 · 3.0 MiB"), at("NIKON D90")], [first + 1, first + 2], "{lines:#?}");
    assert!(at("00000000-0000") > first + 2, "the ID comes last");
}

#[test]
fn a_caption_has_the_rows_that_it_needs_before_labels_and_the_id() {
    let caption = "a red van on a wet street at night, seen from a window high above it";
    let mut desk = browsing(80, 24);
    let mut found = page(0, 3);
    found.clusters[0].labels = vec![SafeText::name("street"), SafeText::name("van")];
    let preview = &mut found.clusters[0].previews[0];
    preview.original_uri = Some(SafeText::detail("trips/rome/0.jpg"));
    preview.caption = Some(SafeText::name(caption));
    desk.press("f");
    desk.answer_page(found);
    desk.press("i");
    let lines: Vec<String> = (0..24).map(|y| row(&drawn(&desk, ThemeName::Plain), y)).collect();
    let text = lines.join(" ").replace(['│', '┃', '░'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("seen from a window high above it”"), "{lines:#?}");
}

#[test]
fn only_the_detail_says_why_pictures_are_missing() {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock).opening_clusters(9);
    let is_picture = |lane: &Lane| matches!(lane, Lane::Picture(..));
    while desk.open.iter().any(|(ticket, _)| is_picture(&ticket.lane)) {
        let (ticket, _) = desk.take(is_picture);
        desk.respond(ticket, Err(Failure::new(FailureKind::NotFound, "picture not found")));
    }
    let lines: Vec<String> = (0..40).map(|y| row(&drawn(&desk, ThemeName::Plain), y)).collect();
    let text = lines.join("\n");
    assert_eq!(text.matches("picture not found").count(), 1, "{text}");
    assert!(text.matches("not loaded").count() >= 6, "{text}");
}

#[test]
fn without_color_the_points_of_a_map_have_the_letters_of_the_legend() {
    let desk = crate::support::map::mapped(80, 24, "");
    let lines: Vec<String> = (0..24).map(|y| row(&drawn(&desk, ThemeName::Plain), y)).collect();
    let text = lines.join("\n");
    for entry in
        ["A beach 171", "B night sky 171", "C a very long name of a label 172", "· others 86"]
    {
        assert!(text.contains(entry), "{entry}: {text}");
    }
    assert!(text.matches('A').count() > 10 && text.matches('B').count() > 10, "{text}");
    assert!(!text.contains('⣿'), "{text}");
}

#[test]
fn the_folder_of_a_local_dataset_is_in_its_status_and_its_record() {
    let mut desk = datasets(120, 40);
    let id = desk.app.selected_dataset().unwrap().id;
    let folder = "/home/me/pictures/of a long journey/through many lands/holidays";
    desk.app.setup_mut().dataset_folders.insert(id, SafeText::file_name(folder));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("folder   …") && shown.contains("lands/holidays"), "{shown}");
    desk.press("i");
    desk.answer(Lane::Record(id), Payload::Record(Vec::new()));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains(folder), "{shown}");
}

#[test]
fn datasets_of_the_same_name_show_where_their_folders_differ() {
    let mut desk = Desk::with_pictures(Protocol::None);
    let mut all = [1, 2, 3].map(|number| dataset(number, Status::Ready));
    all[1].name = all[0].name.clone();
    let name = all[0].name.clone();
    for (dataset, year) in all.iter().zip([2023, 2024, 2025]) {
        let folder = SafeText::file_name(&format!("/home/me/{year}/{name}"));
        desk.app.setup_mut().dataset_folders.insert(dataset.id, folder);
    }
    desk.answer(Lane::Datasets, Payload::Datasets(all.to_vec(), 0));
    let shown = screen_in(&desk, ThemeName::Plain);
    for year in ["2023", "2024"] {
        assert!(shown.contains(&format!("{name} {year}")), "{shown}");
    }
    assert!(!shown.contains(&format!("{} 2025", all[2].name)), "{shown}");
}

#[test]
fn a_review_states_no_result_while_duplicates_are_looked_for() {
    let mut desk = local_desk(80, 24);
    desk.press("g d");
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("Looking for near-duplicates") && !shown.contains("frees"), "{shown}");
    desk.answer(lane, Payload::Duplicates(vec![group(4, &[50, 40])]));
    assert!(screen_in(&desk, ThemeName::Plain).contains("1 group, frees"));
    desk.press("r");
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(!shown.contains("1 group"), "{shown}");
}

#[test]
fn the_keys_of_a_range_are_shown_only_in_the_results() {
    let mut desk = browsing(120, 40);
    desk.press("2 v l");
    assert!(row(&drawn(&desk, ThemeName::Plain), 39).contains("range of 2"));
    desk.press("3");
    assert!(!row(&drawn(&desk, ThemeName::Plain), 39).contains("range of"));
}

#[test]
fn a_tile_shows_labels_that_members_of_the_result_have() {
    let mut desk = similar(120, 40);
    let labeled = || {
        let mut page = page(0, 2);
        page.clusters[0].labels = ["boat", "harbor", "night"].map(SafeText::name).to_vec();
        page.clusters[0].previews[1].labels = vec![SafeText::name("night")];
        page
    };
    desk.press("r");
    desk.answer_page(labeled());
    assert!(screen_in(&desk, ThemeName::Plain).contains("# night, boat, harbor"));
    desk.press("g f x");
    desk.answer_page(labeled());
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("# night, harbor"), "{shown}");
}

#[test]
fn marks_leave_room_for_the_path_in_the_review_of_duplicates() {
    let mut desk = local_desk(80, 24);
    desk.press("g d");
    let mut found = group(4, &[50, 40, 30]);
    let tags = ["picked", "night", "wet"].map(ToOwned::to_owned).to_vec();
    for (number, other) in found.others.iter_mut().enumerate() {
        other.image.given = UserTags { rating: 5, tags: tags[number..].to_vec() };
        if number == 0 {
            other.image.caption = Some("rain".to_owned());
            other.image.labels = vec!["street".to_owned()];
        }
    }
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    desk.answer(lane, Payload::Duplicates(vec![found]));
    let paths = |desk: &Desk| {
        let shown = screen_in(desk, ThemeName::Plain);
        ["4.jpg", "5.jpg", "6.jpg"].map(|name| shown.matches(name).count())
    };
    desk.press("enter");
    let shown = paths(&desk);
    assert!(
        shown[0] >= 2 && shown[1] >= 2 && shown[2] >= 1,
        "above the pictures and in the rows: {shown:?}"
    );
    assert!(screen_in(&desk, ThemeName::Plain).contains("★5"));
    desk.press("f");
    assert_eq!(paths(&desk), [1, 1, 1]);
}

#[test]
fn what_read_only_forbids_is_not_offered() {
    let mut desk = datasets(120, 40);
    let hints = row(&drawn(&desk, ThemeName::Plain), 39);
    assert!(hints.contains("add media"), "{hints}");
    desk.app.setup_mut().read_only = true;
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("✗ add media") && shown.contains("opened with --read-only"), "{shown}");
    let hints = row(&drawn(&desk, ThemeName::Plain), 39);
    assert!(!hints.contains("add media") && !hints.contains("reindex"), "{hints}");
}

#[test]
fn a_tile_tells_marks_of_the_whole_cluster_from_those_of_some_pictures() {
    let mut desk = browsing(120, 40);
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    let mut found = page(0, 3);
    let tags = |names: &[&str]| names.iter().map(|name| SafeText::name(name)).collect();
    for (index, cluster) in found.clusters.iter_mut().enumerate() {
        let picture = cluster.previews[0].clone();
        (cluster.previews, cluster.n_images) = (vec![picture.clone(), picture], Some(2));
        cluster.tags = vec![Tag { id: None, name: SafeText::name("picked") }];
        for preview in &mut cluster.previews[index..] {
            (preview.tags, preview.rating) = (tags(&["picked", "night"]), 3);
        }
    }
    desk.press("f");
    desk.answer_page(found);
    let shown = screen_in(&desk, ThemeName::Plain);
    for marks in ["✔ ★3 #1 ", "(✔) (★3) (#1) ", "(✔) "] {
        assert!(shown.contains(marks), "{marks} is missing:\n{shown}");
    }
    // The members that are not loaded may be without the marks.
    let mut found = page(0, 1);
    found.clusters[0].n_images = Some(9);
    for preview in &mut found.clusters[0].previews {
        (preview.tags, preview.rating) = (tags(&["picked"]), 3);
    }
    desk.press("r");
    desk.answer_page(found);
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("(✔) (★3) "), "{shown}");
    // A filter left out the picture that has the tag of the cluster.
    let mut found = page(0, 1);
    found.clusters[0].tags = vec![Tag { id: None, name: SafeText::name("picked") }];
    found.clusters[0].n_images = Some(found.clusters[0].previews.len() as u64);
    desk.press("r");
    desk.answer_page(found);
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(!shown.contains('✔'), "{shown}");
}

#[test]
fn the_help_of_tagging_names_the_tags_that_have_no_room_in_the_hints() {
    let mut desk = browsing(80, 24);
    desk.press(";");
    for name in ["a tag with a long name", "another long name", "one more long name"] {
        desk.press("+");
        desk.type_text(name);
        desk.press("enter");
    }
    let hints = row(&drawn(&desk, ThemeName::Plain), 23);
    assert!(hints.contains("more (?)") && hints.contains("Esc leave"), "{hints}");
    desk.press("?");
    let help = screen_in(&desk, ThemeName::Plain);
    assert!(help.contains("Add the tag one more long name"), "{help}");
}

#[test]
fn a_search_among_the_nearest_media_says_so() {
    let mut desk = browsing(120, 40);
    desk.press("f");
    desk.answer_page(Page { is_bounded: true, ..page(0, 3) });
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("2 Results  only the nearest media · 3 clusters"), "{shown}");
}

#[test]
fn tiles_show_labels_of_what_a_picture_shows_only() {
    let mut desk = browsing(80, 24);
    let mut page = page(0, 2);
    for (cluster, labels) in
        page.clusters.iter_mut().zip([&["owl", "year:2024"][..], &["year:2024"]])
    {
        cluster.labels = labels.iter().copied().map(SafeText::name).collect();
    }
    desk.press("f");
    desk.answer_page(page);
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("# owl") && !shown.contains("2024"), "{shown}");
}

#[test]
fn a_page_that_fails_is_reported_beside_the_one_that_stays() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    desk.respond(ticket, Err(Failure::new(FailureKind::Server, "it broke")));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("page 2: r tries again, Esc stays here: it broke"), "{shown}");
    assert!(shown.contains("0.jpg"), "{shown}");
}

/// Searches for a caption that nothing matches, in a dataset of which `captions` of 2,000 pictures have one.
fn nothing_matches(deployment: DeploymentKind, captions: u64) -> Desk {
    nothing_matches_with(deployment, captions, "")
}

/// The same, with image encodings of this identifier.
fn nothing_matches_with(deployment: DeploymentKind, captions: u64, encoding: &str) -> Desk {
    let mut desk = browsing(80, 24);
    desk.app.setup_mut().deployment = deployment;
    desk.press("c d o g enter");
    let metadata = json!({ "covered_media": captions, "all_media": 2_000 });
    let models = json!({
        "CAPTION_IMAGES": { "id": "space", "metadata": metadata },
        "IMAGE_ENCODING": { "id": encoding },
    });
    let body = json!({ "dataset_enrichment_models": { "enrichment_models": models } });
    // The first request is from before the screen became small.
    while desk.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Enrichment(_))) {
        let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Enrichment(_)));
        desk.respond(ticket, Ok(Payload::Enrichment(read_enrichment(&body))));
    }
    desk
}

#[test]
fn a_caption_search_without_a_match_says_why_and_what_leads_on() {
    let mut desk = nothing_matches(DeploymentKind::Local, 4);
    desk.answer_page(page(0, 0));
    let shown = screen_in(&desk, ThemeName::Plain);
    for text in [
        "Nothing matches “dog”.",
        "4 of 2 000 pictures have a caption",
        "names of files and folders",
        "g a gets a model, which finds pictures by what they show",
        "F finds pictures that are similar to a picture file",
        "Esc goes back, where f on a picture finds similar ones",
    ] {
        assert!(shown.contains(text), "{text}\n{shown}");
    }
    let mut imported = nothing_matches_with(DeploymentKind::Local, 4, IMPORTED_EMBEDDINGS);
    imported.answer_page(page(0, 0));
    let shown = screen_in(&imported, ThemeName::Plain);
    for text in ["No text encoder belongs to the imported embeddings.", "which takes their place"] {
        assert!(shown.contains(text), "{text}\n{shown}");
    }
    let mut hosted = nothing_matches(DeploymentKind::Hosted, 1_999);
    hosted.answer_page(page(0, 0));
    let shown = screen_in(&hosted, ThemeName::Plain);
    assert!(shown.contains("1 999 of 2 000 pictures have a caption."), "{shown}");
    assert!(!shown.contains("gets a model") && !shown.contains("names of files"), "{shown}");
}

#[test]
fn a_refused_caption_search_offers_no_second_try() {
    let mut desk = nothing_matches(DeploymentKind::Hosted, 4);
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    let refused = Failure::new(FailureKind::Invalid, "the request was rejected (422)");
    desk.respond(ticket, Err(refused));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("the request was rejected (422)"), "{shown}");
    assert!(shown.contains("4 of 2 000 pictures have a caption."), "{shown}");
    assert!(!shown.contains("r tries again"), "{shown}");
}

#[test]
fn members_are_shown_under_the_name_of_their_cluster() {
    let mut desk = similar(120, 40);
    desk.press("l l l enter");
    let heading = row(&drawn(&desk, ThemeName::Plain), 2);
    assert!(heading.contains("members of “A red balloon over"), "{heading}");
}

#[test]
fn the_border_marks_which_rows_are_visible() {
    let mark = |desk: &Desk| -> Vec<u16> {
        let buffer = drawn(desk, ThemeName::Plain);
        let right = desk.app.areas().results.unwrap().right() - 1;
        (0..buffer.area.height).filter(|y| buffer[(right, *y)].symbol() == "█").collect()
    };
    let mut desk = browsing(80, 24);
    let top = mark(&desk);
    desk.press("G");
    let bottom = mark(&desk);
    assert!(!top.is_empty() && top.first() < bottom.first() && top.last() < bottom.last());
    assert!(mark(&similar(200, 60)).is_empty(), "everything is visible");
}

#[test]
fn a_line_tells_what_ended_in_place_of_the_jobs() {
    let mut desk = browsing(120, 40);
    let line = |desk: &Desk| row(&drawn(desk, ThemeName::Plain), desk.app.areas().jobs.unwrap().y);
    assert!(line(&desk).contains("4 Jobs  none · e exports the open dataset"), "{}", line(&desk));
    desk.press("e enter");
    desk.fail(Lane::StartJob(JobId(0)), FailureKind::Invalid);
    assert!(
        line(&desk).contains("4 Jobs  1 · export set-1: ") && line(&desk).contains("it broke"),
        "{}",
        line(&desk)
    );
}

#[test]
fn an_archive_shows_only_what_it_has() {
    let shown = screen_in(&inside_plain(80, 24), ThemeName::Plain);
    assert!(
        shown.contains("annotation files      18") && shown.contains("labels/1.txt"),
        "{shown}"
    );
    assert!(!shown.contains("columns") && !shown.contains("uniqueness_score"), "{shown}");
    assert!(!shown.contains("rows without"), "{shown}");
}

#[test]
fn the_labels_of_a_cluster_are_not_those_of_the_picture() {
    let mut desk = similar(120, 40);
    desk.press("l");
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("labels in the whole"), "{shown}");
    assert!(shown.contains("# balloon, hills") && shown.contains("“A red balloon"), "{shown}");
}

#[test]
fn the_connection_shows_service_login_and_failures() {
    let mut desk = browsing(200, 60);
    let request = |outcome| {
        Event::Exchange(RequestRecord {
            purpose: "list the datasets",
            method: "GET",
            target: SafeText::detail("/api/v1/datasets"),
            attempt: 1,
            duration: Duration::from_millis(31),
            bytes_sent: 0,
            outcome,
            retry_in: None,
        })
    };
    desk.happen(request(RequestOutcome::Succeeded { status: 200, bytes: 2_048 }));
    desk.happen(request(RequestOutcome::Rejected { status: 503, message: None }));
    let shown = screen_in(&desk, ThemeName::Plain);
    for text in ["Connection  @ log", "service  responding", "login    none needed", "503"] {
        assert!(shown.contains(text), "{text} is missing:\n{shown}");
    }
    assert_eq!(shown.matches("31 ms").count(), 1, "{shown}");
}

#[test]
fn a_long_notification_is_shown_in_full() {
    let mut desk = browsing(80, 24);
    let reason = "the archive cannot be written: the disk is full. Free 2 GiB in /downloads, or choose \
                  another folder in the settings, and start the export again";
    desk.happen(Event::Warning(SafeText::detail(reason)));
    let shown = screen_in(&desk, ThemeName::Plain);
    for words in ["the disk is full", "start the export again"] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
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
fn text_areas(desk: &Desk) -> Vec<Rect> {
    let areas = desk.app.areas();
    let detail = areas.detail.map(|area| DetailLayout::new(&desk.app, area).text);
    let framed = |area: Option<Rect>| area.filter(|area| area.height > 2).map(inner_area);
    let query = areas.query.filter(|_| desk.app.query().draft(desk.app.results()).json.is_none());
    let panes = [areas.status, query, areas.jobs, areas.basket, areas.connection];
    let panes: Vec<Rect> = panes.into_iter().filter_map(framed).chain(detail).collect();
    let Some(overlay) = desk.app.overlay() else { return panes };
    let dialog = overlay.area(&desk.app);
    let inside = if desk.app.dialog::<FilterInput>().is_some() {
        dialog
    } else if desk.app.dialog::<FilePicker>().is_some() {
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
        let mut desk = browsing_and(columns, rows, "a enter");
        desk.press("tab tab");
        desk
    }),
    ("rejected login", |columns, rows| {
        let mut desk = browsing(columns, rows);
        desk.wait(30);
        let (ticket, _) = desk.take(|lane| *lane == Lane::Datasets);
        desk.respond(ticket, Err(long_failure(FailureKind::Unauthorized)));
        desk.press("L");
        desk
    }),
    ("unreadable archive", |columns, rows| {
        let mut desk = inside(columns, rows);
        desk.press("esc i");
        let (ticket, _) = desk.take(|lane| *lane == Lane::Inspect);
        desk.respond(ticket, Err(long_failure(FailureKind::Local)));
        desk
    }),
    ("failed job", |columns, rows| {
        let mut desk = browsing_and(columns, rows, "e enter");
        let (ticket, _) = desk.take(|lane| *lane == Lane::StartJob(JobId(0)));
        desk.respond(ticket, Err(long_failure(FailureKind::Invalid)));
        desk.press("esc 4");
        desk
    }),
    ("unavailable action", |columns, rows| browsing_and(columns, rows, ". R e i n d enter")),
    ("score of a caption", |columns, rows| browsing_and(columns, rows, "c tab 7 7")),
    ("page", |columns, rows| browsing_and(columns, rows, "g n")),
    ("selection file", |columns, rows| marked_and(columns, rows, "M o")),
    ("status, facts and query", |columns, rows| similar_and(columns, rows, "1 j j j j")),
];

fn similar_and(columns: u16, rows: u16, keys: &str) -> Desk {
    let mut desk = similar(columns, rows);
    desk.press("esc");
    desk.press(keys);
    desk
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
        let mut desk = scene(120, 40);
        for (columns, rows) in sizes {
            desk.happen(Event::Resize(columns, rows));
            let buffer = drawn(&desk, ThemeName::Plain);
            for area in text_areas(&desk) {
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
            let desk = similar_and(columns, rows, keys);
            let buffer = drawn(&desk, ThemeName::Plain);
            for area in text_areas(&desk) {
                let cut = is_cut_beside_blank_rows(&buffer, area);
                assert!(!cut, "{keys} at {columns}x{rows}:\n{}", styled(&buffer));
            }
        }
    }
}

#[test]
fn the_keys_of_a_dialog_are_never_cut_and_the_way_out_is_among_them() {
    for (name, scene) in EVERY {
        let mut desk = scene(120, 40);
        if desk.app.overlay().is_none() {
            continue;
        }
        for (columns, rows) in [(50, 14), (80, 24)] {
            desk.happen(Event::Resize(columns, rows));
            let hints = row(&drawn(&desk, ThemeName::Plain), rows - 1);
            let counted = usize::from(hints.contains(" more ("));
            let is_whole = hints.matches('…').count() == counted;
            assert!(is_whole && hints.contains("Esc"), "{name}: {hints}");
        }
    }
}

#[test]
fn a_form_scrolls_to_its_focused_field_and_keeps_what_enter_does() {
    let mut desk = browsing(50, 14);
    desk.press("A");
    let shown = |desk: &Desk| screen_in(desk, ThemeName::Plain);
    assert!(shown(&desk).contains("▸ paths"), "{}", shown(&desk));
    desk.press("tab tab tab tab tab");
    let last = shown(&desk);
    for text in ["▸ spot", "default of the service", "Enter checks the files"] {
        assert!(last.contains(text), "{text} is missing:\n{last}");
    }
}

#[test]
fn the_whole_text_of_an_archive_is_reached_on_a_small_screen() {
    let mut desk = inside(50, 14);
    let shown = |desk: &Desk| screen_in(desk, ThemeName::Plain);
    assert!(shown(&desk).contains("rows without a file"), "{}", shown(&desk));
    for _ in 0..30 {
        desk.press("down");
    }
    let end = shown(&desk);
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
        let mut desk = caption_line(columns, rows);
        desk.press("esc");
        let shown = screen_in(&desk, ThemeName::Plain);
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
            let desk = frames(columns, rows);
            let (buffer, area) = (drawn(&desk, ThemeName::Plain), desk.app.areas().results);
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

#[test]
fn counts_of_one_have_their_noun_in_the_singular() {
    let mut desk = Desk::with_clusters(1);
    let mut one = dataset(1, Status::Ready);
    one.n_images = Some(1);
    desk.wait(30);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![one.clone()], 0));
    let shown = |desk: &mut Desk, keys: &str| {
        desk.press(keys);
        screen_in(desk, ThemeName::Plain)
    };
    assert!(shown(&mut desk, "e").contains(" 1 image "), "the export form");
    desk.press("esc A");
    desk.type_text("~/new");
    desk.press("enter");
    let found = Preflight { images: 1, videos: 1, bytes: 9, skipped: 1, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found));
    let form = screen_in(&desk, ThemeName::Plain);
    assert!(form.contains("1 image, 1 video, 9 B; Enter adds them"), "{form}");
    assert!(form.contains("skipped: 1 other file"), "{form}");
    desk.press("esc space");
    let basket = shown(&mut desk, "M");
    assert!(basket.contains("1 cluster of 3 members"), "{basket}");
}

#[test]
fn the_line_of_filters_names_the_key_of_the_query_builder_in_words() {
    let shown = screen_in(&chips(160, 40), ThemeName::Plain);
    assert!(shown.contains("3 opens the query builder"), "{shown}");
    assert!(!shown.contains("3 edit"), "it would read as a count:\n{shown}");
}

#[test]
fn the_focused_part_of_the_query_builder_is_visible_on_small_screens() {
    for (columns, rows) in [(80, 12), (40, 12), (80, 14), (40, 10)] {
        let mut desk = browsing(columns, rows);
        desk.press("3 a 1");
        desk.type_text("sub");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("[sub"), "{columns}x{rows}: no field\n{shown}");
        desk.press("esc");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("▸ ✓  text"), "{columns}x{rows}: no filter\n{shown}");
        desk.press("tab");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("  1 [{"), "{columns}x{rows}: no JSON\n{shown}");
    }
}

#[test]
fn an_empty_page_names_the_last_one_only_if_it_is_known() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    desk.answer_page(page(0, 0));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("the previous one was the last"), "{shown}");
    let mut desk = Desk::with_clusters(100);
    desk.press("g n");
    desk.type_text("999999");
    desk.press("enter");
    desk.answer_page(page(0, 0));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("the results end on an earlier one"), "{shown}");
    assert!(shown.contains("g n goes to another page"), "{shown}");
}

#[test]
fn a_filter_of_the_datasets_is_named_with_the_number_of_matches() {
    for (columns, rows) in [(120, 40), (80, 24)] {
        let mut desk = datasets(columns, rows);
        desk.press("1 /");
        desk.type_text("set-3");
        desk.press("enter");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("1 of 6") && shown.contains("Esc clears “set-3”"), "{shown}");
        desk.press("/");
        desk.type_text("x");
        desk.press("enter");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("0 of 6") && shown.contains("Esc clears “set-3x”"), "{shown}");
        desk.press("i");
        assert_eq!(
            desk.notice(),
            "no dataset matches the filter of the datasets; Esc clears it there"
        );
        desk.press("esc esc");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(!shown.contains(" of 6") && shown.contains("set-1"), "{shown}");
    }
}
