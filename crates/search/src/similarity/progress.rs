//! Counts the steps of a long computation, which can be stopped between two of them.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A result that is `None` if the computation was stopped.
pub type Stoppable<T, E> = Result<Option<T>, E>;

pub struct StepCounter<'a, P> {
    total: usize,
    /// Steps of the ranges that have ended, if the computation is divided into ranges.
    done: AtomicUsize,
    /// Steps of the range that is being computed here.
    in_range: AtomicUsize,
    progress: &'a P,
}

impl<'a, P: Fn(f32) -> bool> StepCounter<'a, P> {
    pub fn new(total: usize, progress: &'a P) -> Self {
        Self { total, done: AtomicUsize::new(0), in_range: AtomicUsize::new(0), progress }
    }

    /// Counts a step. Returns whether to continue.
    pub fn advance(&self) -> bool {
        let done =
            self.done.load(Ordering::Relaxed) + self.in_range.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done as f32 / self.total as f32)
    }

    /// Counts the steps of a range that has ended, here or in another process.
    pub fn end_range(&self, steps: usize) {
        self.in_range.store(0, Ordering::Relaxed);
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}
