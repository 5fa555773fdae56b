//! Whether the process runs, and whether it can serve: for load balancers and supervisors. They need no
//! login and may use any host name, so the responses contain nothing else.

use axum::extract::State;

use super::{AppState, openapi::NotReadyError, problem::Problem, server_phase::ServerPhase};
use crate::Deployment;

impl AppState {
    /// Whether requests can be served.
    pub async fn is_ready(&self) -> bool {
        let check = async { self.spawn_blocking(Deployment::check_store).await.is_ok() };
        self.phase.get() == ServerPhase::Serving && self.readiness.result(check).await
    }
}

/// Whether the process runs.
#[utoipa::path(
    get,
    path = "/healthz",
    responses((status = 200, description = "It does", content_type = "text/plain", body = String)),
    security(()),
)]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the service can read its store and, if media may be added, write to it, and is not shutting down.
#[utoipa::path(
    get,
    path = "/readyz",
    responses(
        (status = 200, description = "It can", content_type = "text/plain", body = String),
        NotReadyError,
    ),
    security(()),
)]
pub async fn readyz(State(state): State<AppState>) -> Result<&'static str, Problem> {
    if state.is_ready().await { Ok("ready\n") } else { Err(Problem::not_ready()) }
}
