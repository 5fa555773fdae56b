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
}

/// Shortest time between two questions.
pub const SHORTEST: Duration = Duration::from_secs(1);
/// Longest time between two questions, and so the longest time until a recovery is noticed.
pub const LONGEST: Duration = Duration::from_secs(30);

/// Time until the next question, after `failures` failed ones in a row.
#[must_use]
pub fn interval(watch: Watch, failures: u32) -> Duration {
    let calm = match watch {
        Watch::RestingDatasets => Duration::from_secs(15),
        Watch::MovingDatasets => SHORTEST,
        Watch::Export(age) => (age / 8).clamp(SHORTEST, Duration::from_secs(15)),
    };
    if failures == 0 {
        return calm;
    }
    let backoff = Duration::from_secs(2) * 2u32.saturating_pow(failures.min(5) - 1);
    backoff.min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m22_intervals_by_state_age_and_failures() {
        let secs = |watch, failures| interval(watch, failures).as_secs();
        assert_eq!(secs(Watch::RestingDatasets, 0), 15);
        assert_eq!(secs(Watch::MovingDatasets, 0), 1);
        assert_eq!(secs(Watch::Export(Duration::ZERO), 0), 1);
        assert_eq!(secs(Watch::Export(Duration::from_secs(40)), 0), 5);
        assert_eq!(secs(Watch::Export(Duration::from_secs(4_000)), 0), 15);
        let failing: Vec<u64> = (1..8).map(|n| secs(Watch::MovingDatasets, n)).collect();
        assert_eq!(failing, [2, 4, 8, 16, 30, 30, 30]);
    }
}
