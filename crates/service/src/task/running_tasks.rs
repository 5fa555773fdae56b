//! The tasks that this process is running, and a way to stop them.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, Ordering},
};

use tessera_store::{lease::Lease, lock};

/// The running tasks, shared by the threads that run tasks and the thread that extends leases.
#[derive(Debug, Default)]
pub(crate) struct RunningTasks(Mutex<RunningState>);

#[derive(Debug, Default)]
struct RunningState {
    /// Whether no further task may begin.
    is_stopped: bool,
    /// The leases of the tasks, with the flag that stops each task. The flag no longer exists when the task has ended.
    tasks: Vec<(Lease, Weak<AtomicBool>)>,
}

impl RunningTasks {
    /// Registers a task. Returns the flag that is set when the task must stop.
    pub fn begin(&self, lease: &Lease) -> Arc<AtomicBool> {
        let mut state = lock(&self.0);
        let stop = Arc::new(AtomicBool::new(state.is_stopped));
        state.tasks.retain(|(_, stop)| stop.strong_count() > 0);
        state.tasks.push((lease.clone(), Arc::downgrade(&stop)));
        stop
    }

    pub fn is_stopped(&self) -> bool {
        lock(&self.0).is_stopped
    }

    pub(crate) fn stop_all(&self) {
        let mut state = lock(&self.0);
        state.is_stopped = true;
        state.tasks.iter().for_each(|(_, stop)| set(stop));
    }

    /// Stops the task of a lease that another worker has taken.
    pub fn stop(&self, lost: &Lease) {
        let state = lock(&self.0);
        let lost = state.tasks.iter().filter(|(lease, _)| lease == lost);
        lost.for_each(|(_, stop)| set(stop));
    }

    /// Returns the leases of the tasks that have not ended.
    pub fn leases(&self) -> Vec<Lease> {
        let state = lock(&self.0);
        let running = state.tasks.iter().filter(|(_, stop)| stop.strong_count() > 0);
        running.map(|(lease, _)| lease.clone()).collect()
    }
}

fn set(stop: &Weak<AtomicBool>) {
    if let Some(stop) = stop.upgrade() {
        stop.store(true, Ordering::Relaxed);
    }
}
