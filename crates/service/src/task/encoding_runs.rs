//! How far this process has encoded the media of datasets with the users' own models.

use std::{collections::HashMap, time::Instant};

use parking_lot::Mutex;
use tessera_model::{DatasetId, EncodingProgress};

/// The time after which the speed of an encoding is known well enough.
const MIN_SECONDS: f64 = 1.0;

/// The datasets whose media are being encoded.
#[derive(Default)]
pub struct EncodingRuns(Mutex<HashMap<DatasetId, Counts>>);

#[derive(Clone, Copy)]
struct Counts {
    begun: Instant,
    done: u64,
    total: u64,
}

impl EncodingRuns {
    /// Begins to count the encoding of `total` media. The encoding ends when the returned value is dropped.
    pub fn begin(&self, dataset: DatasetId, total: usize) -> EncodingRun<'_> {
        let counts = Counts { begun: Instant::now(), done: 0, total: total as u64 };
        self.0.lock().insert(dataset, counts);
        EncodingRun { runs: self, dataset }
    }

    /// Returns the progress of a dataset whose media are being encoded.
    pub fn progress(&self, dataset: DatasetId) -> Option<EncodingProgress> {
        let Counts { begun, done, total } = *self.0.lock().get(&dataset)?;
        let seconds = begun.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a speed")]
        let per_second = (seconds >= MIN_SECONDS && done > 0).then(|| done as f64 / seconds);
        Some(EncodingProgress { done, total, per_second })
    }
}

/// An encoding of the media of a dataset.
pub struct EncodingRun<'a> {
    runs: &'a EncodingRuns,
    dataset: DatasetId,
}

impl EncodingRun<'_> {
    pub fn set_done(&self, media: usize) {
        if let Some(counts) = self.runs.0.lock().get_mut(&self.dataset) {
            counts.done = media as u64;
        }
    }
}

impl Drop for EncodingRun<'_> {
    fn drop(&mut self) {
        self.runs.0.lock().remove(&self.dataset);
    }
}
