//! How often progress is worth telling: the first time at once, then ten times a second at most.

use std::time::{Duration, Instant};

/// Shortest time between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Remembers when it was last told.
#[derive(Default)]
pub(super) struct ProgressThrottle {
    last_report: Option<Instant>,
}

impl ProgressThrottle {
    /// Whether to tell now.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last_report.is_none_or(|latest| now >= latest + MIN_INTERVAL);
        if due {
            self.last_report = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_reports_a_second_at_most() {
        let start = Instant::now();
        let mut pace = ProgressThrottle::default();
        let told = (0..1_000).filter(|&ms| pace.is_due(start + Duration::from_millis(ms)));
        assert_eq!(told.count(), 10);
    }
}
