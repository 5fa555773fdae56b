//! The server. Connections are accepted here, because `axum::serve` has no timeouts. The number of connections is
//! bounded, each is watched by the monitor of its slot, and Nagle's algorithm is off. A head or a piece of a body takes
//! little memory, because there can be many of them at a time. The routes are assembled here: the API below `/api/v1`,
//! media and archives behind links, and probes. Each file of handlers adds its own routes.

use std::{future::pending, io, pin::pin, sync::Arc, time::Duration};

use super::{
    AppState, add_media,
    app_state::{self, ReadinessCheck, ServerPhase},
    auth::{self, Authenticator, Refreshed},
    checked_routes::{CheckedRoutes, method_not_allowed},
    compat,
    connections::{self, ClientConnection, ConnectionSlot, ConnectionSlots},
    credentials, dataset, explore, export, local_dataset, media,
    metrics::metrics_router,
    monitored_stream::{self, MonitoredStream},
    openapi::{self, OpenApiDocument},
    options::{AccessMode, ServerLimits, ServerOptions},
    origin_check, probes,
    problem::Problem,
    query_image,
    request_observer::{RequestMetrics, RequestObserver},
    tags,
};
use crate::{Deployment, LocalError};
use axum::{
    Extension, Router,
    http::Request,
    middleware::{from_fn, from_fn_with_state},
};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown, service::TowerToHyperService};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
#[cfg(target_os = "linux")]
use socket2::SockRef;
use tessera_wire::endpoints::{API_PREFIX, LOCAL_PREFIX};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use utoipa::openapi::OpenApi;

/// The maximum number of concurrent connections of scrapers.
const MAX_SCRAPERS: usize = 16;
/// The maximum number of bytes of a request head, and of a body that are read at once.
const MAX_BUFFER: usize = 128 << 10;
/// The number of bytes of responses that the system holds for a client that accepts none. The default is megabytes,
/// which are thousands of responses.
#[cfg(target_os = "linux")]
const MAX_UNSENT: u32 = 64 << 10;

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
        let max_connections = limits.max_connections.min(open_file_limit() / 2);
        let limits = Arc::new(ServerLimits { max_connections, ..limits });
        let link_key = self.store.link_key()?;
        let state = AppState {
            deployment: self.clone(),
            authenticator: Arc::new(Authenticator::new(access)),
            link_key: Arc::new(Refreshed::new(link_key)),
            compat,
            allowed_hosts: allowed_hosts.into(),
            limits: limits.clone(),
            expensive_slots: Arc::new(Semaphore::new(limits.max_expensive)),
            connections: ConnectionSlots::new(limits.clone()),
            phase: watch::Sender::default(),
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
        phase: watch::Sender<ServerPhase>,
        limits: &ServerLimits,
        shutdown: impl Future<Output = ()>,
    ) {
        self.accept_until(shutdown).await;
        phase.send_replace(ServerPhase::Draining);
        self.accept_until(sleep(limits.drain)).await;
        phase.send_replace(ServerPhase::Closing);
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
        let slots = self.slots.clone();
        let connection_info = ClientConnection { local, remote, monitor: monitor.clone(), slots };
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(connection_info.clone());
            router.call(request)
        });
        let stream = TokioIo::new(MonitoredStream::new(stream, monitor));
        let connection =
            http1::Builder::new().max_buf_size(MAX_BUFFER).serve_connection(stream, service);
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

/// The number of files that many systems let a program open, which is as many as there can be connections.
const USUAL_OPEN_FILES: usize = 1024;

/// Raises the number of files that this process may open as far as the system allows, and returns it.
fn open_file_limit() -> usize {
    // In a sandbox that refuses every call about limits, reading a limit would panic, and only setting one fails. The
    // program has turned core dumps off already.
    let no_dumps = Rlimit { current: Some(0), maximum: Some(0) };
    if setrlimit(Resource::Core, no_dumps).is_err() {
        return USUAL_OPEN_FILES;
    }
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If the limit cannot be raised, the current one is used.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let current = getrlimit(Resource::Nofile).current;
    current.and_then(|files| files.try_into().ok()).unwrap_or(usize::MAX)
}

fn configure(stream: &TcpStream) -> io::Result<()> {
    // Without this, Nagle's algorithm would delay the second of the two writes of a page.
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    SockRef::from(stream).set_tcp_notsent_lowat(MAX_UNSENT)?;
    Ok(())
}

/// Accepts the next connection and waits for its slot.
async fn accept_next(
    listener: &TcpListener,
    slots: &Arc<ConnectionSlots>,
) -> (TcpStream, ConnectionSlot) {
    loop {
        match listener.accept().await {
            Ok((stream, remote)) if configure(&stream).is_ok() => {
                if let Some(slot) = slots.admit(remote.ip()).await {
                    return (stream, slot);
                }
            }
            Ok(_) => {}
            // The process is out of file descriptors, so an immediate retry would only spin.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

pub(crate) fn build_router(state: AppState) -> Router {
    let (authenticated, authenticated_api) = authenticated_routes(&state).split_for_parts();
    let (public, public_api) = public_routes(&state).split_for_parts();
    let (root_routes, root_api) = root_routes(&state).split_for_parts();
    let (probe_routes, probe_api) = probe_routes(&state).split_for_parts();
    let (local, local_api) = local_routes(&state).split_for_parts();
    let nested = OpenApi::default()
        .nest(API_PREFIX, authenticated_api)
        .nest(API_PREFIX, public_api)
        .nest(LOCAL_PREFIX, local_api);
    let description = OpenApiDocument::new(
        root_api.merge_from(probe_api).merge_from(nested),
        state.authenticator.requires_login(),
    );
    let require_login = |routes: Router<AppState>| {
        let routes = routes.fallback(not_found).method_not_allowed_fallback(method_not_allowed);
        // A client without a login cannot occupy a slot for requests.
        routes
            .layer(from_fn(connections::limit_requests))
            .layer(from_fn_with_state(state.authenticator.clone(), auth::require_login))
    };
    let public = public.layer(from_fn(connections::limit_requests));
    root_routes
        .layer(from_fn(connections::limit_requests))
        .nest(API_PREFIX, require_login(authenticated).merge(public))
        .nest(LOCAL_PREFIX, require_login(local))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(state.clone(), origin_check::check_origin))
        .layer(from_fn_with_state(state.phase.clone(), app_state::refuse_while_closing))
        .merge(probe_routes.method_not_allowed_fallback(method_not_allowed))
        .layer(from_fn(origin_check::add_security_headers))
        .layer(Extension(description))
        .layer(from_fn_with_state(state.observer.clone(), monitored_stream::monitor_response))
        .with_state(state)
}

fn authenticated_routes(state: &AppState) -> CheckedRoutes {
    let routes = dataset::add_routes(CheckedRoutes::new(state));
    let routes = export::add_routes(query_image::add_routes(explore::add_routes(routes)));
    let routes = add_media::add_routes(routes);
    if state.compat { compat::add_exploration_routes(compat::add_routes(routes)) } else { routes }
}

/// Returns the routes without a token. The credentials check the session themselves.
fn public_routes(state: &AppState) -> CheckedRoutes {
    let routes = openapi::add_routes(credentials::add_routes(CheckedRoutes::new(state)));
    if state.compat { compat::add_public_routes(routes) } else { routes }
}

/// Returns the routes outside the API: `/`, and media and archives behind links.
fn root_routes(state: &AppState) -> CheckedRoutes {
    let routes = openapi::add_root_routes(CheckedRoutes::new(state));
    export::add_link_routes(media::add_routes(routes))
}

/// Returns the routes that are not in the API document. They need a token, like those of the API.
fn local_routes(state: &AppState) -> CheckedRoutes {
    let routes = local_dataset::add_routes(CheckedRoutes::new(state));
    let routes = explore::add_local_routes(tags::add_routes(export::add_local_routes(routes)));
    if state.compat { routes } else { compat::add_exploration_routes(routes) }
}

/// Returns the routes that accept any host name, in every phase.
fn probe_routes(state: &AppState) -> CheckedRoutes {
    probes::add_routes(CheckedRoutes::new(state))
}

async fn not_found() -> Problem {
    Problem::not_found("Not Found")
}
