//! What went between the program and the service, newest last. Bounded: a day of polling must not
//! grow.

use std::collections::VecDeque;

use crate::app::Moment;
use tessera_model::Exchange;

/// The last exchanges with the moments of their ends.
#[derive(Debug, Default)]
pub struct Log {
    exchanges: VecDeque<(Moment, Exchange)>,
}

impl Log {
    /// Exchanges that are kept.
    pub const MOST: usize = 500;

    /// Adds one that ended now; the oldest makes room.
    pub(in crate::app) fn add(&mut self, now: Moment, exchange: Exchange) {
        if self.exchanges.len() == Self::MOST {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((now, exchange));
    }

    /// All of them, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &(Moment, Exchange)> {
        self.exchanges.iter().rev()
    }

    /// What is being waited for: the newest exchange that is sent again by itself and whose time has
    /// not come, with that time.
    #[must_use]
    pub fn waiting(&self, now: Moment) -> Option<(&Exchange, Moment)> {
        let waits = |(ended, exchange): &(Moment, Exchange)| Some(*ended + exchange.again_in?);
        let (newest, exchange) = self.exchanges.back().map(|entry| (waits(entry), &entry.1))?;
        newest.filter(|until| *until > now).map(|until| (exchange, until))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use tessera_model::{Outcome, SafeText};

    #[test]
    fn p57_the_log_is_bounded_and_knows_what_is_waited_for() {
        let second = Duration::from_secs;
        let exchange = |number: u32, again_in| Exchange {
            method: "GET",
            target: SafeText::name("/x"),
            attempt: number,
            took: second(1),
            sent: 0,
            outcome: Outcome::Refused { status: 429, words: None },
            again_in,
        };
        let mut log = Log::default();
        for number in 0..600 {
            log.add(second(number.into()), exchange(number, None));
        }
        assert_eq!(log.newest_first().count(), Log::MOST);
        assert_eq!(log.newest_first().next().map(|(_, newest)| newest.attempt), Some(599));
        assert_eq!(log.waiting(second(600)), None);
        log.add(second(600), exchange(1, Some(second(12))));
        let until = log.waiting(second(605)).map(|(_, until)| until);
        assert_eq!(until, Some(second(612)));
        assert_eq!(log.waiting(second(612)), None);
    }
}
