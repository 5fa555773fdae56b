//! Probes for load balancers and supervisors: whether the process runs, and whether it can serve. Probes need no login
//! and may use any host name, so their responses contain nothing else.

use super::prelude::*;
use super::{
    app_state::{NOT_READY, ServerPhase},
    openapi::NotReadyError,
};
use crate::usecase::ServiceError;

impl AppState {
    /// Fails with the reason if no requests can be served.
    pub async fn readiness(&self) -> Result<(), &'static str> {
        if *self.phase.borrow() != ServerPhase::Serving {
            return Err(NOT_READY);
        }
        let deployment = self.deployment.clone();
        let check = async {
            match tokio::task::spawn_blocking(move || deployment.check_store()).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(ServiceError::Unavailable(reason))) => Err(reason),
                _ => Err(NOT_READY),
            }
        };
        self.readiness.result(check).await
    }
}

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(healthz)).add(routes!(readyz))
}

/// Whether the process runs.
#[utoipa::path(
    get,
    path = "/healthz",
    responses((status = 200, description = "The process runs", content_type = "text/plain", body = String)),
    security(()),
)]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the service can read its store and, if media may be added, write to it, and is not shutting down.
#[utoipa::path(
    get,
    path = "/readyz",
    responses(
        (status = 200, description = "The service can serve requests", content_type = "text/plain", body = String),
        NotReadyError,
    ),
    security(()),
)]
pub(crate) async fn readyz(State(state): State<AppState>) -> Result<&'static str, Problem> {
    state.readiness().await.map(|()| "ready\n").map_err(Problem::unavailable)
}
