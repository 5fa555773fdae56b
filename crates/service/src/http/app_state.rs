//! The state that all handlers share: the deployment and its limits, the latest check of readiness, and the phase of
//! the server. Blocking work of handlers runs here, too.
//!
//! When a server stops, a load balancer first sees that the server is not ready. Then further requests are refused, and
//! open responses are finished.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::{
    sync::{Mutex, Semaphore, watch},
    time::{Instant, timeout},
};

use super::{
    auth::Authenticator,
    connections::ConnectionSlots,
    options::{AllowedHost, ServerLimits},
    problem::Problem,
    refreshed::Refreshed,
    request_observer::RequestObserver,
};
use crate::{Deployment, usecase::ServiceError};

#[derive(Clone)]
pub(crate) struct AppState {
    pub deployment: Deployment,
    pub authenticator: Arc<Authenticator>,
    /// The key that signs links, which a command may revoke while the service runs.
    pub link_key: Arc<Refreshed<[u8; 32]>>,
    /// Whether to accept what public clients send beyond the API document.
    pub compat: bool,
    pub allowed_hosts: Arc<[AllowedHost]>,
    pub limits: Arc<ServerLimits>,
    pub expensive_slots: Arc<Semaphore>,
    pub connections: Arc<ConnectionSlots>,
    pub phase: CurrentPhase,
    pub readiness: ReadinessCheck,
    pub observer: RequestObserver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestCost {
    /// The request needs only a few indexed reads.
    Cheap,
    /// The request ranks or decodes. Only a few such requests run at a time.
    Expensive,
}

impl AppState {
    pub async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, Problem> {
        let deployment = self.deployment.clone();
        let result = tokio::task::spawn_blocking(move || work(&deployment)).await;
        Ok(result.unwrap_or_else(|_| Err(ServiceError::internal()))?)
    }

    /// Runs blocking work. Expensive work waits for a free slot, and is dropped if the client disconnects meanwhile.
    pub async fn run_blocking<T: Send + 'static>(
        &self,
        cost: RequestCost,
        work: impl FnOnce(&Deployment) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, Problem> {
        let slot = match cost {
            RequestCost::Cheap => None,
            RequestCost::Expensive => {
                let free = self.expensive_slots.clone().acquire_owned();
                let slot = timeout(self.limits.queue_timeout, free).await;
                Some(slot.map_err(|_| Problem::busy_with_searches())?)
            }
        };
        self.spawn_blocking(move |deployment| {
            // Work that has started cannot be canceled, so it keeps its slot until it ends.
            let _slot = slot;
            work(deployment)
        })
        .await
    }
}

/// The time for which the result of a check is reused, so that many probes need only one check.
const CHECK_LIFETIME: Duration = Duration::from_secs(1);
/// The time limit of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason given if a check failed or took too long.
pub(crate) const NOT_READY: &str = "The service is not ready";

/// Whether requests can be served, and if not, why.
type Readiness = Result<(), &'static str>;

/// The latest check of the store. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct ReadinessCheck(Arc<Mutex<Option<LastCheck>>>);

#[derive(Clone, Copy)]
struct LastCheck {
    at: Instant,
    result: Readiness,
}

impl ReadinessCheck {
    /// Returns the latest result if it is recent, and otherwise the result of `check`. Only one check runs at a time. A
    /// check that takes too long means not ready.
    pub async fn result(&self, check: impl Future<Output = Readiness>) -> Readiness {
        let latest = async {
            let mut last = self.0.lock().await;
            let recent = last.filter(|last| last.at.elapsed() < CHECK_LIFETIME);
            let now = match recent {
                Some(recent) => recent,
                None => LastCheck { result: check.await, at: Instant::now() },
            };
            *last = Some(now);
            now.result
        };
        timeout(CHECK_TIMEOUT, latest).await.unwrap_or(Err(NOT_READY))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerPhase {
    Serving,
    /// The service is not ready, but still serves everything.
    Draining,
    /// Further requests are refused.
    Closing,
}

/// The phase of a server. Clones share it.
#[derive(Clone)]
pub(crate) struct CurrentPhase(Arc<watch::Sender<ServerPhase>>);

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
pub(crate) async fn refuse_while_closing(
    State(phase): State<CurrentPhase>,
    request: Request,
    next: Next,
) -> Response {
    if phase.get() != ServerPhase::Closing {
        return next.run(request).await;
    }
    let mut response = Problem::shutting_down().into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
