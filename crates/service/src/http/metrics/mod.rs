//! Metrics for Prometheus, in the `OpenMetrics` text format, on an address of their own.

mod cache_metrics;
mod gauge;
mod request_metrics;
mod route;
mod service_gauges;

pub use request_metrics::RequestMetrics;
pub use route::metrics_router;
