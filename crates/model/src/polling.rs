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
    pub fn unfocused_interval(self, interval: Duration) -> Duration {
        (interval * UNFOCUSED_FACTOR).min(self.unfocused).max(interval)
    }
}
