//! One abort handle per lane. Aborting is thrift; that a stale answer never leaves the worker
//! is checked here once more when it is ready.

use std::collections::HashMap;

use tokio::task::AbortHandle;

use crate::message::{Lane, Ticket};

/// The requests under way that may be given up.
#[derive(Default)]
pub(super) struct Lanes {
    open: HashMap<Lane, (u64, AbortHandle)>,
}

impl Lanes {
    /// A request has started. Writes are not kept: nothing may stop them.
    pub(super) fn open(&mut self, ticket: Ticket, abort: AbortHandle) {
        if ticket.lane.may_cancel() {
            self.open.insert(ticket.lane, (ticket.number, abort));
        }
    }

    /// Nobody waits for this lane any more.
    pub(super) fn cancel(&mut self, lane: &Lane) {
        if let Some((_, abort)) = self.open.remove(lane) {
            abort.abort();
        }
    }

    /// A request is done. Returns whether its answer is still wanted.
    pub(super) fn close(&mut self, ticket: &Ticket) -> bool {
        if !ticket.lane.may_cancel() {
            return true;
        }
        let current = self.open.get(&ticket.lane).map(|(number, _)| *number);
        current == Some(ticket.number) && self.open.remove(&ticket.lane).is_some()
    }
}
