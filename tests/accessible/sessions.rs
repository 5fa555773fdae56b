//! Tests what a session announces, line by line.

use tessera_interface::message::{JobId, Lane, Payload};
use tessera_model::{Relevance, SafeText, ScoreKind, Status};

use super::TextSession;
use crate::support::{
    app_harness::{AppHarness, cluster, dataset, page, task},
    duplicates::{group, local_desk, reviewing},
    map::{answer, map},
    scene,
};

fn start(harness: AppHarness) -> TextSession {
    let mut session = TextSession::start(harness);
    session.log.clear();
    session
}

#[test]
fn results_members_and_pictures_are_read() {
    let mut session = start(scene::similar(120, 40));
    for line in ["read", "3", "select", "open", "select 2", "full-size", "next-picture", "back"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn a_search_with_filters_is_not_read_as_the_whole_dataset() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 a 2");
    harness.type_text("van");
    harness.press("esc f5");
    harness.answer_page(page(20, 3));
    let mut session = start(harness);
    session.type_line("read");
    assert!(session.log.contains("all that matches the filters: page 1"), "{}", session.log);
}

#[test]
fn a_long_page_is_read_in_parts() {
    let mut session = start(AppHarness::with_clusters(25));
    let count = |lines: &str| lines.lines().filter(|line| line.contains(" of 25")).count();
    let hint = "more; type more to read them";
    for (line, items, last) in [
        ("read", 10, format!("15 {hint}")),
        ("more", 10, format!("5 {hint}")),
        // A change reads only what has changed.
        ("select 3", 1, String::new()),
        ("more", 5, String::new()),
        ("more", 0, "all items are read".to_owned()),
    ] {
        session.log.clear();
        session.type_line(line);
        assert_eq!(count(&session.log), items, "{line}: {}", session.log);
        assert!(session.log.trim_end().ends_with(&last), "{line}: {}", session.log);
    }
}

/// The signs of the drawing that mean something.
const SIGNS: [char; 18] =
    ['●', '○', '◐', '◧', '◑', '◔', '✓', '✗', '✔', '✖', '⚠', '★', '▶', '▸', '•', '‹', '█', '▊'];

#[test]
fn every_sign_is_read_as_words() {
    let states: [fn(u16, u16) -> AppHarness; 31] = [
        scene::similar,
        scene::with_jobs,
        scene::datasets,
        scene::removing,
        scene::offering_model,
        scene::models,
        scene::getting_model,
        scene::local,
        scene::replacing_sets,
        scene::checked,
        scene::detail,
        scene::help,
        scene::log,
        scene::record,
        scene::export_form,
        scene::file_picker,
        scene::region_picker,
        scene::region_numbers,
        scene::framed_detail,
        scene::failed,
        scene::stale,
        scene::query,
        scene::query_json,
        scene::chips,
        scene::caption_line,
        scene::facets,
        scene::with_marks,
        scene::adding,
        scene::timeline,
        scene::inside,
        reviewing,
    ];
    for state in states {
        let session = TextSession::start(state(120, 40));
        assert!(!session.log.contains(SIGNS), "{}", session.log);
    }
}

#[test]
fn every_long_list_is_read_in_parts_and_a_change_alone() {
    let mut harness = scene::browsing(120, 40);
    (0..23).for_each(|_| harness.press("e enter"));
    let mut session = start(harness);
    assert_parts(&mut session, "jobs", 23, "export of set-1");
    session.harness.answer(Lane::StartJob(JobId(3)), Payload::Export(task("IN_PROGRESS")));
    let lines = session.announce();
    assert!(lines.len() == 1 && lines[0].contains("20 of 23. export of set-1 IN_PROGRESS"));

    let mut harness = local_desk(120, 40).pressing("g d");
    let groups = (0..23).map(|number| group(2 * number + 1, &[50, 40])).collect();
    let lane = Lane::FileAction(dataset(1, Status::Ready).id);
    harness.answer(lane, Payload::Duplicates(groups));
    let mut session = start(harness);
    assert_parts(&mut session, "read", 23, "keeps 1");
    session.type_line("1");
    let lines = [session.type_line("enter"), session.type_line("a"), session.type_line("esc")];
    let groups: Vec<&String> = lines[2].iter().filter(|line| line.contains("keeps")).collect();
    assert_eq!(groups.len(), 1, "{}", session.log);
    assert!(groups[0].contains("1 of 23.") && groups[0].contains("keeps 2, frees 0 B, decided"));

    let mut session = start(scene::browsing(120, 40));
    let help = session.type_and_read_all("help");
    assert!(help.len() > 200 && help.iter().all(|line| !line.contains("click")), "{help:?}");
    assert!(help.iter().any(|line| line.starts_with("item: focus-query, F4, ")), "{help:?}");
    session.type_line("/");
    assert_eq!(session.type_line("rat").len(), 1, "{}", session.log);
    let found = session.type_line("");
    assert!(found[0] == "status: Help, filter: rat" && found.concat().contains("rate-1"));
}

/// Types a line that reads a list, and checks that it is read ten items at a time, each with its number.
fn assert_parts(session: &mut TextSession, line: &str, count: usize, item: &str) {
    let mut lines = session.type_line(line);
    for start in (1..=count).step_by(10) {
        let end = count.min(start + 9);
        let of_item = |number| format!("item: {number} of {count}. ");
        let items: Vec<&String> = lines.iter().filter(|line| line.contains(item)).collect();
        assert_eq!(items.len(), end + 1 - start, "{lines:?}");
        let mut items = (start..).zip(items);
        assert!(items.all(|(number, line)| line.starts_with(&of_item(number))), "{lines:?}");
        if end < count {
            let hint = format!("status: {} more; type more to read them", count - end);
            assert_eq!(lines.last(), Some(&hint));
        }
        lines = session.type_line("more");
    }
    assert_eq!(lines, ["status: all items are read"]);
}

#[test]
fn compared_pictures_differ_in_words_and_one_is_suggested() {
    let mut harness = AppHarness::with_clusters(1);
    let mut two = page(0, 1);
    two.clusters[0] = cluster(0);
    two.clusters[0].previews.truncate(2);
    two.clusters[0].previews[1].dimensions = Some((1_280, 960));
    two.clusters[0].previews[0].relevance = Some(Relevance::new(0.1, ScoreKind::CosineDistance));
    harness.press("r");
    harness.answer_page(two);
    let mut session = start(harness);
    for line in ["compare", "next-pane", "keep"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn picks_ratings_and_tags_are_read() {
    let mut harness = local_desk(120, 40);
    let mut tagged = page(0, 2);
    tagged.clusters[0].previews[0].tags = ["picked", "night"].map(SafeText::name).to_vec();
    tagged.clusters[0].previews[0].rating = 4;
    for preview in &mut tagged.clusters[1].previews {
        preview.tags = vec![SafeText::name("rejected")];
    }
    harness.press("r");
    harness.answer_page(tagged);
    let mut session = start(harness);
    for (line, expected) in [
        ("read", "some picked, some rated 4, some tagged night, 3 members"),
        ("2", "Cluster c02, rejected, 3 members"),
        ("1", "Cluster c01, some picked"),
        ("open", "0.jpg, picked, rated 4, tagged night"),
        ("full-size", "640 by 480 pixels, picked, rated 4, tagged night"),
    ] {
        let announced = session.type_line(line).join("\n");
        assert!(announced.contains(expected), "{line}: {announced}");
    }
}

#[test]
fn scores_and_facets_are_counts() {
    let mut session = start(scene::similar(120, 40));
    for line in ["score-histogram", "3", "close", "facets", "tab", "2", "tab", "close"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn a_map_is_read_as_groups_with_their_places() {
    let mut session = start(scene::local(120, 40));
    session.type_line("map");
    answer(&mut session.harness, map(300));
    session.announce();
    for line in ["read", "2", "a", "c", "close", "close"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn an_item_that_does_not_exist_is_refused_and_changes_nothing() {
    let mut session = start(AppHarness::with_clusters(6));
    session.type_line("2");
    for line in ["99", "select 7", "similar 99", "deselect 9"] {
        let lines = session.type_line(line).concat();
        assert!(lines.contains("only items 1 to 6"), "{line}: {lines}");
    }
    assert_eq!(session.harness.app.results().tile_cursor().tile, 1);
    assert!(session.type_line("open 6").concat().contains("50.jpg"), "{}", session.log);
    session.type_line("close");
    session.type_line("menu");
    let lines = session.type_line("999").concat();
    assert!(lines.contains("there is no item 999"), "{lines}");
    assert!(session.harness.app.overlay().is_some());
}

#[test]
fn close_and_back_end_tagging_as_the_key_does() {
    for line in ["0", "close", "back"] {
        let mut session = start(scene::local(120, 40));
        session.type_line("tag-mode");
        let lines = session.type_line(line).concat();
        assert!(lines.contains("tagging ended"), "{line}: {lines}");
    }
}

#[test]
fn dialogs_take_text_keys_and_numbers() {
    let mut session = start(scene::browsing(120, 40));
    for line in [
        "caption",
        "a red van",
        "tab",
        "0.4",
        "x y z",
        "close",
        "export",
        "tab",
        "tab",
        "space",
        "wrong",
        "close",
        "sort",
        "name",
        "0",
        "query",
        "results",
        "add-filter",
        "2",
        "van",
        "",
        "back",
        "read",
        "nonsense",
    ] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn jobs_and_the_basket_are_read() {
    let mut session = start(scene::with_jobs(120, 40));
    for line in ["focus-jobs", "3", "open", "close", "datasets", "jobs", "4"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
    let mut session = start(scene::with_marks(120, 40));
    for line in ["focus-basket", "2", "deselect", "undo", "focus-detail"] {
        session.type_line(line);
    }
    insta::assert_snapshot!(session.log);
}

#[test]
fn the_menu_is_a_numbered_list_with_reasons() {
    let mut session = start(scene::browsing(120, 40));
    let lines = session.type_and_read_all("menu");
    let line = |name: &str| lines.iter().find(|line| line.contains(name)).unwrap().clone();
    assert!(line(" full-size: ").ends_with("(s)"), "{}", line(" full-size: "));
    assert!(line(" larger-tiles: ").contains("unavailable: results are lines of text"));
    let number = line(" score-histogram: ").split(' ').nth(1).unwrap().to_owned();
    assert!(line(" score-histogram: ").contains(&format!(" {number} of {}. ", lines.len() - 2)));
    assert!(line(" score-histogram: ").contains("unavailable"), "{}", line(" score-histogram: "));
    assert!(session.type_line(&number)[0].contains("only searches by a picture"));
}

#[test]
fn the_menu_of_the_tagging_mode_lists_only_keys_that_perform_the_action() {
    let mut session = start(scene::local(120, 40));
    session.type_line("results");
    session.type_line("tag-mode");
    let lines = session.type_and_read_all("menu");
    for (name, key) in [
        (" pick: ", "(p)"),
        (" previous-page: ", "(Alt-p)"),
        (" focus-query: ", "(F4)"),
        (" toggle-entity: ", ""),
        (" undo: ", ""),
        (" rate-1: ", "(Alt-1)"),
        (" tag-1: ", ""),
    ] {
        let line = lines.iter().find(|line| line.contains(name)).unwrap();
        let is_listed = if key.is_empty() { !line.contains('(') } else { line.contains(key) };
        assert!(is_listed, "{line}");
    }
}

#[test]
fn only_what_is_new_is_read_again() {
    let mut session = start(scene::browsing(120, 40));
    assert_eq!(session.type_line("down").len(), 1, "{}", session.log);
    assert_eq!(session.type_line("select").len(), 1, "{}", session.log);
    let back = [session.type_line("help"), session.type_line("close")].concat();
    assert_eq!(session.type_line("full-size")[0], "status: Picture at full size");
    assert_eq!(session.type_line("close")[0], "status: Results");
    let results: Vec<&String> = back.iter().filter(|line| line.contains(". Cluster")).collect();
    assert_eq!(results.len(), 1, "the cursor: {results:?}");
}
