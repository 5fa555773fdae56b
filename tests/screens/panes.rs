//! Tests what panes show: positions, facts, and single lines in place of panes.

use std::time::Duration;

use serde_json::json;

use super::{drawn, row, screen_in};
use tessera_config::DeploymentKind;
use tessera_curation::duplicates::DuplicateGroup;
use tessera_interface::{
    app::{Event, Pane},
    drawing::theme::ThemeName,
    message::{JobId, Lane, Payload, WorkerEvent},
};
use tessera_model::{
    Failure, FailureKind, FileFacts, IMPORTED_EMBEDDINGS, Page, Preflight, RequestOutcome,
    RequestRecord, SafeText, Status, Tag, UserTags,
};
use tessera_picture::Protocol;

use crate::support::{
    app_harness::{AppHarness, dataset, page},
    duplicates::{group, local_desk},
    scene::{browsing, chips, datasets, inside_plain, similar},
};

#[test]
fn the_position_in_the_search_is_shown_with_the_total_once_it_is_known() {
    let mut harness = AppHarness::with_clusters(100);
    harness.happen(Event::Resize(80, 24));
    let heading = |harness: &AppHarness| row(&drawn(harness, ThemeName::Plain), 3);
    assert!(
        heading(&harness).contains("clusters 1-100 · granularity 2 · page 1"),
        "{}",
        heading(&harness)
    );
    harness.press("n");
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("loading page 2   Esc stay here"), "{shown}");
    harness.answer_page(page(100, 34));
    assert!(heading(&harness).contains("clusters 101-134 of 134"), "{}", heading(&harness));
    harness.press("p");
    assert!(heading(&harness).contains("clusters 1-100 of 134"), "{}", heading(&harness));
    for (columns, position) in [(36, "clusters 1-100 of 134 ┓"), (32, "  clusters 1-100 ━")] {
        harness.happen(Event::Resize(columns, 24));
        assert!(heading(&harness).contains(position), "{columns}: {}", heading(&harness));
    }
}

#[test]
fn the_order_of_results_without_a_query_is_named() {
    for (columns, filtered, order) in [
        (120, false, "the whole dataset, largest clusters first"),
        (120, true, "all that matches the filters, in the order of the whole dataset"),
    ] {
        let mut harness = local_desk(columns, 40);
        if filtered {
            harness.press("3 a 2");
            harness.type_text("van");
            harness.press("esc f5");
            harness.answer_page(page(20, 3));
        }
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains(order), "{shown}");
    }
}

#[test]
fn the_detail_begins_with_the_path_and_the_facts_of_the_file() {
    let mut harness = browsing(120, 40);
    let mut found = page(0, 3);
    let preview = &mut found.clusters[0].previews[0];
    preview.original_uri = Some(SafeText::detail("trips/rome/0.jpg"));
    preview.file = FileFacts {
        bytes: Some(3 << 20),
        date: Some(SafeText::name("2024-05-17")),
        camera: Some(SafeText::name("NIKON D90")),
    };
    harness.press("f");
    harness.answer_page(found);
    let lines: Vec<String> = (0..40).map(|y| row(&drawn(&harness, ThemeName::Plain), y)).collect();
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).expect(text);
    let first = at("trips/rome/0.jpg");
    assert_eq!([at("640×480 · 3.0 MiB"), at("NIKON D90")], [first + 1, first + 2], "{lines:#?}");
    assert!(at("00000000-0000") > first + 2, "the ID comes last");
}

#[test]
fn a_caption_has_the_rows_that_it_needs_before_labels_and_the_id() {
    let caption = "a red van on a wet street at night, seen from a window high above it";
    let mut harness = browsing(80, 24);
    let mut found = page(0, 3);
    found.clusters[0].labels = vec![SafeText::name("street"), SafeText::name("van")];
    let preview = &mut found.clusters[0].previews[0];
    preview.original_uri = Some(SafeText::detail("trips/rome/0.jpg"));
    preview.caption = Some(SafeText::name(caption));
    harness.press("f");
    harness.answer_page(found);
    harness.press("i");
    let lines: Vec<String> = (0..24).map(|y| row(&drawn(&harness, ThemeName::Plain), y)).collect();
    let text = lines.join(" ").replace(['│', '┃', '░'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("seen from a window high above it”"), "{lines:#?}");
}

#[test]
fn only_the_detail_says_why_pictures_are_missing() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock).opening_clusters(9);
    let is_picture = |lane: &Lane| matches!(lane, Lane::Picture(..));
    while harness.open.iter().any(|(ticket, _)| is_picture(&ticket.lane)) {
        let (ticket, _) = harness.take(is_picture);
        harness.respond(ticket, Err(Failure::new(FailureKind::NotFound, "picture not found")));
    }
    let lines: Vec<String> = (0..40).map(|y| row(&drawn(&harness, ThemeName::Plain), y)).collect();
    let text = lines.join("\n");
    assert_eq!(text.matches("picture not found").count(), 1, "{text}");
    assert!(text.matches("not loaded").count() >= 6, "{text}");
}

#[test]
fn without_color_the_points_of_a_map_have_the_letters_of_the_legend() {
    let harness = crate::support::map::mapped(80, 24, "");
    let lines: Vec<String> = (0..24).map(|y| row(&drawn(&harness, ThemeName::Plain), y)).collect();
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
    let mut harness = datasets(120, 40);
    let id = harness.app.selected_dataset().unwrap().id;
    let folder = "/home/me/pictures/of a long journey/through many lands/holidays";
    harness.app.setup_mut().dataset_folders.insert(id, SafeText::file_name(folder));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("folder   …") && shown.contains("lands/holidays"), "{shown}");
    harness.press("i");
    harness.answer(Lane::Record(id), Payload::Record(Vec::new()));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains(folder), "{shown}");
}

#[test]
fn datasets_of_the_same_name_show_where_their_folders_differ() {
    let mut harness = AppHarness::with_pictures(Protocol::None);
    let mut all = [1, 2, 3].map(|number| dataset(number, Status::Ready));
    all[1].name = all[0].name.clone();
    let name = all[0].name.clone();
    for (dataset, year) in all.iter().zip([2023, 2024, 2025]) {
        let folder = SafeText::file_name(&format!("/home/me/{year}/{name}"));
        harness.app.setup_mut().dataset_folders.insert(dataset.id, folder);
    }
    harness.answer(Lane::Datasets, Payload::Datasets(all.to_vec(), 0));
    let shown = screen_in(&harness, ThemeName::Plain);
    for year in ["2023", "2024"] {
        assert!(shown.contains(&format!("{name} {year}")), "{shown}");
    }
    assert!(!shown.contains(&format!("{} 2025", all[2].name)), "{shown}");
}

#[test]
fn a_review_states_no_result_while_duplicates_are_looked_for() {
    let mut harness = local_desk(80, 24);
    harness.press("g d");
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("Looking for near-duplicates") && !shown.contains("frees"), "{shown}");
    harness.answer(lane, Payload::Duplicates(vec![group(4, &[50, 40])]));
    assert!(screen_in(&harness, ThemeName::Plain).contains("1 group, frees"));
    harness.press("r");
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(!shown.contains("1 group"), "{shown}");
}

#[test]
fn the_review_says_why_a_rule_is_refused_and_what_it_does_not_decide() {
    let mut harness = local_desk(80, 24);
    harness.press("g d R");
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    let DuplicateGroup { mut kept, others } = group(1, &[10, 9]);
    kept.extend(others.into_iter().map(|other| other.image));
    let undecided = DuplicateGroup { kept, others: Vec::new() };
    harness.answer(lane, Payload::Duplicates(vec![undecided, group(4, &[50, 40, 30])]));
    let shown = |harness: &mut AppHarness, keys: &str| {
        harness.press(keys);
        screen_in(harness, ThemeName::Plain)
    };
    for (keys, text) in [
        ("R", "a rule is largest, oldest, best-quality, shortest-name"),
        ("f o o enter", "this is not a rule: expected largest, oldest"),
        ("f o o enter", "path:PATTERN"),
        ("esc", "undecided, nothing goes"),
        ("enter", "f finish"),
        ("f", "1 group: the rule largest keeps no image, so nothing goes."),
    ] {
        let shown = shown(&mut harness, keys);
        assert!(shown.contains(text), "{text} is missing:\n{shown}");
    }
    let end = shown(&mut harness, "f");
    assert!(!end.contains("not opened"), "the other group was opened:\n{end}");
}

#[test]
fn the_keys_of_a_range_are_shown_only_in_the_results() {
    let mut harness = browsing(120, 40);
    harness.press("2 v l");
    assert!(row(&drawn(&harness, ThemeName::Plain), 39).contains("range of 2"));
    harness.press("3");
    assert!(!row(&drawn(&harness, ThemeName::Plain), 39).contains("range of"));
}

#[test]
fn a_tile_shows_labels_that_members_of_the_result_have() {
    let mut harness = similar(120, 40);
    let labeled = || {
        let mut page = page(0, 2);
        page.clusters[0].labels = ["boat", "harbor", "night"].map(SafeText::name).to_vec();
        page.clusters[0].previews[1].labels = vec![SafeText::name("night")];
        page
    };
    harness.press("r");
    harness.answer_page(labeled());
    assert!(screen_in(&harness, ThemeName::Plain).contains("# night, boat, harbor"));
    harness.press("g f x");
    harness.answer_page(labeled());
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("# night, harbor"), "{shown}");
}

#[test]
fn what_is_equal_in_a_group_leaves_room_for_the_path() {
    let mut found = group(4, &[50, 50, 50]);
    let first = found.kept[0].original.content.modified;
    for other in &mut found.others {
        other.image.original.content.modified = first;
    }
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    for (columns, shows_equal) in [(80, false), (120, true)] {
        let mut harness = local_desk(columns, 24);
        harness.press("g d");
        harness.answer(lane.clone(), Payload::Duplicates(vec![found.clone()]));
        harness.press("enter");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert_eq!(shown.contains("500×500"), shows_equal, "{shown}");
        assert_eq!(shown.contains("2023-11-18"), shows_equal, "{shown}");
    }
}

#[test]
fn a_long_notification_leaves_the_hints() {
    let mut harness = browsing(80, 24);
    let hints = row(&drawn(&harness, ThemeName::Plain), 23);
    let text = SafeText::detail(&"word ".repeat(20));
    harness.happen(Event::Worker(WorkerEvent::Warning(text)));
    let shown = drawn(&harness, ThemeName::Plain);
    assert!(row(&shown, 21).contains("word") && row(&shown, 22).contains("word"), "{shown:?}");
    assert_eq!(row(&shown, 23), hints);
    // A dialog does not hide the beginning of the text.
    harness.press(":");
    let shown = drawn(&harness, ThemeName::Plain);
    assert!(row(&shown, 21).contains("word") && row(&shown, 22).contains("word"), "{shown:?}");
}

#[test]
fn marks_leave_room_for_the_path_in_the_review_of_duplicates() {
    let mut harness = local_desk(80, 24);
    harness.press("g d");
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
    harness.answer(lane, Payload::Duplicates(vec![found]));
    let paths = |harness: &AppHarness| {
        let shown = screen_in(harness, ThemeName::Plain);
        ["4.jpg", "5.jpg", "6.jpg"].map(|name| shown.matches(name).count())
    };
    harness.press("enter");
    let shown = paths(&harness);
    assert!(
        shown[0] >= 2 && shown[1] >= 2 && shown[2] >= 1,
        "above the pictures and in the rows: {shown:?}"
    );
    assert!(screen_in(&harness, ThemeName::Plain).contains("★5"));
    harness.press("f");
    assert_eq!(paths(&harness), [1, 1, 1]);
}

#[test]
fn what_read_only_forbids_is_not_offered() {
    let mut harness = datasets(120, 40);
    let hints = row(&drawn(&harness, ThemeName::Plain), 39);
    assert!(hints.contains("add media"), "{hints}");
    harness.app.setup_mut().read_only = true;
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("✗ add media") && shown.contains("opened with --read-only"), "{shown}");
    let hints = row(&drawn(&harness, ThemeName::Plain), 39);
    assert!(!hints.contains("add media") && !hints.contains("reindex"), "{hints}");
}

#[test]
fn a_tile_tells_marks_of_the_whole_cluster_from_those_of_some_pictures() {
    let mut harness = browsing(120, 40);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
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
    harness.press("f");
    harness.answer_page(found);
    let shown = screen_in(&harness, ThemeName::Plain);
    for marks in ["✔ ★3 #1 ", "(✔) (★3) (#1) ", "(✔) "] {
        assert!(shown.contains(marks), "{marks} is missing:\n{shown}");
    }
    // The members that are not loaded may be without the marks.
    let mut found = page(0, 1);
    found.clusters[0].n_images = Some(9);
    for preview in &mut found.clusters[0].previews {
        (preview.tags, preview.rating) = (tags(&["picked"]), 3);
    }
    harness.press("r");
    harness.answer_page(found);
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("(✔) (★3) "), "{shown}");
    // A filter omitted the picture that has the tag of the cluster.
    let mut found = page(0, 1);
    found.clusters[0].tags = vec![Tag { id: None, name: SafeText::name("picked") }];
    found.clusters[0].n_images = Some(found.clusters[0].previews.len() as u64);
    harness.press("r");
    harness.answer_page(found);
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(!shown.contains('✔'), "{shown}");
}

#[test]
fn the_help_of_tagging_names_the_tags_that_have_no_room_in_the_hints() {
    let mut harness = browsing(80, 24);
    harness.press(";");
    for name in ["a tag with a long name", "another long name", "one more long name"] {
        harness.press("+");
        harness.type_text(name);
        harness.press("enter");
    }
    let hints = row(&drawn(&harness, ThemeName::Plain), 23);
    for part in ["p pick  x reject  1 a tag with …", "more (?)", "Esc leave"] {
        assert!(hints.contains(part), "{part} is missing: {hints}");
    }
    harness.press("?");
    let help = screen_in(&harness, ThemeName::Plain);
    assert!(help.contains("Add the tag one more long name"), "{help}");
}

#[test]
fn a_search_among_the_nearest_media_says_so() {
    let mut harness = browsing(120, 40);
    harness.press("f");
    harness.answer_page(Page { is_bounded: true, ..page(0, 3) });
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("2 Results  only the nearest media · 3 clusters"), "{shown}");
}

#[test]
fn tiles_show_labels_of_what_a_picture_shows_only() {
    let mut harness = browsing(80, 24);
    let mut page = page(0, 2);
    for (cluster, labels) in
        page.clusters.iter_mut().zip([&["owl", "year:2024"][..], &["year:2024"]])
    {
        cluster.labels = labels.iter().copied().map(SafeText::name).collect();
    }
    harness.press("f");
    harness.answer_page(page);
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("# owl") && !shown.contains("2024"), "{shown}");
}

#[test]
fn a_page_that_fails_is_reported_beside_the_one_that_stays() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    harness.respond(ticket, Err(Failure::new(FailureKind::Server, "it broke")));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("page 2: r tries again, Esc stays here: it broke"), "{shown}");
    assert!(shown.contains("0.jpg"), "{shown}");
}

/// Searches for a caption that nothing matches, in a dataset of which `captions` of 2,000 pictures have one.
fn nothing_matches(deployment: DeploymentKind, captions: u64) -> AppHarness {
    nothing_matches_with(deployment, captions, "")
}

/// The same, with image encodings of this identifier.
fn nothing_matches_with(deployment: DeploymentKind, captions: u64, encoding: &str) -> AppHarness {
    let mut harness = browsing(80, 24);
    harness.app.setup_mut().deployment = deployment;
    harness.press("c d o g enter");
    let metadata = json!({ "covered_media": captions, "all_media": 2_000 });
    let models = json!({
        "CAPTION_IMAGES": { "id": "space", "metadata": metadata },
        "IMAGE_ENCODING": { "id": encoding },
    });
    let body = json!({ "dataset_enrichment_models": { "enrichment_models": models } });
    // The first request is from before the screen became small.
    harness.answer_enrichments(&body);
    harness
}

#[test]
fn a_caption_search_without_a_match_says_why_and_what_leads_on() {
    let mut harness = nothing_matches(DeploymentKind::Local, 4);
    harness.answer_page(page(0, 0));
    let shown = screen_in(&harness, ThemeName::Plain);
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
    let mut harness = nothing_matches(DeploymentKind::Hosted, 4);
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    let refused = Failure::new(FailureKind::Invalid, "the request was rejected (422)");
    harness.respond(ticket, Err(refused));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("the request was rejected (422)"), "{shown}");
    assert!(shown.contains("4 of 2 000 pictures have a caption."), "{shown}");
    assert!(!shown.contains("r tries again"), "{shown}");
}

#[test]
fn members_are_shown_under_the_name_of_their_cluster() {
    let mut harness = similar(120, 40);
    harness.press("l l l enter");
    let heading = row(&drawn(&harness, ThemeName::Plain), 2);
    assert!(heading.contains("members of “A red balloon over"), "{heading}");
}

#[test]
fn the_border_marks_which_rows_are_visible() {
    let mark = |harness: &AppHarness| -> Vec<u16> {
        let buffer = drawn(harness, ThemeName::Plain);
        let right = harness.app.areas().pane(Pane::Results).unwrap().right() - 1;
        (0..buffer.area.height).filter(|y| buffer[(right, *y)].symbol() == "█").collect()
    };
    let mut harness = browsing(80, 24);
    let top = mark(&harness);
    harness.press("G");
    let bottom = mark(&harness);
    assert!(!top.is_empty() && top.first() < bottom.first() && top.last() < bottom.last());
    assert!(mark(&similar(200, 60)).is_empty(), "everything is visible");
}

#[test]
fn a_line_tells_what_ended_in_place_of_the_jobs() {
    let mut harness = browsing(120, 40);
    let line = |harness: &AppHarness| {
        row(&drawn(harness, ThemeName::Plain), harness.app.areas().pane(Pane::Jobs).unwrap().y)
    };
    assert!(
        line(&harness).contains("4 Jobs  none · e exports the open dataset"),
        "{}",
        line(&harness)
    );
    harness.press("e enter");
    harness.fail(Lane::StartJob(JobId(0)), FailureKind::Invalid);
    assert!(
        line(&harness).contains("4 Jobs  1 · export set-1: ")
            && line(&harness).contains("it broke"),
        "{}",
        line(&harness)
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
    let mut harness = similar(120, 40);
    harness.press("l");
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("labels in the whole"), "{shown}");
    assert!(shown.contains("# balloon, hills") && shown.contains("“A red balloon"), "{shown}");
}

#[test]
fn the_connection_shows_service_login_and_failures() {
    let mut harness = browsing(200, 60);
    let request = |outcome| {
        Event::Worker(WorkerEvent::Exchange(RequestRecord {
            purpose: "list the datasets",
            method: "GET",
            target: SafeText::detail("/api/v1/datasets"),
            attempt: 1,
            duration: Duration::from_millis(31),
            bytes_sent: 0,
            outcome,
            retry_in: None,
        }))
    };
    harness.happen(request(RequestOutcome::Succeeded { status: 200, bytes: 2_048 }));
    harness.happen(request(RequestOutcome::Rejected { status: 503, message: None }));
    let shown = screen_in(&harness, ThemeName::Plain);
    for text in ["Connection  @ log", "service  responding", "login    none needed", "503"] {
        assert!(shown.contains(text), "{text} is missing:\n{shown}");
    }
    assert_eq!(shown.matches("31 ms").count(), 1, "{shown}");
}

#[test]
fn a_long_notification_is_shown_in_full() {
    let mut harness = browsing(80, 24);
    let reason = "the archive cannot be written: the disk is full. Free 2 GiB in /downloads, or choose \
                  another folder in the settings, and start the export again";
    harness.happen(Event::Worker(WorkerEvent::Warning(SafeText::detail(reason))));
    let shown = screen_in(&harness, ThemeName::Plain);
    for words in ["the disk is full", "start the export again"] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
}

#[test]
fn counts_of_one_have_their_noun_in_the_singular() {
    let mut harness = AppHarness::with_clusters(1);
    let mut one = dataset(1, Status::Ready);
    one.n_images = Some(1);
    harness.wait(30);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![one.clone()], 0));
    let shown = |harness: &mut AppHarness, keys: &str| {
        harness.press(keys);
        screen_in(harness, ThemeName::Plain)
    };
    assert!(shown(&mut harness, "e").contains(" 1 image "), "the export form");
    harness.press("esc A");
    harness.type_text("~/new");
    harness.press("enter");
    let found = Preflight { images: 1, videos: 1, bytes: 9, skipped: 1, ..Preflight::default() };
    harness.answer(Lane::Preflight, Payload::Preflight(found));
    let form = screen_in(&harness, ThemeName::Plain);
    assert!(form.contains("1 image, 1 video, 9 B; Enter adds them"), "{form}");
    assert!(form.contains("skipped: 1 other file"), "{form}");
    harness.type_text("x");
    harness.press("enter");
    let mut missing = Preflight { warnings: vec![SafeText::name("none")], ..Preflight::default() };
    missing.add_unreadable("/newx", "no such file");
    harness.answer(Lane::Preflight, Payload::Preflight(missing));
    let form = screen_in(&harness, ThemeName::Plain);
    assert!(form.contains("/newx: no such file"), "{form}");
    assert!(!form.contains("Enter adds") && !form.contains("skipped"), "nothing is added: {form}");
    harness.press("esc space");
    let basket = shown(&mut harness, "M");
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
        let mut harness = browsing(columns, rows);
        harness.press("3 a 1");
        harness.type_text("sub");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("[sub"), "{columns}x{rows}: no field\n{shown}");
        harness.press("esc");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("▸ ✓  text"), "{columns}x{rows}: no filter\n{shown}");
        harness.press("tab");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("  1 [{"), "{columns}x{rows}: no JSON\n{shown}");
    }
}

#[test]
fn an_empty_page_names_the_last_one_only_if_it_is_known() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    harness.answer_page(page(0, 0));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("the previous one was the last"), "{shown}");
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g n");
    harness.type_text("999999");
    harness.press("enter");
    harness.answer_page(page(0, 0));
    let shown = screen_in(&harness, ThemeName::Plain);
    assert!(shown.contains("the results end on an earlier one"), "{shown}");
    assert!(shown.contains("g n goes to another page"), "{shown}");
}

#[test]
fn a_filter_of_the_datasets_is_named_with_the_number_of_matches() {
    for (columns, rows) in [(120, 40), (80, 24)] {
        let mut harness = datasets(columns, rows);
        harness.press("1 /");
        harness.type_text("set-3");
        harness.press("enter");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("1 of 6") && shown.contains("Esc clears “set-3”"), "{shown}");
        harness.press("/");
        harness.type_text("x");
        harness.press("enter");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(shown.contains("0 of 6") && shown.contains("Esc clears “set-3x”"), "{shown}");
        for key in ["i", "R"] {
            harness.press(key);
            let reason = "no dataset matches the filter of the datasets; Esc clears it there";
            assert_eq!(harness.notice(), reason, "{key}");
        }
        harness.press("esc esc");
        let shown = screen_in(&harness, ThemeName::Plain);
        assert!(!shown.contains(" of 6") && shown.contains("set-1"), "{shown}");
    }
}
