//! Limits the number of open connections, and monitors each connection for clients that are idle or stalled. When the
//! limit is reached, the client that has kept the service waiting longest is evicted for the next client.

use std::{
    future::pending,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use axum::{
    BoxError, Extension,
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{Notify, watch},
    time::{Instant, sleep_until},
};

use super::{
    options::ServerLimits,
    request_observer::{RequestObservation, RequestObserver},
    timed_body::{StallBudget, TimedBody},
};
use tessera_store::lock;

pub(crate) struct ConnectionSlots {
    limits: Arc<ServerLimits>,
    open: Mutex<Vec<ConnectionMonitor>>,
    /// Notified when a connection was closed, or when one may be evicted.
    changed: Arc<Notify>,
}

/// The slot of one connection, which becomes free when it is dropped.
pub(crate) struct ConnectionSlot {
    pub monitor: ConnectionMonitor,
    slots: Arc<ConnectionSlots>,
}

impl ConnectionSlots {
    pub fn new(limits: Arc<ServerLimits>) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default(), changed: Arc::default() })
    }

    pub(crate) fn open_count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Waits for a free slot. If there is none, evicts a client that keeps the service waiting.
    pub async fn acquire(self: &Arc<Self>) -> ConnectionSlot {
        loop {
            let next_eviction = match self.try_acquire() {
                Ok(slot) => return slot,
                Err(next_eviction) => next_eviction,
            };
            let eviction_due = async {
                match next_eviction {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = eviction_due => {}
            }
        }
    }

    /// Takes a free slot. If there is none, starts the eviction of one client, or returns the time at which one can be
    /// evicted.
    fn try_acquire(self: &Arc<Self>) -> Result<ConnectionSlot, Option<Instant>> {
        let mut open = lock(&self.open);
        if open.len() >= self.limits.max_connections {
            return Err(evict_longest_waiting(&open));
        }
        let monitor = ConnectionMonitor::new(self.limits.clone(), self.changed.clone());
        open.push(monitor.clone());
        Ok(ConnectionSlot { monitor, slots: self.clone() })
    }
}

fn evict_longest_waiting(open: &[ConnectionMonitor]) -> Option<Instant> {
    if open.iter().any(ConnectionMonitor::is_evicted) {
        // The slot of the evicted client becomes free in a moment.
        return None;
    }
    let evictable = open.iter().filter_map(|monitor| Some((monitor.evictable_from()?, monitor)));
    let (from, longest) = evictable.min_by_key(|(from, _)| *from)?;
    if from > Instant::now() {
        return Some(from);
    }
    longest.evict();
    None
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        lock(&self.slots.open).retain(|monitor| !monitor.is_same(&self.monitor));
        self.slots.changed.notify_one();
    }
}

#[derive(Clone)]
pub(crate) struct ClientConnection {
    /// The address of this machine to which the client connected.
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub monitor: ConnectionMonitor,
}

/// The state of one connection. Clones share it.
#[derive(Clone)]
pub(crate) struct ConnectionMonitor {
    activity: Arc<watch::Sender<ConnectionActivity>>,
    limits: Arc<ServerLimits>,
    /// Notified when it may have changed whether the connection can be evicted.
    phase_changed: Arc<Notify>,
}

#[derive(Clone, Copy, Debug)]
struct ConnectionActivity {
    phase: ConnectionPhase,
    since: Instant,
    /// The time since which the client accepts no bytes, if it accepts none.
    blocked_since: Option<Instant>,
    write_budget: StallBudget,
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
    /// The connection is being closed to make room for another one.
    Evicted,
}

impl ConnectionActivity {
    fn deadline(&self, limits: &ServerLimits) -> Option<Instant> {
        let phase = match self.phase {
            ConnectionPhase::New | ConnectionPhase::Head => Some(self.since + limits.head_timeout),
            ConnectionPhase::Idle => Some(self.since + limits.idle_timeout),
            ConnectionPhase::Response => None,
            ConnectionPhase::Evicted => self.blocked_since.is_none().then_some(self.since),
        };
        let stuck = self.blocked_since.map(|since| since + self.write_budget.left());
        phase.into_iter().chain(stuck).min()
    }

    /// Returns the time after which the connection may be closed for another client, or `None` while a request is
    /// being handled or a response is in transit.
    fn evictable_from(&self, limits: &ServerLimits) -> Option<Instant> {
        match self.phase {
            _ if self.blocked_since.is_some() => None,
            ConnectionPhase::New | ConnectionPhase::Head => Some(self.since + limits.head_grace),
            ConnectionPhase::Idle => Some(self.since),
            ConnectionPhase::Response | ConnectionPhase::Evicted => None,
        }
    }
}

impl ConnectionMonitor {
    pub fn new(limits: Arc<ServerLimits>, phase_changed: Arc<Notify>) -> Self {
        let state = ConnectionActivity {
            phase: ConnectionPhase::New,
            since: Instant::now(),
            blocked_since: None,
            write_budget: StallBudget::new(limits.write_timeout),
        };
        Self { activity: Arc::new(watch::Sender::new(state)), limits, phase_changed }
    }

    pub(crate) fn evictable_from(&self) -> Option<Instant> {
        self.activity.borrow().evictable_from(&self.limits)
    }

    /// Evicts the connection, unless a request has arrived meanwhile.
    pub fn evict(&self) {
        self.activity.send_if_modified(|state| {
            let evictable = state.evictable_from(&self.limits).is_some();
            if evictable {
                state.phase = ConnectionPhase::Evicted;
            }
            evictable
        });
    }

    pub(crate) fn is_evicted(&self) -> bool {
        self.activity.borrow().phase == ConnectionPhase::Evicted
    }

    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.activity, &other.activity)
    }

    /// Completes when the client has been idle or stalled for too long.
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
        self.phase_changed.notify_one();
    }

    fn on_read(&self) {
        if matches!(self.activity.borrow().phase, ConnectionPhase::New | ConnectionPhase::Idle) {
            self.set_phase(ConnectionPhase::Head);
        }
    }

    /// Records how many bytes the client accepted, or that it currently accepts none (`None`).
    fn on_write(&self, accepted: Option<usize>) {
        self.activity.send_if_modified(|state| {
            let blocked_before = state.blocked_since;
            if let Some(bytes) = accepted {
                let waited = state.blocked_since.take().map(|since| since.elapsed());
                state.write_budget.record(waited.unwrap_or_default(), bytes);
            } else {
                state.blocked_since.get_or_insert_with(Instant::now);
            }
            state.blocked_since != blocked_before
        });
    }
}

/// Middleware that records when a request arrives and when its response is complete, and that limits how slowly its
/// body may arrive.
pub(crate) async fn monitor_response(
    State(observer): State<RequestObserver>,
    Extension(ClientConnection { monitor, remote, .. }): Extension<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    monitor.set_phase(ConnectionPhase::Response);
    let mut observation = observer.begin(&request, remote.ip());
    let limit = monitor.limits.body_timeout;
    let request = request.map(|body| TimedBody::wrap(body, limit));
    let mut response = next.run(request).await;
    observation.respond(&mut response);
    response.map(|body| Body::new(MonitoredBody { body, monitor, observation }))
}

/// A response body. When it is dropped, the response is complete.
struct MonitoredBody {
    body: Body,
    monitor: ConnectionMonitor,
    observation: RequestObservation,
}

impl Drop for MonitoredBody {
    fn drop(&mut self) {
        self.monitor.set_phase(ConnectionPhase::Idle);
    }
}

impl hyper::body::Body for MonitoredBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context).map_err(Into::into);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.observation.send(frame.data_ref().map_or(0, Bytes::len));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(crate) struct MonitoredStream<S> {
    pub stream: S,
    pub monitor: ConnectionMonitor,
}

impl<S> MonitoredStream<S> {
    fn record_write(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.monitor.on_write(match &written {
            Poll::Ready(accepted) => Some(*accepted.as_ref().unwrap_or(&0)),
            Poll::Pending => None,
        });
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MonitoredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.monitor.on_read();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        pieces: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.record_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
