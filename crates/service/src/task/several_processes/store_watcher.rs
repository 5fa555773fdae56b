//! Notices in the store what other processes do, and wakes the threads that run tasks. On a server, this also keeps the
//! leases of this process, and notices when it has lost one. In a file, this takes over the tasks of a process that has
//! ended.

use std::{
    mem,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use crate::task::{WorkerContext, wake_signal::WakeSignal};
use tessera_store::{
    StoreError, TaskListener,
    lease::{self, EXTENSION_INTERVAL},
    sqlite::FileChanges,
};

/// Watches the store until `ended` is closed.
pub fn watch_store(worker: &WorkerContext, signal: &Arc<WakeSignal>, ended: &Receiver<()>) {
    if worker.store.is_on_server() {
        keep_leases(worker, signal, ended);
    } else {
        watch_file(worker, signal, ended);
    }
}

/// Extends leases if this process runs tasks, and listens for tasks and changed clusters, until `ended` is closed. At
/// each interval, the threads look for tasks whose leases have expired or whose notifications were lost.
fn keep_leases(worker: &WorkerContext, signal: &Arc<WakeSignal>, ended: &Receiver<()>) {
    let runs_tasks = worker.settings.jobs > 0;
    let mut listener = None;
    loop {
        if listener.as_ref().is_none_or(TaskListener::is_closed) {
            let signal = signal.clone();
            // A failure is repaired after the next interval.
            listener = worker.store.listen(move || signal.wake()).ok().flatten();
        }
        // If the server cannot be reached, no other worker can take the tasks either.
        if runs_tasks {
            let _ = extend_leases(worker);
        }
        signal.wake();
        if ended.recv_timeout(EXTENSION_INTERVAL) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    if runs_tasks {
        // Without this, the worker would be believed alive until its last extension expires. Other workers take its
        // tasks at once, even if one of them does not notice the stop while it waits for object storage.
        let _ = worker.store.write_rows(|tx| lease::remove_worker(tx, worker.holder));
    }
}

fn extend_leases(worker: &WorkerContext) -> Result<(), StoreError> {
    let running = worker.running.leases();
    let lost = worker.store.write_rows(|tx| {
        lease::extend_all(tx, worker.holder, lease::end_of_new(tx)?)?;
        let mut lost = Vec::new();
        for lease in running {
            if !lease::is_held(tx, &lease)? {
                lost.push(lease);
            }
        }
        Ok(lost)
    })?;
    for lease in &lost {
        worker.running.stop(lease);
    }
    Ok(())
}

/// The interval at which the file is checked for changes, and the lock on the tasks is tried.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Takes the lock on the tasks when it is free, and wakes the threads whenever they may find tasks, until `ended` is
/// closed.
fn watch_file(worker: &WorkerContext, signal: &WakeSignal, ended: &Receiver<()>) {
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
