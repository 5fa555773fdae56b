//! Tests the actions on original files: what is asked, planned, confirmed and reported.

use std::path::{Path, PathBuf};

use tessera_config::{DeploymentKind, input::Action};
use tessera_curation::{
    AnnotationFile, FileAction, FileActionPreview, FileContent, LastAction, NameRule, Operation,
    Original, Outcome, Plan, Skipped, TargetLayout,
};
use tessera_interface::{
    app::{
        Level,
        availability::unavailable_reason,
        overlay::file_actions::{FileActionConfirmation, UndoConfirmation},
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{FailureKind, SafeText, Status};
use uuid::Uuid;

use crate::support::{
    app_harness::{AppHarness, dataset},
    duplicates::group,
};

const ACTIONS: [Action; 4] =
    [Action::MoveFiles, Action::CopyFiles, Action::LinkFiles, Action::TrashFiles];

fn local() -> AppHarness {
    AppHarness::new().opening_folder(vec![dataset(1, Status::Ready)])
}

fn lane() -> Lane {
    Lane::FileAction(dataset(1, Status::Ready).id)
}

fn original(path: &Path) -> Original {
    let content = FileContent::of(path).unwrap();
    Original {
        path: path.to_owned(),
        folder: path.parent().unwrap().to_owned(),
        content,
        sidecars: Vec::new(),
        shared_sidecars: Vec::new(),
        pair: Vec::new(),
    }
}

fn to_best() -> FileAction {
    FileAction::Move(TargetLayout { folder: "/best".into(), keeps_folders: false })
}

/// A preview of moving one file, while another file is left alone.
pub(super) fn preview(folder: &Path) -> FileActionPreview {
    let folder = folder.canonicalize().unwrap();
    let path = folder.join("a.jpg");
    std::fs::write(&path, "first").unwrap();
    let mut plan = Plan::new(to_best(), &[original(&path)], false, NameRule::Exact, |_| false);
    plan.skipped.push(Skipped::new("/photos/\u{1b}b.jpg".into(), "it is inside a Parquet file"));
    let annotations = AnnotationFile {
        path: "/photos/annotations.xml".into(),
        rewrite: Err("only JSON".to_owned()),
    };
    FileActionPreview {
        plan,
        annotations: vec![annotations],
        left_behind: Vec::new(),
        broken_links: Vec::new(),
        marked: Vec::new(),
    }
}

#[test]
fn files_are_acted_on_only_in_local_folders_with_a_selection() {
    let mut harness = local();
    for action in ACTIONS {
        let reason = unavailable_reason(&harness.app, action).unwrap();
        assert!(reason.contains("nothing is selected"), "{reason}");
    }
    harness.press("space");
    for action in ACTIONS.into_iter().chain([Action::UndoFileAction, Action::ReviewDuplicates]) {
        assert_eq!(unavailable_reason(&harness.app, action), None, "{action:?}");
    }
    harness.app.setup_mut().read_only = true;
    let reason = unavailable_reason(&harness.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("--read-only"), "{reason}");
    harness.app.setup_mut().deployment = DeploymentKind::Hosted;
    let reason = unavailable_reason(&harness.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("another machine"), "{reason}");
}

#[test]
fn a_move_asks_for_a_folder_shows_a_preview_and_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = local();
    harness.press("space g m");
    harness.type_text("best");
    harness.press("enter");
    assert!(harness.notice().contains("absolute path"), "{}", harness.notice());
    harness.press("ctrl-u");
    harness.type_text("/best");
    harness.press("enter");
    let id = dataset(1, Status::Ready).id;
    let layout = TargetLayout { folder: PathBuf::from("/best"), keeps_folders: false };
    let is_plan = |request: &Request| {
        matches!(request, Request::PlanFileAction(of, items, FileAction::Move(to))
            if *of == id && items.len() == 1 && *to == layout)
    };
    assert!(harness.requests().iter().any(|request| is_plan(request)), "{:?}", harness.requests());
    // No second action starts meanwhile.
    let reason = unavailable_reason(&harness.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("is running"), "{reason}");
    let preview = preview(folder.path());
    harness.answer(lane(), Payload::FileActionPlanned(Box::new(preview.clone())));
    assert!(harness.app.dialog::<FileActionConfirmation>().is_some());
    harness.press("enter");
    assert!(harness.app.dialog::<FileActionConfirmation>().is_some(), "Enter moves nothing");
    harness.press("y");
    let carried_out = Request::CarryOut(id, Box::new(preview));
    assert_eq!(harness.requests().last(), Some(&&carried_out));
    let outcome = Outcome { done: 1, ..Outcome::default() };
    harness.answer(lane(), Payload::FileActionFinished(to_best(), outcome));
    assert_eq!(
        harness.notice(),
        "moved 1 file to /best; g u reverts this; 1 entry was deselected; u restores the selection"
    );
    let reason = unavailable_reason(&harness.app, Action::MoveFiles).unwrap();
    assert!(reason.contains("nothing is selected"), "the selection was not cleared: {reason}");
}

#[test]
fn a_toggles_whether_annotation_files_are_rewritten_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut planned = preview(folder.path());
    let mut rewritten = planned.plan.steps[0].clone();
    rewritten.operation = Operation::Rewrite;
    planned.annotations[0].rewrite = Ok(rewritten);
    let mut with_annotations = planned.clone();
    with_annotations.rewrite_annotations();
    for (keys, carried_out) in [
        ("y", &planned),
        ("a y", &with_annotations),
        ("a a y", &planned),
        ("j pagedown y", &planned),
    ] {
        let mut harness = local();
        harness.press("space g x");
        harness.answer(lane(), Payload::FileActionPlanned(Box::new(planned.clone())));
        assert!(harness.app.overlay().unwrap().hints().contains("a rewrite annotation files"));
        harness.press(keys);
        let id = dataset(1, Status::Ready).id;
        let expected = Request::CarryOut(id, Box::new(carried_out.clone()));
        assert_eq!(harness.requests().last(), Some(&&expected), "{keys}");
    }
}

#[test]
fn only_what_left_the_folder_is_deselected() {
    let done = Outcome { done: 1, ..Outcome::default() };
    let whole = Payload::FileActionFinished(FileAction::Trash, done);
    for (keys, stays) in [("g m", 1), ("g x", 1), ("g y", 2), ("g k", 2), ("g d", 2)] {
        let mut harness = local();
        harness.press("space");
        harness.press(keys);
        match keys {
            "g x" => {}
            "g d" => {
                harness.answer(lane(), Payload::Duplicates(vec![group(1, &[9, 8])]));
                harness.press("f t");
            }
            _ => {
                harness.type_text("/best");
                harness.press("enter");
            }
        }
        let (ticket, _) = harness.take(|open| *open == lane());
        if keys == "g d" {
            harness.press("esc");
        }
        harness.press("l space");
        harness.respond(ticket, Ok(whole.clone()));
        let selected = harness.app.baskets().selection(harness.app.results()).unwrap().len();
        assert_eq!(selected, stays, "{keys}: {}", harness.notice());
    }
}

#[test]
fn an_action_on_some_of_the_files_warns_and_keeps_the_selection() {
    let failed = vec![Skipped::new("/photos/c.jpg".into(), "No space left on device")];
    for (outcome, expected) in [
        (
            Outcome {
                done: 3,
                failed: failed.clone(),
                not_tried: vec!["/pictures/1.jpg".into(); 996],
            },
            "moved 3 files to the trash; g u reverts this; stopped, 996 files were not tried; 1 left alone: /photos/c.jpg: No space",
        ),
        (
            Outcome { done: 1, failed, not_tried: Vec::new() },
            "moved 1 file to the trash; g u reverts this; 1 left alone: /photos/c.jpg: No space",
        ),
        (
            Outcome { done: 1, failed: Vec::new(), not_tried: vec!["/pictures/1.jpg".into()] },
            "moved 1 file to the trash; g u reverts this; stopped, 1 file was not tried",
        ),
    ] {
        let mut harness = local();
        harness.press("space g x");
        harness.answer(lane(), Payload::FileActionFinished(FileAction::Trash, outcome));
        let shown = harness.app.notifications().current().unwrap();
        assert_eq!(shown.level, Level::Warning, "{expected}");
        assert!(shown.text.as_str().contains(expected), "{}", shown.text);
        assert_eq!(
            unavailable_reason(&harness.app, Action::TrashFiles),
            None,
            "nothing is selected"
        );
    }
}

#[test]
fn nothing_happens_without_files_or_after_a_failure() {
    let mut harness = local();
    harness.press("space g x");
    let mut empty = preview(tempfile::tempdir().unwrap().path());
    empty.plan.steps.clear();
    harness.answer(lane(), Payload::FileActionPlanned(Box::new(empty)));
    assert!(harness.notice().contains("no file can be acted on"), "{}", harness.notice());
    assert!(harness.app.dialog::<FileActionConfirmation>().is_none());
    harness.press("g u");
    harness.fail(lane(), FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
}

#[test]
fn an_undo_shows_what_it_reverts_and_is_confirmed() {
    let mut harness = local();
    let id = dataset(1, Status::Ready).id;
    harness.press("space g u");
    assert_eq!(harness.requests().last(), Some(&&Request::PlanUndo));
    let text = SafeText::detail("move of 3 files, the first of which was /other/a.jpg");
    let shown = Uuid::from_u128(7);
    let action = LastAction { id: shown, text, files_to_undo: 3 };
    harness.answer(lane(), Payload::UndoPlanned(action));
    assert!(harness.app.dialog::<UndoConfirmation>().is_some());
    let undo = Request::UndoFileAction(id, shown);
    assert!(!harness.requests().contains(&&undo), "nothing is reverted yet");
    harness.press("y");
    assert_eq!(harness.requests().last(), Some(&&undo));
    harness.answer(lane(), Payload::FileActionUndone(Outcome { done: 3, ..Outcome::default() }));
    assert!(harness.notice().contains("reverted the action on 3 files"), "{}", harness.notice());
    assert_eq!(
        unavailable_reason(&harness.app, Action::MoveFiles),
        None,
        "other files are selected"
    );
}
