//! Request bodies. A body fails if its client stalls or sends too slowly, and reports to the monitor of its connection
//! how quickly it arrives. The budget of time that a client may keep the service waiting is also used for responses.
//!
//! A body that is read as a whole before its request is processed takes a slot as it grows, so a client occupies only
//! the memory for what it has sent, whatever length it declares. Few bodies can be large at a time, so the memory for
//! bodies is bounded, whatever the number of connections is.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{
    connection_monitor::{ConnectionGroup, ConnectionMonitor},
    connections::{ClientConnection, ConnectionSlots, GroupSlot},
    multipart_form::SizeLimit,
    options::ServerLimits,
    problem::Problem,
};
use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody as _},
};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

pub(crate) struct TimedBody {
    body: Body,
    monitor: ConnectionMonitor,
    /// The end of the time for which we wait for the client, while we do.
    timer: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
pub(crate) struct BodyTimeout;

impl TimedBody {
    /// Wraps a body. The limits of the connection decide how long the client may pause, and how far it may be behind
    /// the minimum rate.
    pub fn wrap(body: Body, monitor: ConnectionMonitor) -> Body {
        Body::new(Self { body, monitor, timer: None })
    }
}

impl Drop for TimedBody {
    fn drop(&mut self) {
        if self.timer.take().is_some() {
            self.monitor.on_body(Some(0));
        }
        if !self.body.is_end_stream() {
            self.monitor.leave_body_unread();
        }
    }
}

impl hyper::body::Body for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.timer = None;
            let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
            this.monitor.on_body(Some(bytes.map_or(0, Bytes::len)));
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let timer = this.timer.get_or_insert_with(|| {
            this.monitor.on_body(None);
            Box::pin(sleep(this.monitor.body_time_left()))
        });
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client sent too slowly")
    }
}

impl Error for BodyTimeout {}

/// Returns the response to a body that could not be read: 408, or 400 if the body broke off.
pub(crate) fn body_problem(cause: &axum::Error) -> Problem {
    if is_body_timeout(cause) {
        Problem::body_timeout()
    } else {
        Problem::bad_request("The body broke off")
    }
}

pub(crate) fn is_body_timeout(cause: &(dyn Error + 'static)) -> bool {
    cause.is::<BodyTimeout>() || cause.source().is_some_and(is_body_timeout)
}

/// The number of bytes per second that a client must send or accept on average.
pub(crate) const MIN_RATE: u64 = 1 << 10;

/// A token bucket of time. Waiting spends time, and each byte earns its share back. A client that pauses longer than
/// the limit, or stays below the minimum rate, exhausts the bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StallBudget {
    limit: Duration,
    left: Duration,
    /// The number of bytes per second.
    min_rate: u64,
}

impl StallBudget {
    pub fn new(limit: Duration, min_rate: u64) -> Self {
        Self { limit, left: limit, min_rate }
    }

    /// Returns the time for which the client may still keep us waiting.
    pub fn left(self) -> Duration {
        self.left
    }

    /// Records that this many bytes passed after a wait.
    pub fn record(&mut self, waited: Duration, bytes: usize) {
        let earned =
            Duration::from_micros((bytes as u64).saturating_mul(1_000_000) / self.min_rate);
        self.left = self.left.saturating_sub(waited).saturating_add(earned).min(self.limit);
    }
}

/// The maximum number of bytes of a body of any size.
pub(crate) const MAX_BODY: u64 = 32 << 20;

/// Returns the number of bytes that the bodies with slots can have.
pub(crate) fn reserved_bytes(slots: &ConnectionSlots) -> u64 {
    bytes_of(
        [ConnectionGroup::MediumBody, ConnectionGroup::LargeBody].map(|it| slots.member_count(it)),
    )
}

/// Returns the maximum of [`reserved_bytes`].
pub(crate) fn max_reserved_bytes(limits: &ServerLimits) -> u64 {
    bytes_of([limits.max_medium_bodies, limits.max_large_bodies])
}

fn bytes_of([medium, large]: [usize; 2]) -> u64 {
    medium as u64 * ConnectionGroup::MEDIUM_BODY + large as u64 * MAX_BODY
}

/// A body of which a part has arrived.
pub(crate) struct BodyBuffer {
    connection: ClientConnection,
    limit: SizeLimit,
    /// The declared length, which must be acceptable.
    declared: Option<u64>,
    bytes: Vec<u8>,
    /// The slots are taken in the order of their sizes, so that bodies never wait for each other.
    slots: Vec<GroupSlot>,
}

impl BodyBuffer {
    pub fn new(connection: ClientConnection, limit: SizeLimit, declared: Option<u64>) -> Self {
        Self { connection, limit, declared, bytes: Vec::new(), slots: Vec::new() }
    }

    /// Adds bytes. Fails with 413 if the body is too large, and with 503 if the memory does not become free in time.
    pub async fn push(&mut self, chunk: &[u8]) -> Result<(), Problem> {
        let bytes = (self.bytes.len() + chunk.len()) as u64;
        self.limit.check(bytes)?;
        if bytes > ConnectionGroup::SMALL_BODY {
            self.take_slot(0, ConnectionGroup::MediumBody).await?;
        }
        if bytes > ConnectionGroup::MEDIUM_BODY {
            self.take_slot(1, ConnectionGroup::LargeBody).await?;
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    async fn take_slot(&mut self, number: usize, group: ConnectionGroup) -> Result<(), Problem> {
        if self.slots.len() > number {
            return Ok(());
        }
        self.slots.push(self.connection.join(group).await?);
        if group == ConnectionGroup::LargeBody {
            // The full length is allocated at once, because a list that grows leaves its previous copies to the
            // allocator.
            let missing = self.declared.unwrap_or_default().saturating_sub(self.bytes.len() as u64);
            self.bytes.reserve_exact(usize::try_from(missing).unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the body. Its slots stay occupied until the last copy of the body is dropped.
    pub fn finish(self) -> Bytes {
        Bytes::from_owner(CompleteBody { bytes: self.bytes, _slots: self.slots })
    }
}

struct CompleteBody {
    bytes: Vec<u8>,
    _slots: Vec<GroupSlot>,
}

impl AsRef<[u8]> for CompleteBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_byte_now_and_then_exhausts_the_budget() {
        let mut budget = StallBudget::new(SECOND * 30, MIN_RATE);
        let mut bytes = 0;
        while budget.left() > SECOND * 5 {
            budget.record(SECOND * 5, 1);
            bytes += 1;
        }
        assert_eq!(bytes, 6, "{budget:?}");
    }

    #[test]
    fn a_client_at_the_minimum_rate_is_never_cut_off() {
        let mut budget = StallBudget::new(SECOND * 30, MIN_RATE);
        for _ in 0..1_000 {
            budget.record(SECOND * 20, 20 << 10);
        }
        assert!(budget.left() >= SECOND * 10, "{budget:?}");
    }

    #[test]
    fn a_fast_client_saves_no_more_than_the_limit() {
        let mut budget = StallBudget::new(SECOND, MIN_RATE);
        budget.record(Duration::ZERO, usize::MAX);
        assert_eq!(budget.left(), SECOND);
    }
}
