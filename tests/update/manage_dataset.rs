//! Tests removing, renaming and rescanning datasets of local folders.

use tessera_config::input::Action;
use tessera_interface::{
    app::{
        Pane,
        availability::unavailable_reason,
        overlay::{
            manage_dataset::{FilePatterns, RemovalConfirmation},
            prompt::TextPrompt,
        },
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Dataset, FailureKind, FileChanges, LocalDataset, PatternLists, RescanResult, SafeText, Status,
};

use crate::support::app_harness::{AppHarness, dataset};

/// Opens the first of two datasets of local folders.
fn local(status: Status) -> AppHarness {
    AppHarness::new().opening_folder(vec![dataset(1, status), dataset(2, Status::Ready)])
}

fn ask_for_removal(harness: &mut AppHarness, uploads: u64) {
    harness.press("1 D");
    let id = dataset(1, Status::Ready).id;
    let local = LocalDataset {
        folder_missing: false,
        uploads,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    };
    harness.answer(Lane::ConfirmRemoval(id), Payload::LocalDataset(local));
}

#[test]
fn a_dialog_that_comes_late_says_that_it_is_not_shown() {
    let mut harness = local(Status::Ready);
    harness.press("1 D");
    let id = dataset(1, Status::Ready).id;
    let (ticket, _) = harness.take(|lane| *lane == Lane::ConfirmRemoval(id));
    harness.press("?");
    let local = LocalDataset {
        folder_missing: false,
        uploads: 0,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    };
    harness.respond(ticket, Ok(Payload::LocalDataset(local)));
    assert!(harness.app.dialog::<RemovalConfirmation>().is_none());
    assert!(harness.notice().contains("close it and ask again"), "{}", harness.notice());
}

#[test]
fn a_dataset_is_removed_only_after_a_confirmation() {
    let mut harness = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    ask_for_removal(&mut harness, 3);
    assert_eq!(harness.app.dialog::<RemovalConfirmation>().unwrap().uploads, 3);
    harness.press("esc");
    assert_eq!(harness.requests(), Vec::<&Request>::new());
    ask_for_removal(&mut harness, 3);
    harness.press("enter");
    assert!(harness.app.dialog::<RemovalConfirmation>().is_some(), "Enter removes nothing");
    harness.press("y");
    assert_eq!(harness.requests(), [&Request::RemoveDataset(id)]);
    harness.answer(Lane::Manage(id), Payload::DatasetRemoved(3));
    assert!(
        harness.notice().contains("3 uploaded files stay in the index folder"),
        "{}",
        harness.notice()
    );
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(2, Status::Ready)], 0));
    assert_eq!(harness.app.dataset().map(|open| open.id), Some(dataset(2, Status::Ready).id));
}

#[test]
fn a_dataset_that_another_program_removed_is_closed() {
    let mut harness = local(Status::Ready);
    harness.press("r");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(2, Status::Ready)], 0));
    assert!(harness.notice().contains("set-1 was removed"), "{}", harness.notice());
    assert!(harness.notice().contains("set-2 is shown now"), "{}", harness.notice());
    assert_eq!(harness.app.dataset().map(|open| open.id), Some(dataset(2, Status::Ready).id));
    assert_eq!(harness.app.panes().focus, Pane::Datasets, "keys do not act on other results");
}

#[test]
fn the_last_dataset_can_be_removed() {
    let mut harness = local(Status::Ready);
    harness.press("r");
    harness.answer(Lane::Datasets, Payload::Datasets(Vec::new(), 0));
    assert!(harness.notice().contains("set-1 was removed"), "{}", harness.notice());
    assert!(harness.app.selected_dataset().is_none());
    harness.press("1 D N S ? esc");
}

#[test]
fn a_dataset_is_renamed() {
    let mut harness = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    harness.press("1 N");
    assert_eq!(harness.app.dialog::<TextPrompt>().unwrap().text.value(), "set-1");
    harness.press("ctrl-u");
    harness.press("enter");
    assert!(harness.notice().contains("type a name"), "{}", harness.notice());
    harness.type_text("my photos");
    harness.press("enter");
    assert_eq!(harness.requests(), [&Request::RenameDataset(id, "my photos".to_owned())]);
    let renamed = Dataset { name: SafeText::name("my photos"), ..dataset(1, Status::Ready) };
    harness.answer(Lane::Manage(id), Payload::DatasetRenamed(renamed.name));
    assert!(harness.notice().contains("my photos"), "{}", harness.notice());
    harness.take(|lane| *lane == Lane::Datasets);
}

#[test]
fn a_rescan_reports_what_it_found() {
    let mut harness = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    let changes = FileChanges { added: 2, changed: 1, removed: 3 };
    for (changes, is_indexing, words) in [
        (Some(FileChanges::default()), false, "nothing has changed"),
        (Some(changes), true, "2 files added, 1 changed, 3 removed"),
        (None, false, "in the background"),
    ] {
        harness.press("1 S");
        harness.take(|lane| *lane == Lane::Manage(id));
        harness.press("1 S");
        harness.answer(Lane::Manage(id), Payload::Rescanned(RescanResult { changes, is_indexing }));
        assert!(harness.notice().contains(words), "{}", harness.notice());
    }
    harness.press("1 S");
    harness.fail(Lane::Manage(id), FailureKind::Conflict);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
}

#[test]
fn the_indexing_of_a_dataset_is_cancelled() {
    let mut harness = local(Status::Indexing);
    let known = dataset(1, Status::Error);
    harness.press("1 X");
    assert!(harness.requests().contains(&&Request::CancelIndexing(known.id)));
    harness.answer(Lane::Manage(known.id), Payload::IndexingCancelled(known.name));
    assert!(harness.notice().contains("cancelled the indexing of set-1"), "{}", harness.notice());
    let reason = |harness: &AppHarness| unavailable_reason(&harness.app, Action::CancelIndexing);
    assert_eq!(reason(&local(Status::Indexing)), None);
    assert_eq!(reason(&local(Status::Ready)).unwrap(), "nothing is being indexed");
    assert!(reason(&AppHarness::with_clusters(3)).unwrap().contains("local folders"));
}

#[test]
fn the_files_of_a_folder_are_chosen_by_patterns() {
    let mut harness = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    let lists = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
    let patterns = PatternLists { include: lists(&["*.jpg"]), exclude: lists(&["my drafts/"]) };
    let known =
        LocalDataset { folder_missing: false, uploads: 0, excluded: 1, patterns, encoding: None };
    harness.press("1 C");
    harness.answer(Lane::FilePatterns(id), Payload::LocalDataset(known.clone()));
    assert_eq!(harness.app.dialog::<FilePatterns>().unwrap().patterns(), known.patterns);
    harness.press("end");
    harness.type_text(" *.tmp");
    harness.press("tab ctrl-u enter");
    let chosen = PatternLists { include: vec![], exclude: lists(&["my drafts/", "*.tmp"]) };
    assert_eq!(harness.requests(), [&Request::Rescan(id, Some(chosen))]);
    harness.fail(Lane::Manage(id), FailureKind::Conflict);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    // The answer comes after the user has opened something else.
    harness.press("1 C ?");
    harness.answer(Lane::FilePatterns(id), Payload::LocalDataset(known));
    assert!(harness.app.dialog::<FilePatterns>().is_none());
}

#[test]
fn what_is_not_possible_has_a_reason() {
    let managing =
        [Action::RemoveDataset, Action::RenameDataset, Action::ChooseFiles, Action::Rescan];
    let reason =
        |harness: &AppHarness, action| unavailable_reason(&harness.app, action).unwrap_or_default();
    let hosted = AppHarness::with_clusters(3);
    let busy = local(Status::Indexing);
    let mut read_only = local(Status::Ready);
    read_only.app.setup_mut().read_only = true;
    for action in managing {
        assert!(reason(&hosted, action).contains("local folders"), "{}", reason(&hosted, action));
        assert!(reason(&busy, action).contains("not available while INDEXING"));
        assert_eq!(reason(&read_only, action), "opened with --read-only");
        assert_eq!(reason(&local(Status::Error), action), "", "a rescan resolves an error");
    }
}
