//! Defines how often a dataset or an export is polled. The interval grows while an export or another
//! task runs. Repeated failures double the interval, from 2 s up to 30 s.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollTarget {
    IdleDatasets,
    BusyDatasets,
    /// An export that has been running for this long.
    Export(Duration),
    /// A dataset that has not changed for this long.
    Dataset(Duration),
}

/// The `poll` settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollingIntervals {
    /// The interval for work that progresses.
    pub min: Duration,
    /// The interval for idle datasets, and the longest one for long tasks.
    pub max: Duration,
    /// The interval while the window is not focused.
    pub unfocused: Duration,
}

impl Default for PollingIntervals {
    fn default() -> Self {
        let [min, max, unfocused] = [1, 15, 30].map(Duration::from_secs);
        Self { min, max, unfocused }
    }
}

/// The longest pause that a service can request between two polls. A wrong clock or unit of the service would otherwise
/// stop them.
pub const MAX_REQUESTED_PAUSE: Duration = Duration::from_mins(10);

const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(30);
const UNFOCUSED_FACTOR: u32 = 3;

impl PollingIntervals {
    /// Returns the time until the next poll, after `failures` consecutive failures.
    pub fn interval(self, target: PollTarget, failures: u32) -> Duration {
        let regular = match target {
            PollTarget::IdleDatasets => self.max,
            PollTarget::BusyDatasets => self.min,
            PollTarget::Export(age) | PollTarget::Dataset(age) => {
                (age / 8).max(self.min).min(self.max)
            }
        };
        if failures == 0 {
            return regular;
        }
        let backoff = Duration::from_secs(2) * 2u32.saturating_pow(failures.min(5) - 1);
        backoff.min(MAX_RETRY_INTERVAL)
    }

    pub fn unfocused_interval(self, interval: Duration) -> Duration {
        (interval * UNFOCUSED_FACTOR).min(self.unfocused).max(interval)
    }
}
