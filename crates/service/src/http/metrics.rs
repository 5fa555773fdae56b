//! Metrics for Prometheus in the `OpenMetrics` text format, on a separate address. Scrapers need no login. They may use
//! any host name, because the service cannot know which names they use for it. The metrics contain nothing private.

use std::sync::{Arc, atomic::Ordering};

use super::{
    AppState, monitored_stream, request_body,
    request_observer::{RequestMetrics, RequestObserver},
};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use tessera_retrieval::CacheUsage;
use tessera_store::{indexing_task::UnfinishedTasks, now_micros};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone)]
struct MetricsState {
    app: AppState,
    gauges: Arc<ServiceGauges>,
    registry: Arc<Registry>,
}

/// Returns the router of `/metrics`, which describes the requests of a service.
pub(crate) fn metrics_router(app: AppState) -> Router {
    let mut registry = Registry::with_prefix("tessera");
    let gauges = ServiceGauges::default();
    gauges.register(&mut registry);
    app.observer.metrics.register(&mut registry);
    let state = MetricsState { app, gauges: Arc::new(gauges), registry: Arc::new(registry) };
    // Scrapes do not count as requests of the service.
    let observer = RequestObserver { access_log: None, metrics: RequestMetrics::default() };
    Router::new()
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(observer, monitored_stream::monitor_response))
        .with_state(state)
}

async fn metrics(State(state): State<MetricsState>) -> Response {
    state.gauges.update(&state.app).await;
    let mut text = String::new();
    match encode(&mut text, &state.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabels {
    kind: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LeaseLabels {
    state: &'static str,
}

#[derive(Default)]
pub(crate) struct ServiceGauges {
    ready: Gauge,
    store_readable: Gauge,
    connections: Gauge,
    max_connections: Gauge,
    expensive_requests: Gauge,
    body_memory: Gauge,
    max_body_memory: Gauge,
    tasks: Family<TaskLabels, Gauge>,
    task_age: Family<KindLabels, Gauge>,
    task_wait: Family<KindLabels, Gauge>,
    leases: Family<LeaseLabels, Gauge>,
    workers: Gauge,
    disk_available: Gauge,
    cache: CacheMetrics,
}

impl ServiceGauges {
    pub fn register(&self, registry: &mut Registry) {
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the service", version);
        for (name, help, gauge) in [
            ("ready", "1 if /readyz responds 200", &self.ready),
            (
                "store_readable",
                "1 if the store could be read for this scrape",
                &self.store_readable,
            ),
            ("http_connections", "Open connections", &self.connections),
            ("http_connections_max", "Most open connections", &self.max_connections),
            (
                "http_expensive_requests",
                "Searches, query images and selections that are being handled",
                &self.expensive_requests,
            ),
        ] {
            registry.register(name, help, gauge.clone());
        }
        for (name, help, gauge) in [
            (
                "http_body_memory",
                "Memory reserved for bodies that are received or wait",
                &self.body_memory,
            ),
            ("http_body_memory_max", "Most memory for such bodies", &self.max_body_memory),
            (
                "disk_available",
                "What uploads and exports may still write without touching the reserve",
                &self.disk_available,
            ),
        ] {
            registry.register_with_unit(name, help, Unit::Bytes, gauge.clone());
        }
        self.cache.register(registry);
        let help = "Unfinished indexing tasks and exports";
        registry.register("tasks", help, self.tasks.clone());
        let help = "Age of the oldest unfinished task of a kind; 0 without one";
        registry.register_with_unit("task_age", help, Unit::Seconds, self.task_age.clone());
        let help = "Age of the oldest task of a kind that waits for a worker; 0 without one";
        registry.register_with_unit("task_wait", help, Unit::Seconds, self.task_wait.clone());
        let help = "Leases on tasks: held, or expired without an end of their tasks";
        registry.register("leases", help, self.leases.clone());
        let help = "Workers that are alive, in a store on a server";
        registry.register("workers", help, self.workers.clone());
    }

    /// Sets all gauges to the current values.
    pub async fn update(&self, state: &AppState) {
        self.ready.set(i64::from(state.readiness().await.is_ok()));
        set(&self.connections, state.connections.open_count());
        set(&self.max_connections, state.limits.max_connections);
        self.cache.update(state.deployment.indexes.usage());
        let free = state.expensive_slots.available_permits();
        set(&self.expensive_requests, state.limits.max_expensive.saturating_sub(free));
        set(&self.body_memory, request_body::reserved_bytes(&state.connections));
        set(&self.max_body_memory, request_body::max_reserved_bytes(&state.limits));
        let sampled = state.spawn_blocking(|deployment| {
            let (tasks, leases) = (deployment.unfinished_tasks()?, deployment.lease_counts()?);
            Ok((tasks, leases, deployment.available_disk_space()?))
        });
        let sampled = sampled.await;
        self.store_readable.set(i64::from(sampled.is_ok()));
        if let Ok((tasks, leases, disk)) = sampled {
            self.set_tasks(&tasks);
            for (state, count) in [("held", leases.held), ("expired", leases.expired)] {
                set(&self.leases.get_or_create(&LeaseLabels { state }), count);
            }
            set(&self.workers, leases.workers);
            set(&self.disk_available, disk);
        }
    }

    fn set_tasks(&self, tasks: &[UnfinishedTasks]) {
        let now = now_micros();
        let age = |since: Option<i64>| since.map_or(0, |since| (now - since).max(0) / 1_000_000);
        for &UnfinishedTasks { kind, running, queued, oldest, oldest_queued } in tasks {
            for (state, count) in [("running", running), ("queued", queued)] {
                set(&self.tasks.get_or_create(&TaskLabels { kind, state }), count);
            }
            self.task_age.get_or_create(&KindLabels { kind }).set(age(oldest));
            self.task_wait.get_or_create(&KindLabels { kind }).set(age(oldest_queued));
        }
    }
}

#[derive(Default)]
pub(crate) struct CacheMetrics {
    indexes: Gauge,
    memory: Gauge,
    loads: Counter,
    hits: Counter,
    misses: Counter,
}

impl CacheMetrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("indexes", "Search indexes in memory", self.indexes.clone());
        registry.register_with_unit(
            "index_memory",
            "What filters and rankings read of the media in search indexes",
            Unit::Bytes,
            self.memory.clone(),
        );
        for (name, help, counter) in [
            ("index_loads", "Search indexes that were loaded", &self.loads),
            ("ranking_hits", "Rankings that came from memory", &self.hits),
            ("ranking_misses", "Rankings that were computed", &self.misses),
        ] {
            registry.register(name, help, counter.clone());
        }
    }

    pub fn update(&self, usage: CacheUsage) {
        set(&self.indexes, usage.indexes);
        set(&self.memory, usage.bytes);
        for (counter, value) in
            [(&self.loads, usage.loads), (&self.hits, usage.hits), (&self.misses, usage.misses)]
        {
            counter.inner().store(value, Ordering::Relaxed);
        }
    }
}

/// Sets a gauge. A number beyond the range of the gauge becomes the largest number.
pub(crate) fn set(gauge: &Gauge, value: impl TryInto<i64>) {
    gauge.set(value.try_into().unwrap_or(i64::MAX));
}
