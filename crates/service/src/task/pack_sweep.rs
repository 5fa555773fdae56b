//! Removes packs of pictures from the bucket: packs to which nothing refers any more, and packs of workers that were
//! killed before their transaction.

use std::time::{Duration, Instant};

use super::WorkerContext;
use crate::task_error::TaskError;
use tessera_media::object_storage::INTERRUPTED_AFTER;
use tessera_store::picture_pack;

/// The time between two sweeps.
const SWEEP_PAUSE: Duration = Duration::from_hours(24);
/// The number of packs that are removed before the next check whether to stop.
const PACKS_AT_A_TIME: usize = 64;

/// Sweeps at the first call, and then once a day.
#[derive(Default)]
pub(super) struct PackSweep {
    begun_at: Option<Instant>,
}

impl PackSweep {
    pub(super) fn run_when_due(&mut self, worker: &WorkerContext) {
        let is_due = self.begun_at.is_none_or(|begun_at| begun_at.elapsed() >= SWEEP_PAUSE);
        if is_due && worker.settings.bucket.is_some() {
            self.begun_at = Some(Instant::now());
            // Whatever cannot be removed now is removed by the next sweep.
            let _ = remove_unused(worker).and_then(|()| remove_unknown(worker));
        }
    }
}

/// Removes the packs to which nothing has referred for a day. A backup that is being made may still refer to younger
/// ones.
fn remove_unused(worker: &WorkerContext) -> Result<(), TaskError> {
    let store = &worker.store;
    store.write_rows(|tx| picture_pack::mark_unused(tx))?;
    let unused = store.read(|c| picture_pack::unused_for(c, INTERRUPTED_AFTER))?;
    for packs in unused.chunks(PACKS_AT_A_TIME) {
        delete_packs(worker, packs)?;
        store.write_rows(|tx| picture_pack::delete_all(tx, packs))?;
    }
    Ok(())
}

/// Removes the packs in the bucket that the store does not know. A younger pack may belong to a transaction that has
/// not been committed yet.
fn remove_unknown(worker: &WorkerContext) -> Result<(), TaskError> {
    let found = worker.originals.pictures.packs_older_than(INTERRUPTED_AFTER);
    for packs in found.map_err(|cause| TaskError::storage(&cause))?.chunks(PACKS_AT_A_TIME) {
        let known = worker.store.read(|c| picture_pack::known(c, packs))?;
        let unknown: Vec<String> =
            packs.iter().filter(|pack| !known.contains(*pack)).cloned().collect();
        delete_packs(worker, &unknown)?;
    }
    Ok(())
}

fn delete_packs(worker: &WorkerContext, packs: &[String]) -> Result<(), TaskError> {
    if worker.is_stopped() {
        return Err(TaskError::Stopped);
    }
    worker.originals.pictures.delete_packs(packs).map_err(|cause| TaskError::storage(&cause))
}
