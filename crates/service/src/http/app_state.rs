//! The state that all handlers share: the deployment and its limits, the latest check of readiness, and the phase of
//! the server. Blocking work of handlers runs here, too.
//!
//! When a server stops, a load balancer first sees that the server is not ready. Then further requests are refused, and
//! open responses are finished.

use std::{any::Any, sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, timeout},
};

use super::{
    auth::{Authenticator, Refreshed},
    connections::ConnectionSlots,
    options::{AllowedHost, ServerLimits},
    problem::Problem,
    request_observer::RequestObserver,
};
use crate::{Deployment, usecase::ServiceError};

const BUSY_WITH_SEARCHES: &str = "Too many searches are running; try again in a moment";
const SHUTTING_DOWN: &str = "The service is shutting down; try again in a moment";

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
    pub phase: watch::Sender<ServerPhase>,
    pub readiness: ReadinessCheck,
    pub observer: RequestObserver,
}

impl AppState {
    /// Runs work on a blocking thread. A panic becomes an internal error. The work is boxed, because the compiler would
    /// otherwise generate the tasks of the runtime once for every handler.
    pub async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, Problem> {
        let deployment = self.deployment.clone();
        let boxed: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> =
            Box::new(move || Box::new(work(&deployment)));
        let result = tokio::task::spawn_blocking(boxed).await.ok();
        let result = result.and_then(|result| result.downcast::<Result<T, ServiceError>>().ok());
        Ok(result.map_or_else(|| Err(ServiceError::internal()), |result| *result)?)
    }

    /// Runs work that ranks or decodes, which only a few requests may do at a time. The work waits for a free slot, and is
    /// dropped if the client disconnects meanwhile.
    pub async fn run_expensive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, Problem> {
        let free = self.expensive_slots.clone().acquire_owned();
        let slot = timeout(self.limits.queue_timeout, free).await;
        let slot = slot.map_err(|_| Problem::unavailable(BUSY_WITH_SEARCHES))?;
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
/// The time for which a probe waits for a check, so that a probe with a timeout of one second receives a response.
const CHECK_TIMEOUT: Duration = Duration::from_millis(800);

/// The reason given if a check failed or takes too long.
pub(crate) const NOT_READY: &str = "The service is not ready";

/// Whether requests can be served, and if not, why.
type Readiness = Result<(), &'static str>;

/// The latest check of the store. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct ReadinessCheck(watch::Sender<CheckState>);

#[derive(Clone, Copy, Default)]
struct CheckState {
    latest: Option<(Instant, Readiness)>,
    is_running: bool,
}

impl CheckState {
    fn recent(&self) -> Option<Readiness> {
        let recent = self.latest.filter(|(at, _)| at.elapsed() < CHECK_LIFETIME);
        recent.map(|(_, result)| result)
    }
}

impl ReadinessCheck {
    /// Returns the latest result if it is recent, and otherwise the result of `check`. Only one check runs at a time,
    /// even if it never ends. While a check takes too long, the service is not ready.
    pub async fn result(
        &self,
        check: impl Future<Output = Readiness> + Send + 'static,
    ) -> Readiness {
        let mut states = self.0.subscribe();
        let is_first = self.0.send_if_modified(|state| {
            let is_first = !state.is_running && state.recent().is_none();
            state.is_running |= is_first;
            is_first
        });
        if is_first {
            let states = self.0.clone();
            tokio::spawn(async move {
                let result = check.await;
                states.send_replace(CheckState {
                    latest: Some((Instant::now(), result)),
                    is_running: false,
                });
            });
        }
        let checked = timeout(CHECK_TIMEOUT, states.wait_for(|state| state.recent().is_some()));
        let state = checked.await.ok().and_then(|state| state.ok().map(|state| *state));
        state.and_then(|state| state.recent()).unwrap_or(Err(NOT_READY))
    }
}

/// The phase of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ServerPhase {
    #[default]
    Serving,
    /// The service is not ready, but still serves everything.
    Draining,
    /// Further requests are refused.
    Closing,
}

/// Middleware that refuses requests while the server is closing.
pub(crate) async fn refuse_while_closing(
    State(phase): State<watch::Sender<ServerPhase>>,
    request: Request,
    next: Next,
) -> Response {
    if *phase.borrow() != ServerPhase::Closing {
        return next.run(request).await;
    }
    let mut response = Problem::unavailable(SHUTTING_DOWN).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    #[tokio::test]
    async fn a_check_that_hangs_is_the_only_one() {
        let (readiness, begun) = (ReadinessCheck::default(), Arc::<AtomicUsize>::default());
        let probe = || {
            let begun = begun.clone();
            readiness.result(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                pending().await
            })
        };
        let results = futures_util::future::join_all((0..70).map(|_| probe())).await;
        assert_eq!(results, vec![Err(NOT_READY); 70]);
        assert_eq!(begun.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn many_probes_share_a_check() {
        let readiness = ReadinessCheck::default();
        assert_eq!(readiness.result(async { Ok(()) }).await, Ok(()));
        assert_eq!(readiness.result(async { Err(NOT_READY) }).await, Ok(()));
    }
}
