//! Watches a store in a file, which several processes use. A process notices in this way what others accept, and takes
//! over their tasks when the process that ran these tasks has ended.

use std::{
    mem,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use super::super::{WorkerContext, wake_signal::WakeSignal};
use tessera_store::sqlite::FileChanges;

/// The interval at which the file is checked for changes, and the lock on the tasks is tried.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Takes the lock on the tasks when it is free, and wakes the threads whenever they may find tasks, until `ended` is
/// closed.
pub fn watch_file(worker: &WorkerContext, signal: &WakeSignal, ended: &Receiver<()>) {
    let mut changes = None;
    let mut ran_tasks = worker.store.runs_tasks();
    while ended.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        // A failure is repaired at the next check.
        changes = changes.or_else(|| worker.store.changes().ok().flatten());
        let checked = changes.as_mut().map(FileChanges::has_changed);
        if matches!(checked, Some(Err(_))) {
            changes = None;
        }
        let is_changed = matches!(checked, Some(Ok(true)));
        let has_taken_over = !mem::replace(&mut ran_tasks, worker.may_run_tasks());
        if ran_tasks && (is_changed || has_taken_over) {
            signal.wake();
        }
    }
}
