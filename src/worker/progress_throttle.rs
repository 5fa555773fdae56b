//! Limits progress reports: the first one immediately, then at most ten per second.

use std::time::{Duration, Instant};

const MIN_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct ProgressThrottle {
    last_report: Option<Instant>,
}

impl ProgressThrottle {
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
    fn at_most_ten_reports_per_second() {
        let start = Instant::now();
        let mut throttle = ProgressThrottle::default();
        let reports = (0..1_000).filter(|&ms| throttle.is_due(start + Duration::from_millis(ms)));
        assert_eq!(reports.count(), 10);
    }
}
