//! How far a long computation is, counted over all threads, and whether to go on.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The steps of a computation, told one by one to a closure that may stop it.
pub struct StepCounter<'a, P> {
    total: usize,
    done: AtomicUsize,
    progress: &'a P,
}

impl<'a, P: Fn(f32) -> bool> StepCounter<'a, P> {
    /// Of `all` steps none is done.
    pub fn new(total: usize, progress: &'a P) -> Self {
        Self { total, done: AtomicUsize::new(0), progress }
    }

    /// One more is done: tells the share of all, and whether to go on.
    pub fn advance(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done as f32 / self.total as f32)
    }
}
