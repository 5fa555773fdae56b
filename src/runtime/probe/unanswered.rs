//! Counts the queries that the terminal has not answered yet, and discards their replies before another program uses
//! the terminal. The shell would take them for typed text.

use std::{
    io,
    os::fd::AsFd as _,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
};
use tessera_config::input::{SequenceSplitter, TerminalInput, decode};

use crate::runtime::probe::replies::is_attributes;

/// Queries the primary attributes.
pub(super) const ATTRIBUTES_QUERY: &str = "\x1b[c";
/// How long a reply may take. Slow lines need half a second.
pub(in crate::runtime) const REPLY_LIMIT: Duration = Duration::from_secs(2);
/// How often the wait checks whether another thread has read the last reply.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

struct Unanswered {
    /// The number of queries for attributes without a reply. Terminals reply in order, so their replies are the last.
    queries: usize,
    last_sent: Option<Instant>,
    /// Whether the terminal has replied to the last such query within [`REPLY_LIMIT`].
    responds: bool,
}

impl Unanswered {
    const NOTHING_SENT: Self = Self { queries: 0, last_sent: None, responds: false };

    fn note_queries(&mut self, count: usize, now: Instant) {
        self.queries += count;
        self.last_sent = Some(now);
    }

    fn note_reply(&mut self, now: Instant) {
        self.queries = self.queries.saturating_sub(1);
        self.responds = self.last_sent.is_some_and(|sent| now - sent < REPLY_LIMIT);
    }

    fn last_query(&mut self, now: Instant) -> &'static str {
        if !self.responds {
            return "";
        }
        self.note_queries(1, now);
        ATTRIBUTES_QUERY
    }
}

static UNANSWERED: Mutex<Unanswered> = Mutex::new(Unanswered::NOTHING_SENT);

/// Notes that queries were sent. `count` of them ask for the attributes.
pub(super) fn note_queries(count: usize) {
    UNANSWERED.lock().note_queries(count, Instant::now());
}

/// Notes a reply with the attributes.
pub(super) fn note_reply() {
    UNANSWERED.lock().note_reply(Instant::now());
}

/// Returns the query to send last, whose reply comes after everything else that the terminal has sent, such as reports
/// of the mouse. A terminal that has not replied in time is not asked, because the next program would read the reply.
pub(in crate::runtime) fn last_query() -> &'static str {
    UNANSWERED.lock().last_query(Instant::now())
}

/// Reads and discards input until all queries are answered, or until the last one has waited for [`REPLY_LIMIT`]. The
/// terminal must be in raw mode, with reads that do not block.
pub(in crate::runtime) fn discard_replies() {
    let input = io::stdin();
    let mut splitter = SequenceSplitter::default();
    let mut bytes = [0; 1024];
    loop {
        let deadline = match &*UNANSWERED.lock() {
            Unanswered { queries: 1.., last_sent: Some(sent), .. } => *sent + REPLY_LIMIT,
            _ => return,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left.min(CHECK_INTERVAL)) else { return };
        let mut polled = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        let polled =
            retry_on_intr(|| poll(&mut polled, Some(&timeout))).map(|_| polled[0].revents());
        let is_open = polled.is_ok_and(|found| !found.intersects(PollFlags::HUP | PollFlags::ERR));
        if left.is_zero() || !is_open {
            *UNANSWERED.lock() = Unanswered::NOTHING_SENT;
            return;
        }
        let count = rustix::io::read(input.as_fd(), &mut bytes).unwrap_or(0);
        for input in splitter.feed(&bytes[..count]).into_iter().flat_map(decode) {
            if matches!(input, TerminalInput::Reply(reply) if is_attributes(&reply)) {
                note_reply();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_replies_late_is_not_asked_again() {
        for (seconds, query) in [(0, ATTRIBUTES_QUERY), (1, ATTRIBUTES_QUERY), (2, ""), (60, "")] {
            let mut unanswered = Unanswered::NOTHING_SENT;
            let sent = Instant::now();
            assert_eq!(unanswered.last_query(sent), "", "nothing is known about the terminal");
            unanswered.note_queries(1, sent);
            let replied = sent + Duration::from_secs(seconds);
            unanswered.note_reply(replied);
            assert_eq!(unanswered.queries, 0);
            assert_eq!(unanswered.last_query(replied), query, "after {seconds} seconds");
        }
    }
}
