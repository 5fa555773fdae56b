//! Keeps the state of one connection: what the service waits for its client to do, and since when. This state decides
//! when the connection is closed, and when it may be closed to make room for another client.

use std::{net::IpAddr, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    options::ServerLimits,
    request_body::{MIN_RATE, StallBudget},
};

/// The number of bytes per second that a client must send or accept on average while connections are short. A slower
/// client may be evicted.
const MIN_RATE_IN_SHORTAGE: u64 = 16 << 10;

/// The state of one connection. Clones share it.
#[derive(Clone)]
pub(crate) struct ConnectionMonitor {
    activity: Arc<watch::Sender<ConnectionActivity>>,
    limits: Arc<ServerLimits>,
    address: IpAddr,
}

/// A group of connections of limited size. One member is evicted when the group is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionGroup {
    All,
    /// The request is being served.
    Serving,
    /// The request uploads media.
    Uploading,
    /// The body of the request is in memory, and has at most [`ConnectionGroup::MEDIUM_BODY`] bytes so far.
    MediumBody,
    /// The body of the request is in memory, and is larger than that.
    LargeBody,
}

impl ConnectionGroup {
    pub const COUNT: usize = 5;
    /// The number of bytes of a body that needs no slot of its own.
    pub const SMALL_BODY: u64 = 64 << 10;
    pub const MEDIUM_BODY: u64 = 1 << 20;
}

#[derive(Clone, Copy, Debug)]
struct ConnectionActivity {
    phase: ConnectionPhase,
    since: Instant,
    is_evicted: bool,
    /// The groups of which the connection is a member.
    groups: [bool; ConnectionGroup::COUNT],
    /// Whether the client sent a request before it received the response to the previous one.
    is_pipelining: bool,
    /// Whether a part of a request body was not read, because the response did not depend on it.
    has_unread_body: bool,
    /// How the client accepts responses.
    accepting: ClientPace,
    /// How the client sends the body of its request.
    sending: ClientPace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    /// No byte has been received yet.
    New,
    /// A part of a request head has been received.
    Head,
    /// A request is being handled, with separate limits.
    Response,
    /// The response is complete, but may still be in transit.
    Idle,
}

/// How quickly a client sends or accepts bytes.
#[derive(Clone, Copy, Debug)]
struct ClientPace {
    /// The time since which the service waits for the client, if it does.
    waiting_since: Option<Instant>,
    budget: StallBudget,
    budget_in_shortage: StallBudget,
}

impl ClientPace {
    fn new(limit: Duration, limit_in_shortage: Duration) -> Self {
        Self {
            waiting_since: None,
            budget: StallBudget::new(limit, MIN_RATE),
            budget_in_shortage: StallBudget::new(limit_in_shortage, MIN_RATE_IN_SHORTAGE),
        }
    }

    /// Records how many bytes passed, or that the service waits for the client (`None`). Returns whether it changed
    /// that the service waits.
    fn record(&mut self, passed: Option<usize>) -> bool {
        let before = self.waiting_since;
        if let Some(bytes) = passed {
            let waited = self.waiting_since.take().map(|since| since.elapsed()).unwrap_or_default();
            self.budget.record(waited, bytes);
            self.budget_in_shortage.record(waited, bytes);
        } else {
            self.waiting_since.get_or_insert_with(Instant::now);
        }
        self.waiting_since != before
    }

    fn deadline(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + self.budget.left())
    }

    fn deadline_in_shortage(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + self.budget_in_shortage.left())
    }
}

impl ConnectionActivity {
    /// Returns when the connection is closed if nothing happens until then.
    fn deadline(&self, limits: &ServerLimits) -> Option<Instant> {
        if self.is_evicted {
            return Some(self.since);
        }
        let phase = match self.phase {
            ConnectionPhase::New | ConnectionPhase::Head => Some(self.since + limits.head_timeout),
            ConnectionPhase::Idle => Some(self.since + limits.idle_timeout),
            ConnectionPhase::Response => None,
        };
        phase.into_iter().chain(self.accepting.deadline()).min()
    }

    /// Returns since when the client has kept the service waiting for too long, which may be in the future.
    fn overdue_since(&self, limits: &ServerLimits) -> Option<Instant> {
        if self.is_pipelining && self.accepting.waiting_since.is_some() {
            return self.accepting.waiting_since;
        }
        let stalled = self.accepting.deadline_in_shortage().or(self.sending.deadline_in_shortage());
        let no_request =
            (!self.is_in(ConnectionGroup::Serving)).then_some(self.since + limits.stall_grace);
        stalled.or(no_request)
    }

    fn is_in(&self, group: ConnectionGroup) -> bool {
        group == ConnectionGroup::All || self.groups.get(group as usize) == Some(&true)
    }
}

impl ConnectionMonitor {
    pub fn new(limits: Arc<ServerLimits>, address: IpAddr) -> Self {
        let state = ConnectionActivity {
            phase: ConnectionPhase::New,
            since: Instant::now(),
            is_evicted: false,
            groups: [false; ConnectionGroup::COUNT],
            is_pipelining: false,
            has_unread_body: false,
            accepting: ClientPace::new(limits.write_timeout, limits.stall_grace),
            sending: ClientPace::new(limits.body_timeout, limits.stall_grace),
        };
        Self { activity: Arc::new(watch::Sender::new(state)), limits, address }
    }

    pub fn address(&self) -> IpAddr {
        self.address
    }

    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.activity, &other.activity)
    }

    /// Returns since when the connection is overdue, if it may be evicted now. A connection without a request that is
    /// being served may always be evicted, even before it is overdue, so that a place can always become free.
    pub fn evictable_since(&self, group: ConnectionGroup, now: Instant) -> Option<Instant> {
        let state = self.activity.borrow();
        let overdue = state.overdue_since(&self.limits).filter(|_| state.is_in(group));
        overdue.filter(|since| !state.is_in(ConnectionGroup::Serving) || *since <= now)
    }

    pub fn is_evicted_from(&self, group: ConnectionGroup) -> bool {
        let state = self.activity.borrow();
        state.is_evicted && state.is_in(group)
    }

    /// Closes the connection to make room for another one.
    pub fn evict(&self) {
        self.activity.send_modify(|state| state.is_evicted = true);
    }

    /// Completes when the client has been idle or stalled for too long, or is evicted.
    pub async fn timed_out(&self) {
        let mut changes = self.activity.subscribe();
        loop {
            let due = changes.borrow_and_update().deadline(&self.limits);
            let too_long = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // `self` keeps the channel open, so this cannot fail.
                _ = changes.changed() => {}
                () = too_long => return,
            }
        }
    }

    fn set_phase(&self, phase: ConnectionPhase) {
        self.activity.send_modify(|state| {
            state.phase = phase;
            state.since = Instant::now();
        });
    }

    /// Records that a request is being handled. Returns whether the request was received together with an earlier one.
    pub fn begin_response(&self) -> bool {
        let is_pipelined = self.activity.borrow().phase == ConnectionPhase::Idle;
        self.set_phase(ConnectionPhase::Response);
        self.activity.send_if_modified(|state| {
            state.is_pipelining |= is_pipelined;
            false
        });
        is_pipelined
    }

    pub fn end_response(&self) {
        self.set_phase(ConnectionPhase::Idle);
    }

    pub fn set_member(&self, group: ConnectionGroup, is_member: bool) {
        self.activity.send_modify(|state| {
            if let Some(member) = state.groups.get_mut(group as usize) {
                *member = is_member;
            }
        });
    }

    pub fn leave_body_unread(&self) {
        self.activity.send_modify(|state| state.has_unread_body = true);
    }

    pub fn has_unread_body(&self) -> bool {
        self.activity.borrow().has_unread_body
    }

    /// Whether the client accepts no bytes of a response at the moment.
    pub fn is_blocked(&self) -> bool {
        self.activity.borrow().accepting.waiting_since.is_some()
    }

    pub fn on_read(&self) {
        let phase = self.activity.borrow().phase;
        if matches!(phase, ConnectionPhase::New | ConnectionPhase::Idle) {
            self.set_phase(ConnectionPhase::Head);
        }
    }

    /// Records how many bytes of a response the client accepted, or that it currently accepts none (`None`).
    pub fn on_write(&self, accepted: Option<usize>) {
        self.activity.send_if_modified(|state| state.accepting.record(accepted));
    }

    /// Records how many bytes of a request body the client sent, or that the service waits for them (`None`).
    pub fn on_body(&self, sent: Option<usize>) {
        self.activity.send_if_modified(|state| state.sending.record(sent));
    }

    /// Returns the time for which the client may still keep the service waiting for a request body.
    pub fn body_time_left(&self) -> Duration {
        self.activity.borrow().sending.budget.left()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(10);

    fn monitor() -> ConnectionMonitor {
        let limits = ServerLimits { stall_grace: GRACE, ..ServerLimits::default() };
        ConnectionMonitor::new(Arc::new(limits), [127, 0, 0, 1].into())
    }

    fn is_evictable(monitor: &ConnectionMonitor, after: Duration) -> bool {
        monitor.evictable_since(ConnectionGroup::All, Instant::now() + after).is_some()
    }

    #[test]
    fn a_connection_without_a_request_is_always_evictable() {
        let monitor = monitor();
        assert!(is_evictable(&monitor, Duration::ZERO));
        monitor.on_read();
        assert!(is_evictable(&monitor, Duration::ZERO));
    }

    #[test]
    fn a_served_client_is_evictable_only_after_it_has_stalled_for_the_grace() {
        let monitor = monitor();
        monitor.begin_response();
        monitor.set_member(ConnectionGroup::Serving, true);
        assert!(!is_evictable(&monitor, GRACE * 1_000));
        for record in [ConnectionMonitor::on_write, ConnectionMonitor::on_body] {
            record(&monitor, None);
            assert!(!is_evictable(&monitor, Duration::ZERO));
            assert!(is_evictable(&monitor, GRACE * 2));
            record(&monitor, Some(1 << 20));
            assert!(!is_evictable(&monitor, GRACE * 2));
        }
    }

    #[test]
    fn a_pipelining_client_that_accepts_nothing_is_evictable_at_once() {
        let monitor = monitor();
        monitor.on_read();
        assert!(!monitor.begin_response());
        monitor.end_response();
        assert!(monitor.begin_response(), "nothing was read since the first response");
        monitor.set_member(ConnectionGroup::Serving, true);
        assert!(!is_evictable(&monitor, GRACE));
        monitor.on_write(None);
        assert!(is_evictable(&monitor, Duration::ZERO));
    }

    #[test]
    fn only_members_of_a_group_are_evicted_from_it() {
        let monitor = monitor();
        let later = Instant::now() + GRACE * 2;
        assert!(monitor.evictable_since(ConnectionGroup::Serving, later).is_none());
        monitor.set_member(ConnectionGroup::Serving, true);
        monitor.on_body(None);
        assert!(monitor.evictable_since(ConnectionGroup::Serving, later).is_some());
        assert!(monitor.evictable_since(ConnectionGroup::Uploading, later).is_none());
    }
}
