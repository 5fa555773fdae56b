//! The requests to the service, newest last. Bounded, so that a day of polling does not grow it.

use std::collections::VecDeque;

use crate::app::Uptime;
use tessera_model::RequestRecord;

/// The last requests with the times of their ends.
#[derive(Debug, Default)]
pub struct RequestLog {
    exchanges: VecDeque<(Uptime, RequestRecord)>,
}

impl RequestLog {
    pub const CAPACITY: usize = 500;

    pub(super) fn add(&mut self, now: Uptime, exchange: RequestRecord) {
        if self.exchanges.len() == Self::CAPACITY {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((now, exchange));
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &(Uptime, RequestRecord)> {
        self.exchanges.iter().rev()
    }

    /// The newest request if it is waiting to be retried, with the time of the retry.
    pub fn pending_retry(&self, now: Uptime) -> Option<(&RequestRecord, Uptime)> {
        let waits = |(ended, exchange): &(Uptime, RequestRecord)| Some(*ended + exchange.retry_in?);
        let (newest, exchange) = self.exchanges.back().map(|entry| (waits(entry), &entry.1))?;
        newest.filter(|until| *until > now).map(|until| (exchange, until))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use tessera_model::{RequestOutcome, SafeText};

    #[test]
    fn the_log_is_bounded_and_knows_what_is_waited_for() {
        let second = Duration::from_secs;
        let exchange = |number: u32, again_in| RequestRecord {
            method: "GET",
            target: SafeText::name("/x"),
            attempt: number,
            duration: second(1),
            bytes_sent: 0,
            outcome: RequestOutcome::Rejected { status: 429, message: None },
            retry_in: again_in,
        };
        let mut log = RequestLog::default();
        for number in 0..600 {
            log.add(second(number.into()), exchange(number, None));
        }
        assert_eq!(log.newest_first().count(), RequestLog::CAPACITY);
        assert_eq!(log.newest_first().next().map(|(_, newest)| newest.attempt), Some(599));
        assert_eq!(log.pending_retry(second(600)), None);
        log.add(second(600), exchange(1, Some(second(12))));
        let until = log.pending_retry(second(605)).map(|(_, until)| until);
        assert_eq!(until, Some(second(612)));
        assert_eq!(log.pending_retry(second(612)), None);
    }
}
