//! One abort handle per lane. Aborting is thrift; that a stale answer never leaves the worker
//! is checked here once more when it is ready.

use std::collections::HashMap;

use tokio::task::AbortHandle;

use crate::message::{Lane, Ticket};

/// The requests under way that may be given up.
#[derive(Default)]
pub(super) struct CancellableRequests {
    active: HashMap<Lane, (u64, AbortHandle)>,
}

impl CancellableRequests {
    /// A request has started. Writes are not kept: nothing may stop them.
    pub(super) fn insert(&mut self, ticket: Ticket, abort: AbortHandle) {
        if ticket.lane.is_cancellable() {
            self.active.insert(ticket.lane, (ticket.number, abort));
        }
    }

    /// Nobody waits for this lane any more.
    pub(super) fn cancel(&mut self, lane: &Lane) {
        if let Some((_, abort)) = self.active.remove(lane) {
            abort.abort();
        }
    }

    /// A request is done. Returns whether its answer is still wanted.
    pub(super) fn finish(&mut self, ticket: &Ticket) -> bool {
        if !ticket.lane.is_cancellable() {
            return true;
        }
        let current = self.active.get(&ticket.lane).map(|(number, _)| *number);
        current == Some(ticket.number) && self.active.remove(&ticket.lane).is_some()
    }
}
