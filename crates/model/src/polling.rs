//! How often to ask again: a pure function of what is being watched and how it has gone so far.
//!
//! Nothing here knows a clock. Work that moves is asked about often at first and more slowly
//! as it lasts; a service that fails is asked less and less, down to one try in half a minute.

use std::time::Duration;

/// What is being watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollTarget {
    /// The list of datasets, all of them at rest.
    IdleDatasets,
    /// The list of datasets while at least one is busy.
    BusyDatasets,
    /// An export that has run for this long.
    Export(Duration),
    /// One dataset, which has not changed for this long.
    Dataset(Duration),
}

/// How often is asked, in the words of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollingIntervals {
    /// Time between two questions about work that moves.
    pub min: Duration,
    /// Time between two questions about what is at rest, and about work that lasts.
    pub max: Duration,
    /// The same while nobody looks at the window.
    pub unfocused: Duration,
}

impl Default for PollingIntervals {
    fn default() -> Self {
        let [min, max, unfocused] = [1, 15, 30].map(Duration::from_secs);
        Self { min, max, unfocused }
    }
}

/// Longest time until a recovery is noticed.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// How much rarer a window asks that nobody looks at.
const UNFOCUSED_FACTOR: u32 = 3;

impl PollingIntervals {
    /// Time until the next question, after `failures` failed ones in a row.
    #[must_use]
    pub fn interval(self, watch: PollTarget, failures: u32) -> Duration {
        let calm = match watch {
            PollTarget::IdleDatasets => self.max,
            PollTarget::BusyDatasets => self.min,
            PollTarget::Export(age) | PollTarget::Dataset(age) => {
                (age / 8).max(self.min).min(self.max)
            }
        };
        if failures == 0 {
            return calm;
        }
        let backoff = Duration::from_secs(2) * 2u32.saturating_pow(failures.min(5) - 1);
        backoff.min(MAX_RETRY_INTERVAL)
    }

    /// The same for a window that nobody looks at.
    #[must_use]
    pub fn unfocused_interval(self, interval: Duration) -> Duration {
        (interval * UNFOCUSED_FACTOR).min(self.unfocused).max(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_by_state_age_and_failures() {
        let usual = PollingIntervals::default();
        let secs = |watch, failures| usual.interval(watch, failures).as_secs();
        assert_eq!(secs(PollTarget::IdleDatasets, 0), 15);
        assert_eq!(secs(PollTarget::BusyDatasets, 0), 1);
        assert_eq!(secs(PollTarget::Export(Duration::ZERO), 0), 1);
        assert_eq!(secs(PollTarget::Export(Duration::from_secs(40)), 0), 5);
        assert_eq!(secs(PollTarget::Export(Duration::from_secs(4_000)), 0), 15);
        let failing: Vec<u64> = (1..8).map(|n| secs(PollTarget::BusyDatasets, n)).collect();
        assert_eq!(failing, [2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn the_settings_say_how_often_and_a_window_nobody_looks_at_asks_less() {
        let seconds = Duration::from_secs;
        let own = PollingIntervals { min: seconds(5), max: seconds(60), unfocused: seconds(90) };
        assert_eq!(own.interval(PollTarget::BusyDatasets, 0), seconds(5));
        assert_eq!(own.interval(PollTarget::Export(seconds(8)), 0), seconds(5));
        assert_eq!(own.interval(PollTarget::Export(seconds(4_000)), 0), seconds(60));
        assert_eq!(own.unfocused_interval(seconds(5)), seconds(15));
        assert_eq!(own.unfocused_interval(seconds(60)), seconds(90));
        assert_eq!(own.unfocused_interval(seconds(120)), seconds(120));
    }
}
