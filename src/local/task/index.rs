//! Brings a dataset in line with its folder: INDEXING until the files are extracted and the
//! clusters are there, then READY, or ERROR with the reason.

use std::{path::Path, sync::atomic::AtomicBool};

use super::{EXTRACTOR, End, arrange::arrange, describe::describe, extract::extract, goal};
use crate::{
    local::{
        ingest::{Folder, SIDECAR, compare, walk},
        store::{
            Store, StoreError,
            dataset::{self, Record},
            intake,
        },
    },
    model::{DatasetId, Status},
};

/// Indexes a dataset that is INDEXING.
///
/// # Errors
/// The store takes not even the reason of a failure; the dataset stays INDEXING.
pub fn index(store: &Store, id: DatasetId, stop: &AtomicBool) -> Result<(), StoreError> {
    let record = store.read(|c| dataset::find(c, id))?;
    let Some(record) = record.filter(|record| record.status == Status::Indexing) else {
        return Ok(());
    };
    match goal(stop, || run(store, &record, stop)) {
        Ok(()) | Err(End::Stopped) => Ok(()),
        Err(End::Failed(why)) => {
            store.write(|tx| dataset::set_status(tx, id, &Status::Error, 0, Some(&why)))
        }
    }
}

fn run(store: &Store, record: &Record, stop: &AtomicBool) -> Result<(), End> {
    let folder = Folder::open(&record.folder).map_err(|cause| {
        let kind = cause.kind();
        End::Failed(format!("its folder cannot be opened ({kind}); put it back and open it again"))
    })?;
    if record.extractor != EXTRACTOR {
        store.write(|tx| dataset::forget(tx, record.id, EXTRACTOR))?;
    }
    let survey = walk(&record.folder);
    let mut changes = compare(&survey, store.read(|c| intake::known(c, record.id))?);
    store.write(|tx| {
        intake::forget_passed_over(tx, record.id)?;
        for (path, reason) in &survey.passed_over {
            intake::skip(tx, record.id, path, None, reason)?;
        }
        changes.vanished.iter().try_for_each(|path| intake::remove(tx, record.id, path))
    })?;
    changes.fresh.retain(|(found, _)| found.path != Path::new(SIDECAR));
    extract(store, record.id, &folder, &changes.fresh, survey.files.len(), stop)?;
    describe(store, record.id, &folder, &survey)?;
    arrange(store, record.id)
}
