//! How often progress is worth telling: the first time at once, then ten times a second at most.

use std::time::{Duration, Instant};

/// Shortest time between two reports.
const SHORTEST: Duration = Duration::from_millis(100);

/// Remembers when it was last told.
#[derive(Default)]
pub(super) struct Pace {
    latest: Option<Instant>,
}

impl Pace {
    /// Whether to tell now.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        let due = self.latest.is_none_or(|latest| now >= latest + SHORTEST);
        if due {
            self.latest = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u01_ten_reports_a_second_at_most() {
        let start = Instant::now();
        let mut pace = Pace::default();
        let told = (0..1_000).filter(|&ms| pace.allows(start + Duration::from_millis(ms)));
        assert_eq!(told.count(), 10);
    }
}
