//! The states a job went through, and how fast it goes in the present one.

use std::time::Duration;

use tessera_model::{SafeText, Stamp};

/// Measurements of one state before its end is foretold (M10).
const SAMPLES: u32 = 3;
/// States remembered; a service that flips between two must not fill the memory.
const STEPS: usize = 100;

/// A state and when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it was first seen.
    pub at: Stamp,
    /// The word of the state.
    pub word: SafeText,
}

/// The states of a job, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    steps: Vec<Step>,
    pace: Option<Pace>,
}

/// How far the present state has come, measured since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    first: (Stamp, u64),
    last: (Stamp, u64),
    total: u64,
    samples: u32,
}

impl Timeline {
    /// Notes the state of now with how much of it is done. `true`: it is another one than before.
    pub fn note(&mut self, at: Stamp, word: &str, measure: Option<(u64, u64)>) -> bool {
        let changed = self.steps.last().is_none_or(|step| step.word.as_str() != word);
        if changed {
            if self.steps.len() == STEPS {
                self.steps.remove(1);
            }
            self.steps.push(Step { at, word: SafeText::name(word) });
            self.pace = None;
        }
        if let Some((done, total)) = measure {
            self.measure(at, done, total);
        }
        changed
    }

    fn measure(&mut self, at: Stamp, done: u64, total: u64) {
        match &mut self.pace {
            Some(pace) if pace.total == total && done >= pace.last.1 => {
                if done > pace.last.1 {
                    pace.samples += 1;
                    pace.last = (at, done);
                }
            }
            // Nothing to compare with, or it began anew.
            pace => {
                *pace = Some(Pace { first: (at, done), last: (at, done), total, samples: 1 });
            }
        }
    }

    /// The states, oldest first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How long the state at `place` lasted, or has lasted.
    #[must_use]
    pub fn lasted(&self, place: usize, clock: Stamp) -> Duration {
        let end = self.steps.get(place + 1).map_or(clock, |next| next.at);
        self.steps.get(place).map_or(Duration::ZERO, |step| end.saturating_sub(step.at))
    }

    /// Units a second (bytes, or percent) in the present state, once they can be told.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let pace = self.pace.filter(|pace| pace.samples >= SAMPLES)?;
        let time = pace.last.0.saturating_sub(pace.first.0).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        (time > 0.0).then(|| (pace.last.1 - pace.first.1) as f64 / time)
    }

    /// The time until the present state ends, at the rate so far.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let (pace, rate) = (self.pace?, self.rate()?);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let seconds = pace.total.saturating_sub(pace.last.1) as f64 / rate;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m10_p50_no_end_is_foretold_before_three_samples_of_one_state() {
        let mut timeline = Timeline::default();
        let at = Stamp::from_secs;
        assert!(timeline.note(at(0), "INDEXING", Some((10, 100))));
        assert!(!timeline.note(at(10), "INDEXING", Some((20, 100))));
        assert_eq!(timeline.left(), None);
        timeline.note(at(20), "INDEXING", Some((30, 100)));
        assert_eq!(timeline.left(), Some(Duration::from_secs(70)));
        assert!(timeline.note(at(30), "CLUSTERING", Some((0, 100))));
        assert_eq!((timeline.left(), timeline.rate()), (None, None), "a new state begins anew");
        assert_eq!(timeline.lasted(0, at(99)), Duration::from_secs(30));
        assert_eq!(timeline.lasted(1, at(99)), Duration::from_secs(69));
    }

    #[test]
    fn a_state_that_flips_does_not_fill_the_memory() {
        let mut timeline = Timeline::default();
        for second in 0..1_000 {
            timeline.note(Stamp::from_secs(second), if second % 2 == 0 { "A" } else { "B" }, None);
        }
        assert_eq!(timeline.steps().len(), STEPS);
        assert_eq!(timeline.steps()[0].at, Stamp::ZERO, "the beginning is kept");
    }
}
