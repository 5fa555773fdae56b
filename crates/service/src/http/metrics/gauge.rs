//! Numbers of any type as values of gauges.

use prometheus_client::metrics::gauge::Gauge;

/// Sets a gauge; a number beyond its range is the largest one.
pub fn set(gauge: &Gauge, value: impl TryInto<i64>) {
    gauge.set(value.try_into().unwrap_or(i64::MAX));
}
