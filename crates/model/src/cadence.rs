//! How often to ask again: a pure function of what is being watched and how it has gone so far.
//!
//! Nothing here knows a clock. Work that moves is asked about often at first and more slowly
//! as it lasts; a service that fails is asked less and less, down to one try in half a minute.

use std::time::Duration;

/// What is being watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The list of datasets, all of them at rest.
    RestingDatasets,
    /// The list of datasets while at least one is busy.
    MovingDatasets,
    /// An export that has run for this long.
    Export(Duration),
    /// One dataset, which has not changed for this long.
    Dataset(Duration),
}

/// How often is asked, in the words of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cadence {
    /// Time between two questions about work that moves.
    pub min: Duration,
    /// Time between two questions about what is at rest, and about work that lasts.
    pub max: Duration,
    /// The same while nobody looks at the window.
    pub unfocused: Duration,
}

impl Default for Cadence {
    fn default() -> Self {
        let [min, max, unfocused] = [1, 15, 30].map(Duration::from_secs);
        Self { min, max, unfocused }
    }
}

/// Longest time until a recovery is noticed.
const LONGEST: Duration = Duration::from_secs(30);
/// How much rarer a window asks that nobody looks at.
const UNATTENDED: u32 = 3;

impl Cadence {
    /// Time until the next question, after `failures` failed ones in a row.
    #[must_use]
    pub fn interval(self, watch: Watch, failures: u32) -> Duration {
        let calm = match watch {
            Watch::RestingDatasets => self.max,
            Watch::MovingDatasets => self.min,
            Watch::Export(age) | Watch::Dataset(age) => (age / 8).max(self.min).min(self.max),
        };
        if failures == 0 {
            return calm;
        }
        let backoff = Duration::from_secs(2) * 2u32.saturating_pow(failures.min(5) - 1);
        backoff.min(LONGEST)
    }

    /// The same for a window that nobody looks at (M22).
    #[must_use]
    pub fn unattended(self, interval: Duration) -> Duration {
        (interval * UNATTENDED).min(self.unfocused).max(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m22_intervals_by_state_age_and_failures() {
        let usual = Cadence::default();
        let secs = |watch, failures| usual.interval(watch, failures).as_secs();
        assert_eq!(secs(Watch::RestingDatasets, 0), 15);
        assert_eq!(secs(Watch::MovingDatasets, 0), 1);
        assert_eq!(secs(Watch::Export(Duration::ZERO), 0), 1);
        assert_eq!(secs(Watch::Export(Duration::from_secs(40)), 0), 5);
        assert_eq!(secs(Watch::Export(Duration::from_secs(4_000)), 0), 15);
        let failing: Vec<u64> = (1..8).map(|n| secs(Watch::MovingDatasets, n)).collect();
        assert_eq!(failing, [2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn m22_the_settings_say_how_often_and_a_window_nobody_looks_at_asks_less() {
        let seconds = Duration::from_secs;
        let own = Cadence { min: seconds(5), max: seconds(60), unfocused: seconds(90) };
        assert_eq!(own.interval(Watch::MovingDatasets, 0), seconds(5));
        assert_eq!(own.interval(Watch::Export(seconds(8)), 0), seconds(5));
        assert_eq!(own.interval(Watch::Export(seconds(4_000)), 0), seconds(60));
        assert_eq!(own.unattended(seconds(5)), seconds(15));
        assert_eq!(own.unattended(seconds(60)), seconds(90));
        assert_eq!(own.unattended(seconds(120)), seconds(120));
    }
}
