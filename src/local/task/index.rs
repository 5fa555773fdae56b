//! Brings a dataset in line with its folder: INDEXING until the files are extracted and the
//! clusters are there, then READY, or ERROR with the reason.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{EXTRACTOR, End, arrange, extract::extract};
use crate::{
    local::{
        ingest::{Folder, compare, walk},
        store::{
            Store, StoreError,
            dataset::{self, Record},
            media,
        },
    },
    model::{DatasetId, Status},
};

/// Indexes a dataset that is INDEXING.
pub fn index(store: &Store, id: DatasetId, stop: &AtomicBool) {
    let failed =
        |words: &str| store.write(|tx| dataset::set_status(tx, id, &Status::Error, 0, Some(words)));
    let ended: Result<(), StoreError> = match store.read(|c| dataset::find(c, id)) {
        Ok(Some(record)) if record.status == Status::Indexing => match run(store, &record, stop) {
            Ok(()) | Err(End::Stopped) => Ok(()),
            Err(End::Failed(words)) => failed(&words),
        },
        Ok(_) => Ok(()),
        Err(cause) => Err(cause),
    };
    // A store that takes no more writes leaves the dataset INDEXING: the next opening goes on.
    drop(ended);
}

fn run(store: &Store, record: &Record, stop: &AtomicBool) -> Result<(), End> {
    if stop.load(Ordering::Relaxed) {
        return Err(End::Stopped);
    }
    let folder = Folder::open(&record.folder).map_err(|cause| {
        let kind = cause.kind();
        End::Failed(format!(
            "its folder cannot be opened ({kind}); put it back and open it again"
        ))
    })?;
    if record.extractor != EXTRACTOR {
        store.write(|tx| dataset::forget(tx, record.id, EXTRACTOR))?;
    }
    let survey = walk(&record.folder);
    let changes = compare(&survey, store.read(|c| media::known(c, record.id))?);
    store.write(|tx| {
        media::forget_passed_over(tx, record.id)?;
        for (path, reason) in &survey.passed_over {
            media::skip(tx, record.id, path, None, reason)?;
        }
        changes
            .vanished
            .iter()
            .try_for_each(|path| media::remove(tx, record.id, path))
    })?;
    extract(
        store,
        record.id,
        &folder,
        &changes.fresh,
        survey.files.len(),
        stop,
    )?;
    arrange::arrange(store, record.id)
}
