//! Keeps the leases of this process in a store on a server, and notices when it has lost a lease.

use std::sync::{
    Arc,
    mpsc::{Receiver, RecvTimeoutError},
};

use super::super::{WorkerContext, wake_signal::WakeSignal};
use tessera_store::{
    StoreError, TaskListener,
    lease::{self, EXTENSION_INTERVAL},
};

/// Extends leases if this process runs tasks, and listens for tasks and changed clusters, until `ended` is closed. At
/// each interval, the threads look for tasks whose leases have expired or whose notifications were lost.
pub fn keep_leases(worker: &WorkerContext, signal: &Arc<WakeSignal>, ended: &Receiver<()>) {
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
        // Without this, the worker would be believed alive until its last extension expires.
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
