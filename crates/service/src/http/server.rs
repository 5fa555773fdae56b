//! The server. Connections are accepted here, because `axum::serve` has no timeouts. The number of connections is
//! bounded, each is watched by the monitor of its slot, and Nagle's algorithm is off.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

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
    app_state::{CurrentPhase, ReadinessCheck, ServerPhase},
    auth::Authenticator,
    body_memory::BodyMemory,
    connections::{ClientConnection, ConnectionSlot, ConnectionSlots, MonitoredStream},
    metrics::metrics_router,
    options::{AccessMode, ServerLimits, ServerOptions},
    request_observer::{RequestMetrics, RequestObserver},
    router::build_router,
};
use crate::{Deployment, LocalError};

/// The maximum number of concurrent connections of scrapers.
const MAX_SCRAPERS: usize = 16;

impl Deployment {
    /// Serves the HTTP API until `shutdown` completes. After that, the service is not ready; it refuses further
    /// requests after [`ServerLimits::drain`], and finishes open responses for at most
    /// [`ServerLimits::shutdown_grace`]. [`AccessMode::Open`] is refused at an address that is not loopback.
    pub async fn serve(
        &self,
        listener: TcpListener,
        options: impl Into<ServerOptions>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), LocalError> {
        let ServerOptions { access, compat, allowed_hosts, access_log, metrics, limits } =
            options.into();
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
            connections: ConnectionSlots::new(limits.clone()),
            phase: CurrentPhase::default(),
            readiness: ReadinessCheck::default(),
            observer: RequestObserver { access_log, metrics: RequestMetrics::default() },
        };
        let (slots, phase) = (state.connections.clone(), state.phase.clone());
        let mut server = Server::new(listener, build_router(state.clone()), slots);
        tokio::select! {
            () = server.run(phase, &limits, shutdown) => {}
            () = serve_metrics(metrics, state) => {}
        }
        Ok(())
    }
}

/// Serves metrics forever if there is a listener for them.
async fn serve_metrics(listener: Option<TcpListener>, state: AppState) {
    let Some(listener) = listener else { return pending().await };
    let limits = ServerLimits { max_connections: MAX_SCRAPERS, ..ServerLimits::default() };
    let slots = ConnectionSlots::new(Arc::new(limits));
    Server::new(listener, metrics_router(state), slots).accept_until(pending()).await;
}

struct Server {
    listener: TcpListener,
    router: Router,
    slots: Arc<ConnectionSlots>,
    connections: JoinSet<()>,
    /// The open connections, or `None` while their responses are being finished.
    graceful: Option<GracefulShutdown>,
}

impl Server {
    fn new(listener: TcpListener, router: Router, slots: Arc<ConnectionSlots>) -> Self {
        let graceful = Some(GracefulShutdown::new());
        Self { listener, router, slots, connections: JoinSet::new(), graceful }
    }

    async fn run(
        &mut self,
        phase: CurrentPhase,
        limits: &ServerLimits,
        shutdown: impl Future<Output = ()>,
    ) {
        self.accept_until(shutdown).await;
        phase.set(ServerPhase::Draining);
        self.accept_until(sleep(limits.drain)).await;
        phase.set(ServerPhase::Closing);
        let open_responses = self.graceful.take();
        let finish = async {
            if let Some(open_responses) = open_responses {
                // Connections that take longer are closed.
                let _ = timeout(limits.shutdown_grace, open_responses.shutdown()).await;
            }
        };
        self.accept_until(finish).await;
        self.connections.shutdown().await;
    }

    async fn accept_until(&mut self, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        loop {
            let (stream, slot) = tokio::select! {
                () = &mut end => return,
                accepted = accept_next(&self.listener, &self.slots) => accepted,
            };
            self.spawn(stream, slot);
        }
    }

    fn spawn(&mut self, stream: TcpStream, slot: ConnectionSlot) {
        while self.connections.try_join_next().is_some() {}
        let (Ok(local), Ok(remote)) = (stream.local_addr(), stream.peer_addr()) else { return };
        let monitor = slot.monitor.clone();
        let connection_info = ClientConnection { local, remote, monitor: monitor.clone() };
        let router = self.router.clone().layer(Extension(connection_info));
        let stream = TokioIo::new(MonitoredStream { stream, monitor });
        let connection =
            http1::Builder::new().serve_connection(stream, TowerToHyperService::new(router));
        match &self.graceful {
            Some(graceful) => {
                self.connections.spawn(run_connection(graceful.watch(connection), slot))
            }
            None => self.connections.spawn(run_connection(connection, slot)),
        };
    }
}

async fn run_connection<E>(connection: impl Future<Output = Result<(), E>>, slot: ConnectionSlot) {
    tokio::select! {
        // An error of a connection concerns only its client.
        _ = connection => {}
        () = slot.monitor.timed_out() => {}
    }
}

/// Accepts the next connection and waits for its slot.
async fn accept_next(
    listener: &TcpListener,
    slots: &Arc<ConnectionSlots>,
) -> (TcpStream, ConnectionSlot) {
    loop {
        match listener.accept().await {
            // Without this, Nagle's algorithm would delay the second of the two writes of a page.
            Ok((stream, _)) if stream.set_nodelay(true).is_ok() => {
                return (stream, slots.acquire().await);
            }
            Ok(_) => {}
            // The process is out of file descriptors, so an immediate retry would only spin.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}
