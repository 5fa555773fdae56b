//! Records the states that a job has been in, and estimates the rate of progress in the present
//! one.

use std::time::Duration;

use tessera_model::{SafeText, Timestamp};

/// The number of progress samples in a state that an estimate needs.
const MIN_SAMPLES: u32 = 3;
/// The number of states that are kept, so that a service that alternates between two states cannot
/// fill the memory.
const MAX_TRANSITIONS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub entered_at: Timestamp,
    pub state: SafeText,
}

/// The states of a job, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobHistory {
    transitions: Vec<Transition>,
    rate_samples: Option<RateSamples>,
    /// The percentage over time, in the last state that reported one.
    progress: Vec<(Timestamp, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct RateSamples {
    first: (Timestamp, u64),
    last: (Timestamp, u64),
    total: u64,
    samples: u32,
}

impl JobHistory {
    /// Records the current state and its progress (done, total). Returns whether the state is a new
    /// one.
    pub fn record(&mut self, at: Timestamp, state: &str, progress: Option<(u64, u64)>) -> bool {
        let changed = self.transitions.last().is_none_or(|last| last.state.as_str() != state);
        if changed {
            if self.transitions.len() == MAX_TRANSITIONS {
                self.transitions.remove(1);
            }
            self.transitions.push(Transition { entered_at: at, state: SafeText::name(state) });
            self.rate_samples = None;
        }
        if let Some((done, total)) = progress {
            self.record_progress(at, done, total);
        }
        changed
    }

    fn record_progress(&mut self, at: Timestamp, done: u64, total: u64) {
        let percent = done.saturating_mul(100) / total.max(1);
        let starts_over = self.progress.last().is_some_and(|(_, before)| percent < *before);
        if self.rate_samples.is_none() || starts_over {
            self.progress.clear();
        }
        if self.progress.last().is_none_or(|(_, before)| percent > *before) {
            self.progress.push((at, percent));
        }
        match &mut self.rate_samples {
            Some(rate) if rate.total == total && done >= rate.last.1 => {
                if done > rate.last.1 {
                    rate.samples += 1;
                    rate.last = (at, done);
                }
            }
            // This is the first sample, or progress has started over.
            samples => {
                *samples =
                    Some(RateSamples { first: (at, done), last: (at, done), total, samples: 1 });
            }
        }
    }

    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the percentage at `columns` points in time, from the first sample to `end`. Returns
    /// nothing if there are fewer than two samples.
    pub fn progress_over_time(&self, end: Timestamp, columns: usize) -> Vec<u64> {
        let Some(&(start, _)) = self.progress.first() else { return Vec::new() };
        let duration = end.saturating_sub(start);
        if duration.is_zero() || self.progress.len() < 2 {
            return Vec::new();
        }
        let percent_at = |column: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a fraction of the duration")]
            let at = start + duration.mul_f64((column + 1) as f64 / columns as f64);
            let past = self.progress.iter().take_while(|(sampled_at, _)| *sampled_at <= at);
            past.last().map_or(0, |(_, percent)| *percent)
        };
        (0..columns).map(percent_at).collect()
    }

    /// Returns how long the state at `index` lasted, or has lasted so far.
    pub fn duration_of(&self, index: usize, clock: Timestamp) -> Duration {
        let start = self.transitions.get(index).map_or(clock, |state| state.entered_at);
        let end = self.transitions.get(index + 1).map_or(clock, |next| next.entered_at);
        end.saturating_sub(start)
    }

    /// Returns the units (bytes or percent) per second in the current state, once there are enough
    /// samples.
    pub fn rate(&self) -> Option<f64> {
        let rate = self.rate_samples.filter(|samples| samples.samples >= MIN_SAMPLES)?;
        let time = rate.last.0.saturating_sub(rate.first.0).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        (time > 0.0).then(|| (rate.last.1 - rate.first.1) as f64 / time)
    }

    pub fn time_left(&self) -> Option<Duration> {
        let (samples, rate) = (self.rate_samples?, self.rate()?);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds = samples.total.saturating_sub(samples.last.1) as f64 / rate;
        Duration::try_from_secs_f64(seconds).ok()
    }
}
