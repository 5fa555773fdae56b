//! One abort handle per lane. Aborting only saves work; stale responses are also checked later.

use std::collections::HashMap;

use tokio::task::AbortHandle;

use crate::message::{Lane, Ticket};

#[derive(Default)]
pub(super) struct CancellableRequests {
    active: HashMap<Lane, (u64, AbortHandle)>,
}

impl CancellableRequests {
    /// Registers a request. Writes are not registered, because nothing may stop them.
    pub(super) fn insert(&mut self, ticket: Ticket, abort: AbortHandle) {
        if ticket.lane.is_cancellable() {
            self.active.insert(ticket.lane, (ticket.number, abort));
        }
    }

    pub(super) fn cancel(&mut self, lane: &Lane) {
        if let Some((_, abort)) = self.active.remove(lane) {
            abort.abort();
        }
    }

    /// Removes a finished request and returns whether its response is still wanted.
    pub(super) fn finish(&mut self, ticket: &Ticket) -> bool {
        if !ticket.lane.is_cancellable() {
            return true;
        }
        let current = self.active.get(&ticket.lane).map(|(number, _)| *number);
        current == Some(ticket.number) && self.active.remove(&ticket.lane).is_some()
    }
}
