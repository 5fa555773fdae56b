//! Reports the progress of a long computation from any of its threads. Each percent is written only once, because each
//! write is a transaction.

use std::sync::atomic::{AtomicU8, Ordering};

use super::TaskContext;
use tessera_model::DatasetId;

/// Returns the share that is done, 0.0-1.0, or 0.0 if there is nothing to do.
#[expect(clippy::cast_precision_loss, reason = "a share, not a count")]
pub(crate) fn fraction(done: usize, all: usize) -> f64 {
    done as f64 / all.max(1) as f64
}

pub(crate) struct ProgressRange<'a> {
    context: &'a TaskContext,
    dataset: DatasetId,
    from: f64,
    to: f64,
    reported: AtomicU8,
}

impl<'a> ProgressRange<'a> {
    /// Creates the range between two shares of the whole, which are 0.0-1.0.
    pub fn new(context: &'a TaskContext, dataset: DatasetId, from: f64, to: f64) -> Self {
        Self { context, dataset, from, to, reported: AtomicU8::new(0) }
    }

    pub(crate) fn subrange(&self, from: f64, to: f64) -> Self {
        let at = |share: f64| self.from + share * (self.to - self.from);
        Self::new(self.context, self.dataset, at(from), at(to))
    }

    /// Reports which share of this range is done, 0.0-1.0. Returns whether to continue.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn report(&self, share: f64) -> bool {
        let whole = self.from + share.clamp(0.0, 1.0) * (self.to - self.from);
        let percent = (whole * 100.0) as u8;
        if self.reported.fetch_max(percent, Ordering::Relaxed) < percent {
            // An error is ignored: if the store cannot be written, writing the result fails too, with a message.
            let _ = self.context.report_progress(self.dataset, whole);
        }
        self.context.check_cancelled().is_ok()
    }
}
