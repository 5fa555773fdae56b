//! Extracts files in ranges. The worker of an indexing task creates the ranges, and extracts them together with all
//! workers that have nothing else to do. It continues when no range is left.

use std::{thread, time::Duration};

use super::super::{
    TaskContext, WorkerContext,
    extract_media::{extract_media, percent},
};
use crate::task_error::TaskError;
use tessera_media::ingest::FileToExtract;
use tessera_store::{
    StoreError,
    extraction::{self, ExtractionRange, ExtractionState},
    lease::LeasedTask,
    source::{self, SourceFolder},
};

/// The number of ranges that are added in one transaction, which bounds the time that other transactions wait in a
/// database file.
const ADDED_RANGES: usize = 16;
/// The interval at which the worker of an indexing task checks whether other workers have extracted their last ranges.
/// A check reads two rows.
const CHECK_PAUSE: Duration = Duration::from_millis(100);

/// Extracts `files` into the store, together with all workers. `all` is the number of files in the folder, from which
/// the progress is computed.
pub fn extract_in_ranges(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    files: &[FileToExtract],
    all: usize,
) -> Result<(), TaskError> {
    if files.is_empty() {
        return Ok(());
    }
    let length = context.settings.range_files.max(1);
    context.write(|tx| extraction::begin(tx, indexing_task, all, all - files.len()))?;
    for files in files.chunks(ADDED_RANGES * length) {
        context.write(|tx| {
            let mut ranges = files.chunks(length);
            ranges.try_for_each(|files| extraction::add_range(tx, indexing_task, source.row, files))
        })?;
    }
    loop {
        context.check_cancelled()?;
        if run_next_range(context, Some(indexing_task)) {
            continue;
        }
        match context.store.read(|c| extraction::state(c, indexing_task))? {
            ExtractionState::Running => thread::sleep(CHECK_PAUSE),
            ExtractionState::Ended => return Ok(()),
            ExtractionState::Failed(reason) => return Err(TaskError::Failed(reason)),
        }
    }
}

/// Extracts the oldest range that no worker is extracting, of one indexing task or of any. Returns whether there was
/// one.
pub fn run_next_range(worker: &WorkerContext, indexing_task: Option<i64>) -> bool {
    worker.run_next(
        |tx| {
            let found = extraction::next_unleased(tx, indexing_task)?;
            Ok(found.map(|range| (LeasedTask::Range(range.row), range)))
        },
        |tx, range| extraction::find(tx, range.row),
        run_range,
    )
}

/// Extracts a range. Fails only if the store cannot even record the failure.
fn run_range(context: &TaskContext, range: &ExtractionRange) -> Result<(), StoreError> {
    match context.run(|| extract_range(context, range)) {
        Ok(()) => context.write_end(|tx| extraction::end_range(tx, range)),
        Err(TaskError::Stopped) => context.release(),
        Err(TaskError::Postponed(cause)) => Err(cause),
        Err(TaskError::Failed(reason)) => {
            context.write_end(|tx| extraction::fail_range(tx, range, &reason))
        }
    }
}

fn extract_range(context: &TaskContext, range: &ExtractionRange) -> Result<(), TaskError> {
    let (source, files) = context
        .store
        .read(|c| Ok((source::find(c, range.source)?, extraction::files(c, range.row)?)))?;
    let source = source.ok_or(TaskError::Stopped)?;
    let folder = context.open_source(&source)?;
    extract_media(context, &source, &*folder, &files, |tx, extracted| {
        let progress = extraction::finish_files(tx, range, extracted.iter().copied())?;
        Ok(percent(progress.done, progress.files))
    })
}
