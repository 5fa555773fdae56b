//! Compares the folder of a dataset in object storage with what is stored. If the folder has changed, it is indexed.

use std::{collections::VecDeque, iter, path::PathBuf};

use parking_lot::Mutex;

use super::WorkerContext;
use crate::task_error::TaskError;
use tessera_media::ingest::{KnownFile, ListingComparison, diff};
use tessera_model::{DatasetId, Status};
use tessera_store::{
    Store, dataset, indexed_files,
    indexing_task::{self, IndexingTaskKind},
    source,
};

/// The datasets whose folders are waiting to be compared.
#[derive(Debug, Default)]
pub(crate) struct FoldersToCompare(Mutex<VecDeque<DatasetId>>);

impl FoldersToCompare {
    pub fn add(&self, dataset: DatasetId) {
        self.0.lock().push_back(dataset);
    }

    /// Compares the next folder. Returns whether there was one.
    pub(crate) fn compare_next(&self, worker: &WorkerContext) -> bool {
        let Some(dataset) = self.0.lock().pop_front() else { return false };
        let failure = match compare(worker, dataset) {
            Err(TaskError::Failed(why) | TaskError::Unavailable(why)) => Some(why),
            // The store fails, so nothing can be noted in it.
            Err(_) => return true,
            Ok(()) => None,
        };
        if !worker.is_stopped() {
            note_comparison(&worker.store, dataset, failure.as_deref());
        }
        true
    }
}

/// Notes why the folder of a dataset could not be compared, or that it could.
pub(crate) fn note_comparison(store: &Store, id: DatasetId, failure: Option<&str>) {
    const NOT_COMPARED: &str = "The folder could not be compared with its index";
    let note = failure.map(|why| format!("{NOT_COMPARED}, so the index may be outdated: {why}"));
    // If the store fails, requests report it.
    let _ = store.write(|tx| {
        let Some(record) = dataset::find(tx, id)? else { return Ok(()) };
        let is_noted = record.fatal_error.as_ref().is_some_and(|it| it.starts_with(NOT_COMPARED));
        // What an addition could not read stays, unless there is something new.
        let rests = matches!(record.status, Status::Ready | Status::PartialIndex);
        if !rests || record.fatal_error == note || (note.is_none() && !is_noted) {
            return Ok(());
        }
        dataset::set_status(tx, id, &record.status, record.progress, note.as_deref())
    });
}

fn compare(worker: &WorkerContext, id: DatasetId) -> Result<(), TaskError> {
    let store = &worker.store;
    let Some(source) = store.read(|c| source::dataset_folder(c, id))? else { return Ok(()) };
    let known = known_files(worker, source.row);
    let is_same =
        match worker.originals.compare(&source.folder, known).map_err(TaskError::Failed)? {
            ListingComparison::Same => true,
            ListingComparison::Different => false,
            ListingComparison::Unordered => {
                let scan = worker.originals.scan(&source.folder, &source.patterns);
                let scan = scan.map_err(|cause| TaskError::storage(&cause))?;
                diff(&scan, store.read(|c| indexed_files::known_files(c, source.row))?).is_empty()
            }
        };
    if is_same {
        return Ok(());
    }
    store.write(|tx| {
        let status = dataset::find(tx, id)?.map(|record| record.status);
        let rests = matches!(status, Some(Status::Ready | Status::PartialIndex));
        if rests && indexing_task::find_running(tx, id)?.is_none() {
            indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Returns the known files of a source, reading some at a time, until the process ends.
fn known_files(
    worker: &WorkerContext,
    source: i64,
) -> impl Iterator<Item = Result<(PathBuf, KnownFile), String>> {
    let mut after = PathBuf::new();
    let next = move || {
        if worker.is_stopped() {
            return Some(Err("it was stopped".to_owned()));
        }
        match worker.store.read(|c| indexed_files::known_files_after(c, source, &after)) {
            Ok(files) if files.is_empty() => None,
            Ok(files) => {
                after.clone_from(&files.last()?.0);
                Some(Ok(files))
            }
            Err(error) => Some(Err(error.to_string())),
        }
    };
    iter::from_fn(next).flat_map(|files| match files {
        Ok(files) => files.into_iter().map(Ok).collect(),
        Err(reason) => vec![Err(reason)],
    })
}
