//! The requests to the service, newest last. Bounded, so that a day of polling does not grow it.

use std::collections::VecDeque;

use crate::app::Uptime;
use tessera_model::RequestRecord;

#[derive(Debug, Default)]
pub struct RequestLog {
    exchanges: VecDeque<(Uptime, RequestRecord)>,
}

impl RequestLog {
    const CAPACITY: usize = 500;

    pub(super) fn add(&mut self, now: Uptime, exchange: RequestRecord) {
        if self.exchanges.len() == Self::CAPACITY {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back((now, exchange));
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &(Uptime, RequestRecord)> {
        self.exchanges.iter().rev()
    }
}
