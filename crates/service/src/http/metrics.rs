//! Metrics for Prometheus in the `OpenMetrics` text format, on a separate address. Scrapers need no login. They may use
//! any host name, because the service cannot know which names they use for it. The metrics contain nothing private.

use std::sync::atomic::Ordering;

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
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use tessera_retrieval::CacheUsage;
use tessera_store::{indexing_task::UnfinishedTasks, lease::LeaseCounts, now_micros};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Gauges by their labels, which are names and values.
type LabeledGauges<const N: usize> = Family<[(&'static str, &'static str); N], Gauge>;

/// Returns the router of `/metrics`, which describes the requests of a service.
pub(crate) fn metrics_router(app: AppState) -> Router {
    // Scrapes do not count as requests of the service.
    let observer = RequestObserver { access_log: None, metrics: RequestMetrics::default() };
    Router::new()
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(observer, monitored_stream::monitor_response))
        .with_state(app)
}

async fn metrics(State(app): State<AppState>) -> Response {
    let is_ready = app.readiness().await.is_ok();
    let sampled = app.spawn_blocking(|deployment| {
        let (tasks, leases) = (deployment.unfinished_tasks()?, deployment.lease_counts()?);
        Ok((tasks, leases, deployment.available_disk_space()))
    });
    let sampled = sampled.await;
    let mut registry = Registry::with_prefix("tessera");
    register_service(&mut registry, &app, is_ready, sampled.is_ok());
    register_cache(&mut registry, app.deployment.indexes.usage());
    if let Ok((tasks, leases, disk)) = sampled {
        if let Some(disk) = disk {
            let help = "What uploads and exports may still write without touching the reserve";
            registry.register_with_unit("disk_available", help, Unit::Bytes, gauge(disk));
        }
        register_tasks(&mut registry, &tasks);
        register_leases(&mut registry, &leases);
    }
    app.observer.metrics.register(&mut registry);
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn register_service(registry: &mut Registry, app: &AppState, is_ready: bool, is_readable: bool) {
    let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The version of the service", version);
    let limits = &app.limits;
    let free = app.expensive_slots.available_permits();
    let expensive = limits.max_expensive.saturating_sub(free);
    for (name, help, gauge) in [
        ("ready", "1 if /readyz responds 200", gauge(is_ready)),
        ("store_readable", "1 if the store could be read for this scrape", gauge(is_readable)),
        ("http_connections", "Open connections", gauge(app.connections.open_count())),
        ("http_connections_max", "Most open connections", gauge(limits.max_connections)),
        (
            "http_expensive_requests",
            "Searches, query images and selections that are being handled",
            gauge(expensive),
        ),
    ] {
        registry.register(name, help, gauge);
    }
    let reserved = request_body::reserved_bytes(&app.connections);
    let help = "Memory reserved for bodies that are received or wait";
    registry.register_with_unit("http_body_memory", help, Unit::Bytes, gauge(reserved));
    let most = request_body::max_reserved_bytes(limits);
    let help = "Most memory for such bodies";
    registry.register_with_unit("http_body_memory_max", help, Unit::Bytes, gauge(most));
}

fn register_cache(registry: &mut Registry, usage: CacheUsage) {
    registry.register("indexes", "Search indexes in memory", gauge(usage.indexes));
    let help = "What filters and rankings read of the media in search indexes";
    registry.register_with_unit("index_memory", help, Unit::Bytes, gauge(usage.bytes));
    for (name, help, value) in [
        ("index_loads", "Search indexes that were loaded", usage.loads),
        ("ranking_hits", "Rankings that came from memory", usage.hits),
        ("ranking_misses", "Rankings that were computed", usage.misses),
    ] {
        let counter: Counter = Counter::default();
        counter.inner().store(value, Ordering::Relaxed);
        registry.register(name, help, counter);
    }
}

fn register_tasks(registry: &mut Registry, unfinished: &[UnfinishedTasks]) {
    let tasks = LabeledGauges::<2>::default();
    let (ages, waits) = (LabeledGauges::<1>::default(), LabeledGauges::<1>::default());
    let now = now_micros();
    let age = |since: Option<i64>| since.map_or(0, |since| (now - since).max(0) / 1_000_000);
    for &UnfinishedTasks { kind, running, queued, oldest, oldest_queued } in unfinished {
        for (state, count) in [("running", running), ("queued", queued)] {
            set(&tasks.get_or_create(&[("kind", kind), ("state", state)]), count);
        }
        ages.get_or_create(&[("kind", kind)]).set(age(oldest));
        waits.get_or_create(&[("kind", kind)]).set(age(oldest_queued));
    }
    registry.register("tasks", "Unfinished indexing tasks and exports", tasks);
    let help = "Age of the oldest unfinished task of a kind; 0 without one";
    registry.register_with_unit("task_age", help, Unit::Seconds, ages);
    let help = "Age of the oldest task of a kind that waits for a worker; 0 without one";
    registry.register_with_unit("task_wait", help, Unit::Seconds, waits);
}

fn register_leases(registry: &mut Registry, counts: &LeaseCounts) {
    let leases = LabeledGauges::<1>::default();
    for (state, count) in [("held", counts.held), ("expired", counts.expired)] {
        set(&leases.get_or_create(&[("state", state)]), count);
    }
    let help = "Leases on tasks: held, or expired without an end of their tasks";
    registry.register("leases", help, leases);
    let help = "Workers that are alive, in a store on a server";
    registry.register("workers", help, gauge(counts.workers));
}

fn gauge(value: impl TryInto<i64>) -> Gauge {
    let gauge = Gauge::default();
    set(&gauge, value);
    gauge
}

/// Sets a gauge. A number beyond the range of the gauge becomes the largest number.
fn set(gauge: &Gauge, value: impl TryInto<i64>) {
    gauge.set(value.try_into().unwrap_or(i64::MAX));
}
