//! The phases in which a server stops: a load balancer first learns that it is not ready, then further
//! requests are refused, and open responses are finished.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::sync::watch;

use super::{multipart_form::drain, problem::Problem};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerPhase {
    Serving,
    /// Everything is still served, but the service is not ready.
    Draining,
    /// Further requests are refused.
    Closing,
}

/// The phase of a server; clones share it.
#[derive(Clone)]
pub struct CurrentPhase(Arc<watch::Sender<ServerPhase>>);

impl Default for CurrentPhase {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(ServerPhase::Serving)))
    }
}

impl CurrentPhase {
    pub fn get(&self) -> ServerPhase {
        *self.0.borrow()
    }

    pub fn set(&self, phase: ServerPhase) {
        self.0.send_replace(phase);
    }
}

/// Middleware that refuses requests while the server is closing.
pub async fn refuse_while_closing(
    State(phase): State<CurrentPhase>,
    request: Request,
    next: Next,
) -> Response {
    if phase.get() != ServerPhase::Closing {
        return next.run(request).await;
    }
    drain(request).await;
    let mut response = Problem::shutting_down().into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
