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
    desk::{Desk, dataset},
    duplicates::group,
};

const ACTIONS: [Action; 4] =
    [Action::MoveFiles, Action::CopyFiles, Action::LinkFiles, Action::TrashFiles];

fn local() -> Desk {
    Desk::new().opening_folder(vec![dataset(1, Status::Ready)])
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
    let mut desk = local();
    for action in ACTIONS {
        let reason = unavailable_reason(&desk.app, action).unwrap();
        assert!(reason.contains("nothing is selected"), "{reason}");
    }
    desk.press("space");
    for action in ACTIONS.into_iter().chain([Action::UndoFileAction, Action::ReviewDuplicates]) {
        assert_eq!(unavailable_reason(&desk.app, action), None, "{action:?}");
    }
    desk.app.setup_mut().read_only = true;
    let reason = unavailable_reason(&desk.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("--read-only"), "{reason}");
    desk.app.setup_mut().deployment = DeploymentKind::Hosted;
    let reason = unavailable_reason(&desk.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("another machine"), "{reason}");
}

#[test]
fn a_move_asks_for_a_folder_shows_a_preview_and_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = local();
    desk.press("space g m");
    desk.type_text("best");
    desk.press("enter");
    assert!(desk.notice().contains("absolute path"), "{}", desk.notice());
    desk.press("ctrl-u");
    desk.type_text("/best");
    desk.press("enter");
    let id = dataset(1, Status::Ready).id;
    let layout = TargetLayout { folder: PathBuf::from("/best"), keeps_folders: false };
    let is_plan = |request: &Request| {
        matches!(request, Request::PlanFileAction(of, items, FileAction::Move(to))
            if *of == id && items.len() == 1 && *to == layout)
    };
    assert!(desk.requests().iter().any(|request| is_plan(request)), "{:?}", desk.requests());
    // No second action starts meanwhile.
    let reason = unavailable_reason(&desk.app, Action::TrashFiles).unwrap();
    assert!(reason.contains("is running"), "{reason}");
    let preview = preview(folder.path());
    desk.answer(lane(), Payload::FileActionPlanned(Box::new(preview.clone())));
    assert!(desk.app.dialog::<FileActionConfirmation>().is_some());
    desk.press("enter");
    assert!(desk.app.dialog::<FileActionConfirmation>().is_some(), "Enter moves nothing");
    desk.press("y");
    let carried_out = Request::CarryOut(id, Box::new(preview));
    assert_eq!(desk.requests().last(), Some(&&carried_out));
    let outcome = Outcome { done: 1, ..Outcome::default() };
    desk.answer(lane(), Payload::FileActionFinished(to_best(), outcome));
    assert_eq!(
        desk.notice(),
        "moved 1 file to /best; g u reverts this; 1 entry was deselected; u restores the selection"
    );
    let reason = unavailable_reason(&desk.app, Action::MoveFiles).unwrap();
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
        let mut desk = local();
        desk.press("space g x");
        desk.answer(lane(), Payload::FileActionPlanned(Box::new(planned.clone())));
        assert!(desk.app.overlay().unwrap().hints().contains("a rewrite annotation files"));
        desk.press(keys);
        let id = dataset(1, Status::Ready).id;
        let expected = Request::CarryOut(id, Box::new(carried_out.clone()));
        assert_eq!(desk.requests().last(), Some(&&expected), "{keys}");
    }
}

#[test]
fn only_what_left_the_folder_is_deselected() {
    let done = Outcome { done: 1, ..Outcome::default() };
    let whole = Payload::FileActionFinished(FileAction::Trash, done);
    for (keys, stays) in [("g m", 1), ("g x", 1), ("g y", 2), ("g k", 2), ("g d", 2)] {
        let mut desk = local();
        desk.press("space");
        desk.press(keys);
        match keys {
            "g x" => {}
            "g d" => {
                desk.answer(lane(), Payload::Duplicates(vec![group(1, &[9, 8])]));
                desk.press("f t");
            }
            _ => {
                desk.type_text("/best");
                desk.press("enter");
            }
        }
        let (ticket, _) = desk.take(|open| *open == lane());
        if keys == "g d" {
            desk.press("esc");
        }
        desk.press("l space");
        desk.respond(ticket, Ok(whole.clone()));
        let selected = desk.app.baskets().selection(desk.app.results()).unwrap().len();
        assert_eq!(selected, stays, "{keys}: {}", desk.notice());
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
        let mut desk = local();
        desk.press("space g x");
        desk.answer(lane(), Payload::FileActionFinished(FileAction::Trash, outcome));
        let shown = desk.app.notifications().current().unwrap();
        assert_eq!(shown.level, Level::Warning, "{expected}");
        assert!(shown.text.as_str().contains(expected), "{}", shown.text);
        assert_eq!(unavailable_reason(&desk.app, Action::TrashFiles), None, "nothing is selected");
    }
}

#[test]
fn nothing_happens_without_files_or_after_a_failure() {
    let mut desk = local();
    desk.press("space g x");
    let mut empty = preview(tempfile::tempdir().unwrap().path());
    empty.plan.steps.clear();
    desk.answer(lane(), Payload::FileActionPlanned(Box::new(empty)));
    assert!(desk.notice().contains("no file can be acted on"), "{}", desk.notice());
    assert!(desk.app.dialog::<FileActionConfirmation>().is_none());
    desk.press("g u");
    desk.fail(lane(), FailureKind::Local);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
}

#[test]
fn an_undo_shows_what_it_reverts_and_is_confirmed() {
    let mut desk = local();
    let id = dataset(1, Status::Ready).id;
    desk.press("space g u");
    assert_eq!(desk.requests().last(), Some(&&Request::PlanUndo));
    let text = SafeText::detail("move of 3 files, the first of which was /other/a.jpg");
    let shown = Uuid::from_u128(7);
    let action = LastAction { id: shown, text, files_to_undo: 3 };
    desk.answer(lane(), Payload::UndoPlanned(action));
    assert!(desk.app.dialog::<UndoConfirmation>().is_some());
    let undo = Request::UndoFileAction(id, shown);
    assert!(!desk.requests().contains(&&undo), "nothing is reverted yet");
    desk.press("y");
    assert_eq!(desk.requests().last(), Some(&&undo));
    desk.answer(lane(), Payload::FileActionUndone(Outcome { done: 3, ..Outcome::default() }));
    assert!(desk.notice().contains("reverted the action on 3 files"), "{}", desk.notice());
    assert_eq!(unavailable_reason(&desk.app, Action::MoveFiles), None, "other files are selected");
}
