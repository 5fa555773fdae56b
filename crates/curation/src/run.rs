//! Carries out the steps of a journal. A step that fails leaves its file where it was, and the next steps go on.

use std::{
    collections::HashSet,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, parent_dir};

use crate::{
    Error, Journal, JournalFolder, Operation, Plan, Record, Skipped, Step, annotations,
    file_operations::{
        CopyKind, FileContent, copy_file, create_folder, hash_of, is_on_disk_of, is_same_entry,
        is_same_file, link_file, move_file, remove_original, replace_by_link, temporary_path,
    },
    journal::StepState,
    plan::LinkKind,
    trash_can,
};

/// How an action ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The files that were acted on, with their sidecars.
    pub done: usize,
    /// The files that were left alone, with the reasons.
    pub failed: Vec<Skipped>,
    /// The sources of the steps that were not tried, because the action was stopped or the disk is full.
    pub not_tried: Vec<PathBuf>,
}

impl Outcome {
    /// Returns whether every file was acted on.
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.not_tried.is_empty()
    }
}

/// Is called with the number of finished steps and of all steps. Returns whether to continue.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// Carries a plan out.
pub fn run(
    folder: &JournalFolder,
    plan: &Plan,
    started_at: u64,
    progress: Progress<'_>,
) -> Result<Outcome, Error> {
    let journal = folder.begin(plan, started_at)?;
    carry_out(folder, journal, Attempt::First, progress)
}

/// Carries out the remaining steps of an interrupted action.
pub fn resume(folder: &JournalFolder, progress: Progress<'_>) -> Result<Outcome, Error> {
    let journal = folder.last()?;
    if journal.is_finished() {
        return Err(Error::NotInterrupted);
    }
    carry_out(folder, journal, Attempt::AfterCrash, progress)
}

/// Whether a step may have been done, or begun, before a crash.
#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    First,
    AfterCrash,
}

fn carry_out(
    folder: &JournalFolder,
    mut journal: Journal,
    attempt: Attempt,
    progress: Progress<'_>,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let action = journal.header.id.to_string();
    let all = journal.steps.len();
    let (mut has_failed_picture, mut is_stopped) = (false, false);
    let mut folders = HashSet::new();
    for number in 0..all {
        if journal.states[number] == StepState::Unknown {
            is_stopped = is_stopped || !progress(number, all);
            if is_stopped && !follows_done_step(&journal, number) {
                outcome.not_tried.push(journal.steps[number].source.clone());
                continue;
            }
            record_hash(&mut journal, number)?;
            let step = journal.steps[number].clone();
            let tried = if step.is_companion && has_failed_picture {
                Err(io::Error::other("its picture was left alone"))
            } else {
                create_target_folder(&step, &mut folders)
                    .and_then(|()| perform(&step, &journal.states, (&action, number), attempt))
            };
            journal.append(&match &tried {
                Ok(()) => Record::Done(number),
                Err(error) => Record::Failed(number, error.to_string()),
            })?;
            if let Err(error) = tried {
                is_stopped |= matches!(
                    error.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                );
                let reason = describe(&error, &step);
                outcome.failed.push(Skipped::new(step.source, reason));
            }
        }
        let state = journal.states[number];
        if !journal.steps[number].is_companion {
            has_failed_picture = state == StepState::Failed;
        }
        outcome.done += usize::from(state == StepState::Done);
    }
    // After a crash, a step without a record may have been done.
    let is_certain = attempt == Attempt::First || !journal.states.contains(&StepState::Unknown);
    end(folder, journal, outcome.done > 0 || !is_certain)?;
    Ok(outcome)
}

/// Whether a step rewrites an annotation file that names a file of a step that was done. Such a step is also carried
/// out after a stop, because the stopped action is over.
fn follows_done_step(journal: &Journal, number: usize) -> bool {
    let mut entries = journal.steps[number].entries.iter();
    entries.any(|entry| journal.states.get(entry.step) == Some(&StepState::Done))
}

/// Records the hash of a sidecar that is copied, so that the copy is recognized without the exact time, which the disk
/// may not keep.
fn record_hash(journal: &mut Journal, number: usize) -> io::Result<()> {
    let Step { operation, source, target, content, .. } = &journal.steps[number];
    let is_copied = match operation {
        Operation::Copy => true,
        Operation::Move => !is_on_disk_of(source, target),
        _ => false,
    };
    if content.hash.is_some() || !is_copied {
        return Ok(());
    }
    // A file that is gone or has changed fails in its step.
    let Ok(hash) = hash_of(source).and_then(|hash| content.check(source).map(|()| hash)) else {
        return Ok(());
    };
    journal.append(&Record::Hashed(number, hash))
}

/// Ends a run. `may_be_done` is whether a step may have been done.
fn end(folder: &JournalFolder, mut journal: Journal, may_be_done: bool) -> Result<(), Error> {
    journal.sync_folders()?;
    if may_be_done {
        journal.finish(&Record::Finished)?;
        folder.remove_old()?;
    } else {
        journal.discard()?;
    }
    Ok(())
}

fn describe(error: &io::Error, step: &Step) -> String {
    match error.kind() {
        // An error with a text of its own says what it is about.
        _ if error.get_ref().is_some() => error.to_string(),
        ErrorKind::AlreadyExists => format!("{} exists", step.target.display()),
        ErrorKind::NotFound => describe_missing(step),
        ErrorKind::CrossesDevices => {
            "a hard link cannot lead to another disk; copy it, or link it with --as symbolic"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// Says which of the files and folders of a step is missing.
fn describe_missing(step: &Step) -> String {
    let is_missing = |path: &Path| fs::symlink_metadata(path).is_err();
    let folder = parent_dir(&step.target);
    if is_missing(&step.source) {
        "it is gone".to_owned()
    } else if matches!(step.operation, Operation::Replace(_)) && is_missing(&step.target) {
        format!("the kept file {} is gone", step.target.display())
    } else if is_missing(folder) {
        format!("the folder {} is gone", folder.display())
    } else {
        "it was gone for a moment; try again".to_owned()
    }
}

fn create_target_folder(step: &Step, known: &mut HashSet<PathBuf>) -> io::Result<()> {
    let folder = parent_dir(&step.target);
    if matches!(step.operation, Operation::Trash | Operation::Replace(_)) || known.contains(folder)
    {
        return Ok(());
    }
    create_folder(folder)?;
    known.insert(folder.to_owned());
    Ok(())
}

/// Carries out a step, which is given with the states of all steps, the action, and its number.
fn perform(
    step: &Step,
    states: &[StepState],
    (action, number): (&str, usize),
    attempt: Attempt,
) -> io::Result<()> {
    let Step { operation, source, target, content, .. } = step;
    let beside = if matches!(operation, Operation::Replace(_)) { source } else { target };
    let temporary = temporary_path(beside, action, number);
    if attempt == Attempt::AfterCrash && complete(step, states, &temporary)? {
        return Ok(());
    }
    if let Some(kept) = &step.kept {
        let path = kept.path.display();
        if kept.content.check(&kept.path).is_err() {
            let gone = format!("the image to keep, {path}, is gone or has changed");
            return Err(io::Error::other(gone));
        }
        if is_same_entry(source, &kept.path)? {
            return Err(io::Error::other(format!("it is the file of the image to keep, {path}")));
        }
    }
    if step.checks_bytes {
        content.check_bytes(source)?;
    } else {
        content.check(source)?;
    }
    match operation {
        Operation::Move => move_file(source, target, &temporary, content),
        Operation::Copy => copy_file(CopyKind::Bytes, source, target, &temporary),
        Operation::Link(kind) => link_file(*kind, source, target, &temporary),
        Operation::Trash => trash_can::put(source),
        Operation::Replace(kind) => replace_by_link(*kind, source, target, &temporary, content),
        Operation::Rewrite => annotations::rewrite(step, states, &temporary),
    }
}

/// Completes a step that a crash interrupted, and removes what it left. Returns whether the step is done.
fn complete(step: &Step, states: &[StepState], temporary: &Path) -> io::Result<bool> {
    let Step { operation, source, target, content, .. } = step;
    remove_left(step, temporary)?;
    let exists = |path: &Path| if_exists(fs::symlink_metadata(path)).map(|it| it.is_some());
    let (has_source, has_target) = (exists(source)?, exists(target)?);
    Ok(match operation {
        Operation::Trash => !has_source,
        Operation::Replace(kind) => {
            has_source && has_target && *kind == LinkKind::Hard && is_same_file(source, target)?
        }
        Operation::Rewrite => annotations::complete(step, states, temporary)?,
        _ if !has_target => false,
        Operation::Move if content.check(target).is_err() => false,
        Operation::Move if has_source => {
            remove_original(source, target, content)?;
            true
        }
        Operation::Move => true,
        Operation::Copy | Operation::Link(LinkKind::Reflink) => {
            has_source && FileContent::of(target).is_ok() && hash_of(source)? == hash_of(target)?
        }
        Operation::Link(LinkKind::Hard) => has_source && is_same_file(source, target)?,
        Operation::Link(LinkKind::Symbolic) => fs::read_link(target).is_ok_and(|to| to == *source),
    })
}

/// Removes the unfinished file of a step. After an exchange, this file is the replaced copy, so it is removed only
/// while its bytes are at the name of the copy.
pub(crate) fn remove_left(step: &Step, temporary: &Path) -> io::Result<()> {
    if step.operation == Operation::Rewrite {
        return annotations::remove_left(step, temporary);
    }
    if matches!(step.operation, Operation::Replace(_)) && fs::symlink_metadata(temporary).is_ok() {
        step.content.check_bytes(&step.source)?;
    }
    if_exists(fs::remove_file(temporary)).map(drop)
}
