//! Detects clients that are idle or stalled: the HTTP library itself has a timeout for heads only.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    BoxError, Extension,
    body::{Body, Bytes},
    extract::Request,
    middleware::Next,
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    time::{Instant, sleep_until},
};

use super::options::ServerLimits;

#[derive(Clone)]
pub struct ClientConnection {
    /// The address of this machine that the client connected to.
    pub local: SocketAddr,
    pub monitor: ConnectionMonitor,
}

/// The state of one connection; clones share it.
#[derive(Clone)]
pub struct ConnectionMonitor {
    activity: Arc<watch::Sender<ConnectionActivity>>,
    limits: Arc<ServerLimits>,
}

#[derive(Clone, Copy, Debug)]
struct ConnectionActivity {
    phase: ConnectionPhase,
    since: Instant,
    /// Since when the client accepts no bytes.
    blocked_since: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    /// No byte was received yet.
    New,
    /// A part of a request head was received.
    Head,
    /// A request is being handled, under limits of its own.
    Response,
    /// The response is complete, and may still be in transit.
    Idle,
}

impl ConnectionActivity {
    fn deadline(&self, limits: &ServerLimits) -> Option<Instant> {
        let phase = match self.phase {
            ConnectionPhase::New | ConnectionPhase::Head => Some(self.since + limits.head_timeout),
            ConnectionPhase::Idle => Some(self.since + limits.idle_timeout),
            ConnectionPhase::Response => None,
        };
        let stuck = self.blocked_since.map(|since| since + limits.write_timeout);
        phase.into_iter().chain(stuck).min()
    }
}

impl ConnectionMonitor {
    pub fn new(limits: Arc<ServerLimits>) -> Self {
        let (phase, since) = (ConnectionPhase::New, Instant::now());
        let state = ConnectionActivity { phase, since, blocked_since: None };
        Self { activity: Arc::new(watch::Sender::new(state)), limits }
    }

    /// Completes when the client was idle or stalled for too long.
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
                // `self` keeps the channel open.
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

    fn on_read(&self) {
        if matches!(self.activity.borrow().phase, ConnectionPhase::New | ConnectionPhase::Idle) {
            self.set_phase(ConnectionPhase::Head);
        }
    }

    fn on_write(&self, accepted: bool) {
        self.activity.send_if_modified(|state| {
            let changed = state.blocked_since.is_some() == accepted;
            if changed {
                state.blocked_since = (!accepted).then(Instant::now);
            }
            changed
        });
    }
}

/// Middleware that records when a request arrives and when its response is complete.
pub async fn monitor_response(
    Extension(ClientConnection { monitor, .. }): Extension<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    monitor.set_phase(ConnectionPhase::Response);
    next.run(request).await.map(|body| Body::new(MonitoredBody { body, monitor }))
}

/// A response body; dropping it means that the response is complete.
struct MonitoredBody {
    body: Body,
    monitor: ConnectionMonitor,
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
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub struct MonitoredStream<S> {
    pub stream: S,
    pub monitor: ConnectionMonitor,
}

impl<S> MonitoredStream<S> {
    fn record_write<T>(&self, written: Poll<T>) -> Poll<T> {
        self.monitor.on_write(written.is_ready());
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
