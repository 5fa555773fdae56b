//! How long a client may keep us waiting for its bytes, or for room to send it ours.

use std::time::Duration;

/// Bytes per second that a client must send or accept on average.
const MIN_RATE: u64 = 1 << 10;

/// A token bucket of time: waiting spends it, and each byte earns its share back. A client that
/// pauses longer than the limit, or stays below the minimum rate, exhausts it.
#[derive(Clone, Copy, Debug)]
pub struct StallBudget {
    limit: Duration,
    left: Duration,
}

impl StallBudget {
    pub fn new(limit: Duration) -> Self {
        Self { limit, left: limit }
    }

    /// How long the client may still keep us waiting.
    pub fn left(self) -> Duration {
        self.left
    }

    /// Records that this many bytes passed after a wait.
    pub fn record(&mut self, waited: Duration, bytes: usize) {
        let earned = Duration::from_micros((bytes as u64).saturating_mul(1_000_000) / MIN_RATE);
        self.left = self.left.saturating_sub(waited).saturating_add(earned).min(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_byte_now_and_then_exhausts_the_budget() {
        let mut budget = StallBudget::new(SECOND * 30);
        let mut bytes = 0;
        while budget.left() > SECOND * 5 {
            budget.record(SECOND * 5, 1);
            bytes += 1;
        }
        assert_eq!(bytes, 6, "{budget:?}");
    }

    #[test]
    fn a_client_at_the_minimum_rate_is_never_cut_off() {
        let mut budget = StallBudget::new(SECOND * 30);
        for _ in 0..1_000 {
            budget.record(SECOND * 20, 20 << 10);
        }
        assert!(budget.left() >= SECOND * 10, "{budget:?}");
    }

    #[test]
    fn a_fast_client_saves_no_more_than_the_limit() {
        let mut budget = StallBudget::new(SECOND);
        budget.record(Duration::ZERO, usize::MAX);
        assert_eq!(budget.left(), SECOND);
    }
}
