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

use crate::support::desk::{Desk, dataset};

/// Opens the first of two datasets of local folders.
fn local(status: Status) -> Desk {
    Desk::new().opening_folder(vec![dataset(1, status), dataset(2, Status::Ready)])
}

fn ask_for_removal(desk: &mut Desk, uploads: u64) {
    desk.press("1 D");
    let id = dataset(1, Status::Ready).id;
    let local = LocalDataset {
        folder_missing: false,
        uploads,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    };
    desk.answer(Lane::ConfirmRemoval(id), Payload::LocalDataset(local));
}

#[test]
fn a_dialog_that_comes_late_says_that_it_is_not_shown() {
    let mut desk = local(Status::Ready);
    desk.press("1 D");
    let id = dataset(1, Status::Ready).id;
    let (ticket, _) = desk.take(|lane| *lane == Lane::ConfirmRemoval(id));
    desk.press("?");
    let local = LocalDataset {
        folder_missing: false,
        uploads: 0,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    };
    desk.respond(ticket, Ok(Payload::LocalDataset(local)));
    assert!(desk.app.dialog::<RemovalConfirmation>().is_none());
    assert!(desk.notice().contains("close it and ask again"), "{}", desk.notice());
}

#[test]
fn a_dataset_is_removed_only_after_a_confirmation() {
    let mut desk = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    ask_for_removal(&mut desk, 3);
    assert_eq!(desk.app.dialog::<RemovalConfirmation>().unwrap().uploads, 3);
    desk.press("esc");
    assert_eq!(desk.requests(), Vec::<&Request>::new());
    ask_for_removal(&mut desk, 3);
    desk.press("enter");
    assert!(desk.app.dialog::<RemovalConfirmation>().is_some(), "Enter removes nothing");
    desk.press("y");
    assert_eq!(desk.requests(), [&Request::RemoveDataset(id)]);
    desk.answer(Lane::Manage(id), Payload::DatasetRemoved(3));
    assert!(
        desk.notice().contains("3 uploaded files stay in the index folder"),
        "{}",
        desk.notice()
    );
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(2, Status::Ready)], 0));
    assert_eq!(desk.app.dataset().map(|open| open.id), Some(dataset(2, Status::Ready).id));
}

#[test]
fn a_dataset_that_another_program_removed_is_closed() {
    let mut desk = local(Status::Ready);
    desk.press("r");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(2, Status::Ready)], 0));
    assert!(desk.notice().contains("set-1 was removed"), "{}", desk.notice());
    assert!(desk.notice().contains("set-2 is shown now"), "{}", desk.notice());
    assert_eq!(desk.app.dataset().map(|open| open.id), Some(dataset(2, Status::Ready).id));
    assert_eq!(desk.app.panes().focus, Pane::Datasets, "keys do not act on other results");
}

#[test]
fn the_last_dataset_can_be_removed() {
    let mut desk = local(Status::Ready);
    desk.press("r");
    desk.answer(Lane::Datasets, Payload::Datasets(Vec::new(), 0));
    assert!(desk.notice().contains("set-1 was removed"), "{}", desk.notice());
    assert!(desk.app.selected_dataset().is_none());
    desk.press("1 D N S ? esc");
}

#[test]
fn a_dataset_is_renamed() {
    let mut desk = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    desk.press("1 N");
    assert_eq!(desk.app.dialog::<TextPrompt>().unwrap().text.value(), "set-1");
    desk.press("ctrl-u");
    desk.press("enter");
    assert!(desk.notice().contains("type a name"), "{}", desk.notice());
    desk.type_text("my photos");
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::RenameDataset(id, "my photos".to_owned())]);
    let renamed = Dataset { name: SafeText::name("my photos"), ..dataset(1, Status::Ready) };
    desk.answer(Lane::Manage(id), Payload::DatasetRenamed(renamed.name));
    assert!(desk.notice().contains("my photos"), "{}", desk.notice());
    desk.take(|lane| *lane == Lane::Datasets);
}

#[test]
fn a_rescan_reports_what_it_found() {
    let mut desk = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    let changes = FileChanges { added: 2, changed: 1, removed: 3 };
    for (changes, is_indexing, words) in [
        (Some(FileChanges::default()), false, "nothing has changed"),
        (Some(changes), true, "2 files added, 1 changed, 3 removed"),
        (None, false, "in the background"),
    ] {
        desk.press("1 S");
        desk.take(|lane| *lane == Lane::Manage(id));
        desk.press("1 S");
        desk.answer(Lane::Manage(id), Payload::Rescanned(RescanResult { changes, is_indexing }));
        assert!(desk.notice().contains(words), "{}", desk.notice());
    }
    desk.press("1 S");
    desk.fail(Lane::Manage(id), FailureKind::Conflict);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
}

#[test]
fn the_indexing_of_a_dataset_is_cancelled() {
    let mut desk = local(Status::Indexing);
    let known = dataset(1, Status::Error);
    desk.press("1 X");
    assert!(desk.requests().contains(&&Request::CancelIndexing(known.id)));
    desk.answer(Lane::Manage(known.id), Payload::IndexingCancelled(known.name));
    assert!(desk.notice().contains("cancelled the indexing of set-1"), "{}", desk.notice());
    let reason = |desk: &Desk| unavailable_reason(&desk.app, Action::CancelIndexing);
    assert_eq!(reason(&local(Status::Indexing)), None);
    assert_eq!(reason(&local(Status::Ready)).unwrap(), "nothing is being indexed");
    assert!(reason(&Desk::with_clusters(3)).unwrap().contains("local folders"));
}

#[test]
fn the_files_of_a_folder_are_chosen_by_patterns() {
    let mut desk = local(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    let lists = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
    let patterns = PatternLists { include: lists(&["*.jpg"]), exclude: lists(&["my drafts/"]) };
    let known =
        LocalDataset { folder_missing: false, uploads: 0, excluded: 1, patterns, encoding: None };
    desk.press("1 C");
    desk.answer(Lane::FilePatterns(id), Payload::LocalDataset(known.clone()));
    assert_eq!(desk.app.dialog::<FilePatterns>().unwrap().patterns(), known.patterns);
    desk.press("end");
    desk.type_text(" *.tmp");
    desk.press("tab ctrl-u enter");
    let chosen = PatternLists { include: vec![], exclude: lists(&["my drafts/", "*.tmp"]) };
    assert_eq!(desk.requests(), [&Request::Rescan(id, Some(chosen))]);
    desk.fail(Lane::Manage(id), FailureKind::Conflict);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    // The answer comes after the user has opened something else.
    desk.press("1 C ?");
    desk.answer(Lane::FilePatterns(id), Payload::LocalDataset(known));
    assert!(desk.app.dialog::<FilePatterns>().is_none());
}

#[test]
fn what_is_not_possible_has_a_reason() {
    let managing =
        [Action::RemoveDataset, Action::RenameDataset, Action::ChooseFiles, Action::Rescan];
    let reason = |desk: &Desk, action| unavailable_reason(&desk.app, action).unwrap_or_default();
    let hosted = Desk::with_clusters(3);
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
