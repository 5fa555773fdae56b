//! The states a job went through, and how fast it goes in the present one.

use std::time::Duration;

use tessera_model::{SafeText, Timestamp};

/// Measurements of one state before its end is foretold.
const MIN_SAMPLES: u32 = 3;
/// States remembered; a service that flips between two must not fill the memory.
const MAX_TRANSITIONS: usize = 100;

/// A state and when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When it was first seen.
    pub entered_at: Timestamp,
    /// The word of the state.
    pub state: SafeText,
}

/// The states of a job, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobHistory {
    transitions: Vec<Transition>,
    rate_samples: Option<RateSamples>,
}

/// How far the present state has come, measured since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateSamples {
    first: (Timestamp, u64),
    last: (Timestamp, u64),
    total: u64,
    samples: u32,
}

impl JobHistory {
    /// Notes the state of now with how much of it is done. `true`: it is another one than before.
    pub fn record(&mut self, at: Timestamp, word: &str, measure: Option<(u64, u64)>) -> bool {
        let changed = self.transitions.last().is_none_or(|step| step.state.as_str() != word);
        if changed {
            if self.transitions.len() == MAX_TRANSITIONS {
                self.transitions.remove(1);
            }
            self.transitions.push(Transition { entered_at: at, state: SafeText::name(word) });
            self.rate_samples = None;
        }
        if let Some((done, total)) = measure {
            self.record_progress(at, done, total);
        }
        changed
    }

    fn record_progress(&mut self, at: Timestamp, done: u64, total: u64) {
        match &mut self.rate_samples {
            Some(pace) if pace.total == total && done >= pace.last.1 => {
                if done > pace.last.1 {
                    pace.samples += 1;
                    pace.last = (at, done);
                }
            }
            // Nothing to compare with, or it began anew.
            pace => {
                *pace =
                    Some(RateSamples { first: (at, done), last: (at, done), total, samples: 1 });
            }
        }
    }

    /// The states, oldest first.
    #[must_use]
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// How long the state at `place` lasted, or has lasted.
    #[must_use]
    pub fn duration_of(&self, place: usize, clock: Timestamp) -> Duration {
        let end = self.transitions.get(place + 1).map_or(clock, |next| next.entered_at);
        self.transitions
            .get(place)
            .map_or(Duration::ZERO, |step| end.saturating_sub(step.entered_at))
    }

    /// Units a second (bytes, or percent) in the present state, once they can be told.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let pace = self.rate_samples.filter(|pace| pace.samples >= MIN_SAMPLES)?;
        let time = pace.last.0.saturating_sub(pace.first.0).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        (time > 0.0).then(|| (pace.last.1 - pace.first.1) as f64 / time)
    }

    /// The time until the present state ends, at the rate so far.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let (pace, rate) = (self.rate_samples?, self.rate()?);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds = pace.total.saturating_sub(pace.last.1) as f64 / rate;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_is_foretold_before_three_samples_of_one_state() {
        let mut timeline = JobHistory::default();
        let at = Timestamp::from_secs;
        assert!(timeline.record(at(0), "INDEXING", Some((10, 100))));
        assert!(!timeline.record(at(10), "INDEXING", Some((20, 100))));
        assert_eq!(timeline.time_left(), None);
        timeline.record(at(20), "INDEXING", Some((30, 100)));
        assert_eq!(timeline.time_left(), Some(Duration::from_secs(70)));
        assert!(timeline.record(at(30), "CLUSTERING", Some((0, 100))));
        assert_eq!(
            (timeline.time_left(), timeline.rate()),
            (None, None),
            "a new state begins anew"
        );
        assert_eq!(timeline.duration_of(0, at(99)), Duration::from_secs(30));
        assert_eq!(timeline.duration_of(1, at(99)), Duration::from_secs(69));
    }

    #[test]
    fn a_state_that_flips_does_not_fill_the_memory() {
        let mut timeline = JobHistory::default();
        for second in 0..1_000 {
            timeline.record(
                Timestamp::from_secs(second),
                if second % 2 == 0 { "A" } else { "B" },
                None,
            );
        }
        assert_eq!(timeline.transitions().len(), MAX_TRANSITIONS);
        assert_eq!(timeline.transitions()[0].entered_at, Timestamp::ZERO, "the beginning is kept");
    }
}
