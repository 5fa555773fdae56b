//! Monitors each request from its arrival until its response was handed over, and limits how slowly its body may arrive.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
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

use super::{
    connection_monitor::ConnectionMonitor,
    connections::{ClientConnection, GroupSlot},
    request_observer::{RequestObservation, RequestObserver},
    timed_body::TimedBody,
};

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
