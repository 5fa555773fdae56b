//! Tickets: the only place where stale responses are detected.
//!
//! A lane has at most one open ticket. Opening it again, or cancelling it, makes the response to
//! the older one stale: `close` returns `false` for it. The worker also aborts such requests, but
//! only to save work; this check is what makes it correct.

use std::collections::BTreeMap;

use crate::{
    app::Uptime,
    message::{Lane, Ticket},
};

#[derive(Debug, Default)]
pub struct Tickets {
    last_number: u64,
    open: BTreeMap<Lane, (u64, Uptime)>,
}

impl Tickets {
    /// Opens `lane`; an older ticket of it becomes stale.
    pub fn open(&mut self, lane: Lane, now: Uptime) -> Ticket {
        self.last_number += 1;
        self.open.insert(lane.clone(), (self.last_number, now));
        Ticket { lane, number: self.last_number }
    }

    /// Closes the ticket of a response. Returns `false` if it is stale.
    pub fn close(&mut self, ticket: &Ticket) -> bool {
        let current = self.is_current(ticket);
        if current {
            self.open.remove(&ticket.lane);
        }
        current
    }

    /// Forgets the open ticket of `lane`. Returns whether there was one.
    pub fn cancel(&mut self, lane: &Lane) -> bool {
        self.open.remove(lane).is_some()
    }

    pub fn is_current(&self, ticket: &Ticket) -> bool {
        self.open.get(&ticket.lane).is_some_and(|(number, _)| *number == ticket.number)
    }

    pub fn is_open(&self, lane: &Lane) -> bool {
        self.open.contains_key(lane)
    }

    pub fn opened_at(&self, lane: &Lane) -> Option<Uptime> {
        self.open.get(lane).map(|(_, since)| *since)
    }

    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.open.keys()
    }

    /// The number of open requests: shown on screen, and how tests know that nothing is pending.
    pub fn outstanding(&self) -> usize {
        self.open.len()
    }
}
