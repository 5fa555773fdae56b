//! The stream of a connection, which reports to its monitor what the client sends and accepts. No further request is
//! read while the client accepts no bytes of a response. The monitor also follows each response to its end.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{
    connection_monitor::ConnectionMonitor,
    connections::{ClientConnection, GroupSlot},
    request_body::TimedBody,
    request_observer::{RequestObservation, RequestObserver},
};
use axum::{
    BoxError, Extension,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// The maximum time for which a client may continue to send a request body after the response to it, and the maximum
/// pause meanwhile.
const LINGER_LIMIT: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(2));

pub(crate) struct MonitoredStream<S> {
    stream: S,
    monitor: ConnectionMonitor,
    /// Whether a read was refused because the client accepts no bytes.
    is_read_paused: bool,
    linger: Option<Linger>,
}

/// The end of a connection whose client is still sending. A client that is cut off while it is sending never sees the
/// response, so what it sends is received and ignored for a while.
struct Linger {
    since: Instant,
    pause: Pin<Box<Sleep>>,
}

impl<S> MonitoredStream<S> {
    pub fn new(stream: S, monitor: ConnectionMonitor) -> Self {
        Self { stream, monitor, is_read_paused: false, linger: None }
    }

    fn record_write(
        &mut self,
        context: &Context,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(accepted) => {
                self.monitor.on_write(Some(*accepted.as_ref().unwrap_or(&0)));
                if std::mem::take(&mut self.is_read_paused) {
                    context.waker().wake_by_ref();
                }
            }
            Poll::Pending => self.monitor.on_write(None),
        }
        written
    }
}

impl<S: AsyncRead + Unpin> MonitoredStream<S> {
    /// Receives what the client still sends, until it ends the connection or a limit is reached.
    fn poll_linger(&mut self, context: &mut Context) -> Poll<()> {
        let (limit, pause) = LINGER_LIMIT;
        let new = || Linger { since: Instant::now(), pause: Box::pin(sleep(pause)) };
        let linger = self.linger.get_or_insert_with(new);
        let mut ignored = [0; 16 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut ignored);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    if linger.since.elapsed() > limit {
                        return Poll::Ready(());
                    }
                    linger.pause.as_mut().reset(Instant::now() + pause);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return linger.pause.as_mut().poll(context),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MonitoredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        if self.monitor.is_blocked() {
            // The write that ends the blockade wakes the task.
            self.is_read_paused = true;
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.monitor.on_read();
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        pieces: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.record_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.monitor.has_unread_body() {
            ready!(self.poll_linger(context));
        }
        Poll::Ready(Ok(()))
    }
}

/// Middleware that records when a request arrives and when its response is complete. Pipelined requests wait for their
/// turn.
pub(crate) async fn monitor_response(
    State(observer): State<RequestObserver>,
    Extension(ClientConnection { monitor, remote, slots, .. }): Extension<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    let is_pipelined = monitor.begin_response();
    let mut observation = observer.begin(&request, remote.ip());
    let _turn = if is_pipelined { Some(slots.pipelined_turn().await) } else { None };
    let request = request.map(|body| TimedBody::wrap(body, monitor.clone()));
    let mut response = next.run(request).await;
    observation.respond(&mut response);
    if monitor.has_unread_body() {
        // The connection is closed after the response. A client that does not know this sends its next request in vain.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let slot = response.extensions_mut().remove::<Arc<GroupSlot>>();
    response.map(|body| Body::new(MonitoredBody { body, monitor, observation, _slot: slot }))
}

/// A response body. When it is dropped, the response is complete.
struct MonitoredBody {
    body: Body,
    monitor: ConnectionMonitor,
    observation: RequestObservation,
    _slot: Option<Arc<GroupSlot>>,
}

impl Drop for MonitoredBody {
    fn drop(&mut self) {
        self.monitor.end_response();
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
