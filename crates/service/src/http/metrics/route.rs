//! The route of the metrics. Its address is separate, because a scraper has no login; it accepts any host
//! name, because scrapers use names that only they know, and nothing private is in it.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::{encoding::text::encode, registry::Registry};

use super::{RequestMetrics, service_gauges::ServiceGauges};
use crate::http::{AppState, connection_monitor, request_observer::RequestObserver};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone)]
struct MetricsState {
    app: AppState,
    gauges: Arc<ServiceGauges>,
    registry: Arc<Registry>,
}

/// The router of `/metrics` for the requests of a service.
pub fn metrics_router(app: AppState) -> Router {
    let mut registry = Registry::with_prefix("tessera");
    let gauges = ServiceGauges::default();
    gauges.register(&mut registry);
    app.observer.metrics.register(&mut registry);
    let state = MetricsState { app, gauges: Arc::new(gauges), registry: Arc::new(registry) };
    // Scrapes are not requests of the service.
    let observer = RequestObserver { access_log: None, metrics: RequestMetrics::default() };
    Router::new()
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(observer, connection_monitor::monitor_response))
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
