//! Feels whether the client of a connection is alive: what it is at, since when, and whether that is
//! too long. The library that speaks HTTP counts no time, except for heads.

use std::{
    io,
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

use super::{ServerLimits, server::ClientConnection};

/// The pulse of one connection; clones share it.
#[derive(Clone)]
pub struct ConnectionMonitor {
    activity: Arc<watch::Sender<ConnectionActivity>>,
    limits: Arc<ServerLimits>,
}

/// How it is with a client.
#[derive(Clone, Copy, Debug)]
struct ConnectionActivity {
    phase: ConnectionPhase,
    since: Instant,
    /// Since when it takes nothing of what is ready for it.
    blocked_since: Option<Instant>,
}

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionPhase {
    /// Nothing has come yet.
    New,
    /// The head of a request has begun to come.
    Head,
    /// A request is being answered; what that waits for has limits of its own.
    Response,
    /// The answer is made, and may still be on its way.
    Idle,
}

impl ConnectionActivity {
    /// When it is too long.
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
    /// The pulse of a connection that was just opened.
    pub fn new(limits: Arc<ServerLimits>) -> Self {
        let beat = ConnectionActivity {
            phase: ConnectionPhase::New,
            since: Instant::now(),
            blocked_since: None,
        };
        Self { activity: Arc::new(watch::Sender::new(beat)), limits }
    }

    /// Completes when the client was idle for too long.
    pub async fn timed_out(&self) {
        let mut beats = self.activity.subscribe();
        loop {
            let due = beats.borrow_and_update().deadline(&self.limits);
            let too_long = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // This pulse itself keeps the channel open.
                _ = beats.changed() => {}
                () = too_long => return,
            }
        }
    }

    fn set_phase(&self, phase: ConnectionPhase) {
        self.activity.send_modify(|beat| {
            beat.phase = phase;
            beat.since = Instant::now();
        });
    }

    /// Bytes have come.
    fn on_read(&self) {
        if matches!(self.activity.borrow().phase, ConnectionPhase::New | ConnectionPhase::Idle) {
            self.set_phase(ConnectionPhase::Head);
        }
    }

    /// Bytes were taken, or not.
    fn on_write(&self, taken: bool) {
        self.activity.send_if_modified(|beat| {
            let changed = beat.blocked_since.is_some() == taken;
            if changed {
                beat.blocked_since = (!taken).then(Instant::now);
            }
            changed
        });
    }
}

/// Notes when a request has come and when its answer is made.
pub async fn monitor_response(
    Extension(ClientConnection { monitor: pulse, .. }): Extension<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    pulse.set_phase(ConnectionPhase::Response);
    next.run(request).await.map(|body| Body::new(MonitoredBody { body, pulse }))
}

/// The body of an answer; the answer is made when nobody needs it any more.
struct MonitoredBody {
    body: Body,
    pulse: ConnectionMonitor,
}

impl Drop for MonitoredBody {
    fn drop(&mut self) {
        self.pulse.set_phase(ConnectionPhase::Idle);
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

/// A stream whose traffic is felt.
pub struct MonitoredStream<S> {
    stream: S,
    pulse: ConnectionMonitor,
}

impl<S> MonitoredStream<S> {
    /// Feels a stream.
    pub fn new(stream: S, pulse: ConnectionMonitor) -> Self {
        Self { stream, pulse }
    }

    fn record_write<T>(&self, written: Poll<T>) -> Poll<T> {
        self.pulse.on_write(written.is_ready());
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
            self.pulse.on_read();
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
