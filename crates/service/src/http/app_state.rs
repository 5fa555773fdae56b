//! What all handlers share, and how they run blocking work.

use std::sync::Arc;

use tokio::{sync::Semaphore, time::timeout};

use super::{
    allowed_host::AllowedHost, auth::Authenticator, body_memory::BodyMemory,
    connection_slots::ConnectionSlots, options::ServerLimits, problem::Problem,
    readiness_check::ReadinessCheck, request_observer::RequestObserver, server_phase::CurrentPhase,
};
use crate::{Deployment, usecase::ServiceError};

#[derive(Clone)]
pub struct AppState {
    pub deployment: Deployment,
    pub authenticator: Arc<Authenticator>,
    /// Whether to accept what public clients send beyond the interface document.
    pub compat: bool,
    pub allowed_hosts: Arc<[AllowedHost]>,
    pub limits: Arc<ServerLimits>,
    pub expensive_slots: Arc<Semaphore>,
    pub body_memory: BodyMemory,
    pub connections: Arc<ConnectionSlots>,
    pub phase: CurrentPhase,
    pub readiness: ReadinessCheck,
    pub observer: RequestObserver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCost {
    /// A few indexed reads.
    Cheap,
    /// It ranks or decodes: only a few at a time.
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

    /// Expensive work waits for a free slot; if the client disconnects meanwhile, it is dropped.
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
                Some(slot.map_err(|_| Problem::busy())?)
            }
        };
        self.spawn_blocking(move |deployment| {
            // Work that has started cannot be cancelled, so it keeps its slot until it ends.
            let _slot = slot;
            work(deployment)
        })
        .await
    }
}
