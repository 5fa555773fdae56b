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

use super::{accept::Connection, limits::Limits};

/// The pulse of one connection; clones share it.
#[derive(Clone)]
pub struct Pulse {
    beat: Arc<watch::Sender<Beat>>,
    limits: Arc<Limits>,
}

/// How it is with a client.
#[derive(Clone, Copy, Debug)]
struct Beat {
    phase: Phase,
    since: Instant,
    /// Since when it takes nothing of what is ready for it.
    stuck: Option<Instant>,
}

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing has come yet.
    New,
    /// The head of a request has begun to come.
    Head,
    /// A request is being answered; what that waits for has limits of its own.
    Answer,
    /// The answer is made, and may still be on its way.
    Idle,
}

impl Beat {
    /// When it is too long.
    fn due(&self, limits: &Limits) -> Option<Instant> {
        let phase = match self.phase {
            Phase::New | Phase::Head => Some(self.since + limits.head),
            Phase::Idle => Some(self.since + limits.idle),
            Phase::Answer => None,
        };
        let stuck = self.stuck.map(|since| since + limits.taking);
        phase.into_iter().chain(stuck).min()
    }
}

impl Pulse {
    /// The pulse of a connection that was just opened.
    pub fn new(limits: Arc<Limits>) -> Self {
        let beat = Beat { phase: Phase::New, since: Instant::now(), stuck: None };
        Self { beat: Arc::new(watch::Sender::new(beat)), limits }
    }

    /// Completes when the client was idle for too long.
    pub async fn stopped(&self) {
        let mut beats = self.beat.subscribe();
        loop {
            let due = beats.borrow_and_update().due(&self.limits);
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

    fn enter(&self, phase: Phase) {
        self.beat.send_modify(|beat| {
            beat.phase = phase;
            beat.since = Instant::now();
        });
    }

    /// Bytes have come.
    fn read(&self) {
        if matches!(self.beat.borrow().phase, Phase::New | Phase::Idle) {
            self.enter(Phase::Head);
        }
    }

    /// Bytes were taken, or not.
    fn written(&self, taken: bool) {
        self.beat.send_if_modified(|beat| {
            let changed = beat.stuck.is_some() == taken;
            if changed {
                beat.stuck = (!taken).then(Instant::now);
            }
            changed
        });
    }
}

/// Notes when a request has come and when its answer is made.
pub async fn beat(
    Extension(Connection { pulse, .. }): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    pulse.enter(Phase::Answer);
    next.run(request).await.map(|body| Body::new(Answer { body, pulse }))
}

/// The body of an answer; the answer is made when nobody needs it any more.
struct Answer {
    body: Body,
    pulse: Pulse,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.pulse.enter(Phase::Idle);
    }
}

impl hyper::body::Body for Answer {
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
pub struct Felt<S> {
    stream: S,
    pulse: Pulse,
}

impl<S> Felt<S> {
    /// Feels a stream.
    pub fn new(stream: S, pulse: Pulse) -> Self {
        Self { stream, pulse }
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        self.pulse.written(written.is_ready());
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Felt<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.pulse.read();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Felt<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        pieces: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.note(written)
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
