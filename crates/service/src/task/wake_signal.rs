//! Wakes the threads that look for tasks, and knows when none of them has anything to do.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

/// Counts the calls of `wake`. A thread is idle if it has looked for tasks since the latest call.
#[derive(Debug)]
pub(crate) struct WakeSignal {
    state: Mutex<WakeState>,
    changed: Condvar,
    is_idle: watch::Sender<bool>,
}

#[derive(Debug)]
struct WakeState {
    calls: u64,
    is_stopped: bool,
    /// For each thread, the number of calls at the time when it last found nothing.
    answered: Vec<u64>,
}

impl WakeSignal {
    pub fn new(threads: usize) -> Self {
        let state = WakeState { calls: 1, is_stopped: false, answered: vec![0; threads] };
        let is_idle = watch::Sender::new(threads == 0);
        Self { state: Mutex::new(state), changed: Condvar::new(), is_idle }
    }

    /// Makes all threads look for tasks.
    pub fn wake(&self) {
        let mut state = self.state.lock();
        state.calls += 1;
        self.report(&state);
        self.changed.notify_all();
    }

    /// Ends all threads.
    pub fn stop(&self) {
        self.state.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Records that a thread begins to look. Returns the number of calls.
    pub fn begin(&self, thread: usize) -> u64 {
        let mut state = self.state.lock();
        state.answered[thread] = 0;
        self.report(&state);
        state.calls
    }

    /// Records that a thread found nothing after `seen` calls, and waits for another call or the end of `pause`.
    /// Returns false if the thread must end.
    pub fn wait(&self, thread: usize, seen: u64, pause: Duration) -> bool {
        let mut state = self.state.lock();
        state.answered[thread] = seen;
        self.report(&state);
        let sleeping = |state: &mut WakeState| !state.is_stopped && state.calls == seen;
        self.changed.wait_while_for(&mut state, sleeping, pause);
        !state.is_stopped
    }

    /// Records that a thread could not be started, so that nobody waits for it.
    pub fn ignore(&self, thread: usize) {
        let mut state = self.state.lock();
        state.answered[thread] = u64::MAX;
        self.report(&state);
    }

    fn report(&self, state: &WakeState) {
        let is_idle = state.answered.iter().all(|&answered| answered >= state.calls);
        self.is_idle.send_replace(is_idle);
    }

    pub async fn wait_until_idle(&self) {
        // The wait cannot fail, because `self` owns the sender.
        let _ = self.is_idle.subscribe().wait_for(|is_idle| *is_idle).await;
    }
}
