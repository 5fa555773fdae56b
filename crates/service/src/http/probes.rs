//! Whether the process runs, and whether it can serve: for load balancers and supervisors. They need no
//! login and may use any host name, so the responses contain nothing else.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use super::{AppState, openapi::NotReadyError, problem::Problem, server_phase::ServerPhase};
use crate::Deployment;

/// How long the result of a check is used again, so that many probes cost one check.
const CHECK_LIFETIME: Duration = Duration::from_secs(1);
/// Time that a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The last check of the store; clones share it.
#[derive(Clone, Default)]
pub struct ReadinessCheck(Arc<Mutex<Option<LastCheck>>>);

#[derive(Clone, Copy)]
struct LastCheck {
    at: Instant,
    is_ready: bool,
}

impl AppState {
    /// Whether requests can be served. Checks the store, one check at a time.
    pub async fn is_ready(&self) -> bool {
        if self.phase.get() != ServerPhase::Serving {
            return false;
        }
        let check = async {
            let mut last = self.readiness.0.lock().await;
            let recent = last.filter(|last| last.at.elapsed() < CHECK_LIFETIME);
            let now = match recent {
                Some(recent) => recent,
                None => LastCheck { is_ready: self.check_store().await, at: Instant::now() },
            };
            *last = Some(now);
            now.is_ready
        };
        timeout(CHECK_TIMEOUT, check).await.unwrap_or(false)
    }

    async fn check_store(&self) -> bool {
        self.spawn_blocking(Deployment::check_store).await.is_ok()
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
