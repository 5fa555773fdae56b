//! Reverts the last action, the last picture first. A file that has changed since the action stays where it is, and so
//! do the files that went with it.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, parent_dir};

use crate::{
    ActionId, Error, Journal, JournalFolder, LinkKind, Operation, Outcome, Progress, Record,
    Skipped, Step, annotations,
    file_operations::{
        ContentChanged, CopyKind, create_folder, exchange, fill_file, is_on_disk_of, is_same_file,
        move_file, remove_copy, temporary_path,
    },
    journal::StepState,
    run::remove_left,
    trash_can::{self, Trashed},
};

/// Reverts the last action that was not reverted yet, also if it was interrupted.
///
/// # Errors
/// The last action is not the one that was shown to the user, because another process has acted meanwhile.
pub fn undo(
    folder: &JournalFolder,
    shown: ActionId,
    progress: Progress<'_>,
) -> Result<Outcome, Error> {
    let mut journal = folder.last()?;
    if journal.header.id != shown {
        return Err(Error::NotLast);
    }
    let action = journal.header.id.to_string();
    let all = journal.steps.len();
    let is_trash = journal.steps.iter().any(|step| step.operation == Operation::Trash);
    let trashed = if is_trash { Trashed::list()? } else { Trashed::default() };
    let mut outcome = Outcome::default();
    let mut has_failed_picture = false;
    let order = undo_order(&journal.steps);
    for (tried, &number) in order.iter().enumerate() {
        let (step, state) = (journal.steps[number].clone(), journal.states[number]);
        has_failed_picture &= step.is_companion;
        if matches!(state, StepState::Failed | StepState::Undone) {
            continue;
        }
        if !progress(tried, all) {
            outcome.not_tried = not_tried(&journal, &order[tried..]);
            journal.sync_folders()?;
            return Ok(outcome);
        }
        let reverted = if has_failed_picture {
            Err(io::Error::other("its picture was left alone"))
        } else {
            revert(&step, (state, &journal.states), &trashed, &action, number)
        };
        match reverted {
            Ok(Reverted::Now) => {
                outcome.done += 1;
                journal.append(&Record::Undone(number))?;
            }
            Ok(Reverted::NothingToDo) => {}
            Err(error) => {
                has_failed_picture |= !step.is_companion;
                let path = place_of(&step).to_owned();
                outcome.failed.push(Skipped { path, reason: describe(&error, &step) });
            }
        }
    }
    journal.sync_folders()?;
    journal.remove_new_folders();
    // The files that could not be put back can be tried again when the cause is removed. A second attempt that puts
    // none of them back gives them up, so that older actions can be undone.
    let is_over = outcome.failed.is_empty() || outcome.done == 0 && journal.is_undo_tried;
    journal.finish(if is_over { &Record::UndoFinished } else { &Record::UndoTried })?;
    Ok(outcome)
}

/// Returns the files of the steps that are not reverted yet.
fn not_tried(journal: &Journal, left: &[usize]) -> Vec<PathBuf> {
    let is_open = |number: &&usize| {
        !matches!(journal.states[**number], StepState::Failed | StepState::Undone)
    };
    let left = left.iter().filter(is_open);
    left.map(|number| journal.steps[*number].source.clone()).collect()
}

/// Returns the numbers of the steps, the last picture first, and each picture before the files that went with it.
fn undo_order(steps: &[Step]) -> Vec<usize> {
    let numbers: Vec<usize> = (0..steps.len()).collect();
    let units = numbers.chunk_by(|_, next| steps[*next].is_companion);
    units.rev().flatten().copied().collect()
}

enum Reverted {
    Now,
    /// The step was not done, or has been reverted already.
    NothingToDo,
}

/// Returns the path at which the file is after the step.
fn place_of(step: &Step) -> &Path {
    match step.operation {
        Operation::Trash | Operation::Replace(_) | Operation::Rewrite => &step.source,
        Operation::Move | Operation::Copy | Operation::Link(_) => &step.target,
    }
}

fn describe(error: &io::Error, step: &Step) -> String {
    match error.kind() {
        _ if error
            .get_ref()
            .is_some_and(<dyn std::error::Error + Send + Sync>::is::<ContentChanged>) =>
        {
            "it has changed since the action".to_owned()
        }
        _ if error.get_ref().is_some() => error.to_string(),
        ErrorKind::AlreadyExists => {
            format!("another file has its old name {}", step.source.display())
        }
        ErrorKind::NotFound => "it is gone".to_owned(),
        _ => error.to_string(),
    }
}

/// Reverts a step, which is given with its state and the states of all steps.
fn revert(
    step: &Step,
    (state, states): (StepState, &[StepState]),
    trashed: &Trashed,
    action: &str,
    number: usize,
) -> io::Result<Reverted> {
    let Step { operation, source, target, content, .. } = step;
    let at = |path| temporary_path(path, action, number);
    let is_replacement = matches!(operation, Operation::Replace(_));
    remove_left(step, &at(if is_replacement { source } else { target }))?;
    if *operation == Operation::Move {
        // An earlier attempt to move the file back to another disk may have left this file.
        if_exists(fs::remove_file(at(source)))?;
    }
    let is_there = |path| if_exists(fs::symlink_metadata(path)).map(|it| it.is_some());
    let was_done = state == StepState::Done;
    let (has_source, has_target) = (is_there(source)?, is_there(target)?);
    match operation {
        Operation::Trash if has_source && (!was_done || content.check(source).is_ok()) => {
            Ok(Reverted::NothingToDo)
        }
        Operation::Trash => trash_can::restore(trashed, step).map(|()| Reverted::Now),
        Operation::Move if has_source && !has_target => Ok(Reverted::NothingToDo),
        Operation::Move => move_back(step, has_source, &at(source)),
        Operation::Copy | Operation::Link(_) if !has_target => Ok(Reverted::NothingToDo),
        Operation::Copy | Operation::Link(LinkKind::Reflink) => {
            content.check(target)?;
            let removed = remove_copy(target, source).map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::AlreadyExists => {
                    io::Error::other("its original is gone or has changed, so the copy stays")
                }
                _ => error,
            });
            removed.map(|()| Reverted::Now)
        }
        Operation::Link(LinkKind::Hard) if is_same_file(source, target)? => {
            remove_copy(target, source).map(|()| Reverted::Now)
        }
        Operation::Link(LinkKind::Symbolic) if fs::read_link(target)? == *source => {
            fs::remove_file(target).map(|()| Reverted::Now)
        }
        Operation::Link(_) => Err(io::Error::other("it is no longer the link that was created")),
        Operation::Replace(kind) => separate(*kind, step, &at(source)),
        Operation::Rewrite => {
            let was_rewritten = annotations::revert(step, states, &at(source))?;
            Ok(if was_rewritten { Reverted::Now } else { Reverted::NothingToDo })
        }
    }
}

/// Moves a file back. Its old name exists if a crash came between a copy and the removal of its source, on the way there
/// or back.
fn move_back(step: &Step, has_source: bool, temporary: &Path) -> io::Result<Reverted> {
    let Step { source, target, content, .. } = step;
    content.check(target)?;
    create_folder(parent_dir(source))?;
    if has_source {
        remove_copy(target, source)?;
    } else {
        move_file(target, source, temporary, content)?;
    }
    if !is_on_disk_of(target, source) {
        restore_attributes(step)?;
    }
    Ok(Reverted::Now)
}

/// Gives a copy that was replaced by a link its own bytes, its old time, and its old attributes again.
fn separate(kind: LinkKind, step: &Step, temporary: &Path) -> io::Result<Reverted> {
    let Step { source, target, content, attributes, .. } = step;
    match kind {
        // The copy has its own bytes already.
        LinkKind::Reflink => {
            content.check_bytes(source)?;
            restore_attributes(step)?;
        }
        LinkKind::Hard if is_same_file(source, target)? => {
            content.check_bytes(target)?;
            fill_file(target, temporary, CopyKind::Bytes, attributes, content.modified)?;
            exchange(source, temporary, content)?;
        }
        _ => return Ok(Reverted::NothingToDo),
    }
    Ok(Reverted::Now)
}

/// Gives a file the time and attributes that it had before the action.
fn restore_attributes(step: &Step) -> io::Result<()> {
    step.attributes.give_to(&fs::File::open(&step.source)?, step.content.modified);
    Ok(())
}
