//! Requests and their durations, by route.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::http::access_log::AccessRecord;

/// Upper bounds of the durations that are counted, in seconds.
const BUCKETS: [f64; 15] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// The route of requests that match none.
const NO_ROUTE: &str = "none";
/// The status of a request whose client left before the response.
const NO_STATUS: &str = "none";

/// All label values are from fixed sets: a client must not be able to create time series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// Counts requests; clones share the counts.
#[derive(Clone)]
pub struct RequestMetrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    sent: Family<RouteLabels, Counter>,
    in_flight: Gauge,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            sent: Family::default(),
            in_flight: Gauge::default(),
        }
    }
}

impl RequestMetrics {
    pub fn register(&self, registry: &mut Registry) {
        let requests = self.requests.clone();
        registry.register("http_requests", "Requests whose response was sent", requests);
        registry.register_with_unit(
            "http_request_duration",
            "From the arrival of a request until its response was sent",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register_with_unit(
            "http_response_body",
            "Sent bytes of the bodies of responses",
            Unit::Bytes,
            self.sent.clone(),
        );
        let in_flight = self.in_flight.clone();
        registry.register("http_requests_in_flight", "Requests being handled or sent", in_flight);
    }

    pub fn begin(&self) {
        self.in_flight.inc();
    }

    #[expect(clippy::cast_precision_loss, reason = "a duration, not a count")]
    pub fn end(&self, record: &AccessRecord) {
        self.in_flight.dec();
        let route = record.route.as_deref().unwrap_or(NO_ROUTE).to_owned();
        let status = record.status.map_or_else(|| NO_STATUS.to_owned(), |code| code.to_string());
        let labels = RequestLabels { method: record.method, route: route.clone(), status };
        self.requests.get_or_create(&labels).inc();
        let labels = RouteLabels { route };
        self.durations.get_or_create(&labels).observe(record.duration_us as f64 / 1e6);
        self.sent.get_or_create(&labels).inc_by(record.bytes);
    }
}
