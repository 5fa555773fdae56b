//! The server. `axum::serve` has no timeouts, so connections are accepted here: a bounded number at a
//! time, each watched by the monitor of its slot, without Nagle's delay.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown, service::TowerToHyperService};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    AppState,
    auth::Authenticator,
    body_memory::BodyMemory,
    connection_monitor::{ClientConnection, MonitoredStream},
    connection_slots::{ConnectionSlot, ConnectionSlots},
    options::{AccessMode, ServerLimits, ServerOptions},
    request_observer::RequestObserver,
    router::build_router,
};
use crate::{Deployment, LocalError};

/// Time for open responses after the shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

impl Deployment {
    /// Serves the HTTP interface until `shutdown` completes; then finishes open responses for at most
    /// five seconds. Refuses [`AccessMode::Open`] at an address that is not loopback.
    pub async fn serve(
        &self,
        listener: TcpListener,
        options: impl Into<ServerOptions>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), LocalError> {
        let ServerOptions { access, compat, allowed_hosts, access_log, limits } = options.into();
        let address = listener.local_addr().map_err(LocalError::Socket)?;
        if matches!(access, AccessMode::Open) && !address.ip().is_loopback() {
            return Err(LocalError::OpenOnNetwork(address));
        }
        let limits = Arc::new(limits);
        let state = AppState {
            deployment: self.clone(),
            authenticator: Arc::new(Authenticator::new(access)),
            compat,
            allowed_hosts: allowed_hosts.into(),
            limits: limits.clone(),
            expensive_slots: Arc::new(Semaphore::new(limits.max_expensive)),
            body_memory: BodyMemory::new(limits.max_body_memory, limits.queue_timeout),
            observer: RequestObserver { access_log },
        };
        serve_connections(listener, build_router(state), limits, shutdown).await;
        Ok(())
    }
}

async fn serve_connections(
    listener: TcpListener,
    router: Router,
    limits: Arc<ServerLimits>,
    shutdown: impl Future<Output = ()>,
) {
    let slots = ConnectionSlots::new(limits);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, slot) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept_next(&listener, &slots) => accepted,
        };
        while connections.try_join_next().is_some() {}
        let (Ok(local), Ok(remote)) = (stream.local_addr(), stream.peer_addr()) else { continue };
        let monitor = slot.monitor.clone();
        let connection_info = ClientConnection { local, remote, monitor: monitor.clone() };
        let service = TowerToHyperService::new(router.clone().layer(Extension(connection_info)));
        let stream = TokioIo::new(MonitoredStream { stream, monitor });
        let connection = http1::Builder::new().serve_connection(stream, service);
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            tokio::select! {
                // Errors of a connection concern only its client.
                _ = connection => {}
                () = slot.monitor.timed_out() => {}
            }
        });
    }
    drop(listener);
    // Connections that take longer are closed.
    let _ = timeout(SHUTDOWN_GRACE, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// Accepts the next connection and waits for its slot.
async fn accept_next(
    listener: &TcpListener,
    slots: &Arc<ConnectionSlots>,
) -> (TcpStream, ConnectionSlot) {
    loop {
        match listener.accept().await {
            // A page is sent in two writes, and Nagle's algorithm would delay the second.
            Ok((stream, _)) if stream.set_nodelay(true).is_ok() => {
                return (stream, slots.acquire().await);
            }
            Ok(_) => {}
            // Out of file descriptors: an immediate retry would only spin.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
