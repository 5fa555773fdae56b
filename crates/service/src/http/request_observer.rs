//! Observes each request from its arrival to the end of its response, for the access log and the metrics of requests.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method},
    response::Response,
};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use serde::Serialize;
use uuid::Uuid;

use tessera_store::now_micros;
use tessera_wire::fields::format_iso8601;

/// The destinations of observations. Clones share them.
#[derive(Clone)]
pub(crate) struct RequestObserver {
    pub access_log: Option<AccessLog>,
    pub metrics: RequestMetrics,
}

/// The observation of one request. It ends when it is dropped, with or without a response.
pub(crate) struct RequestObservation {
    observer: RequestObserver,
    began: Instant,
    record: AccessRecord,
}

impl RequestObserver {
    pub fn begin(&self, request: &Request, remote: IpAddr) -> RequestObservation {
        let (headers, route) = (request.headers(), request.extensions().get::<MatchedPath>());
        let record = AccessRecord {
            time: format_iso8601(now_micros()) + "Z",
            request_id: request_id(headers),
            remote: remote.to_canonical(),
            forwarded_for: forwarded_for(headers),
            method: method_name(request.method()),
            route: route.map(|route| route.as_str().to_owned()),
            status: None,
            bytes: 0,
            duration_us: 0,
        };
        self.metrics.begin();
        RequestObservation { observer: self.clone(), began: Instant::now(), record }
    }
}

impl RequestObservation {
    /// Records the head of the response, and adds the identifier of the request to it.
    pub fn respond(&mut self, response: &mut Response) {
        self.record.status = Some(response.status().as_u16());
        if let Ok(id) = HeaderValue::from_str(&self.record.request_id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
    }

    /// Records that this many bytes of the body were sent.
    pub fn send(&mut self, bytes: usize) {
        self.record.bytes += bytes as u64;
    }
}

impl Drop for RequestObservation {
    fn drop(&mut self) {
        let micros = self.began.elapsed().as_micros();
        self.record.duration_us = u64::try_from(micros).unwrap_or(u64::MAX);
        self.observer.metrics.end(&self.record);
        if let Some(access_log) = &self.observer.access_log {
            access_log.write(self.record.clone());
        }
    }
}

/// The header with the identifier of a request. In requests, a proxy sets it; in responses, it is the identifier in the
/// log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The maximum length of an identifier from a proxy, in bytes.
const MAX_REQUEST_ID: usize = 64;
/// The maximum number of addresses that are recorded for a request that passed several proxies.
const MAX_FORWARDED: usize = 8;

/// One request whose response was sent, or whose client has left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessRecord {
    /// When the request arrived, in UTC.
    pub time: String,
    pub request_id: String,
    /// The address of the client, or of the proxy in front of the service.
    pub remote: IpAddr,
    /// The addresses that the request names as its origin, which only a proxy can know. A client can write them as
    /// well.
    pub forwarded_for: Vec<IpAddr>,
    pub method: &'static str,
    /// The path with the names of its parameters, or `None` if no route has this path.
    pub route: Option<String>,
    /// The status, or `None` if the client left before the response.
    pub status: Option<u16>,
    /// The number of bytes of the response body that were sent.
    pub bytes: u64,
    /// The time from the arrival of the request until its response was sent.
    pub duration_us: u64,
}

/// Receives the record of each request. It must not block.
#[derive(Clone)]
pub struct AccessLog(Arc<dyn Fn(AccessRecord) + Send + Sync>);

impl AccessLog {
    pub fn new(write: impl Fn(AccessRecord) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    pub fn write(&self, record: AccessRecord) {
        (self.0)(record);
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessLog")
    }
}

/// Returns the identifier of a request: the one from a proxy if it is plain, and otherwise a new one.
pub(crate) fn request_id(headers: &HeaderMap) -> String {
    let plain = |id: &&str| {
        let characters = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=MAX_REQUEST_ID).contains(&id.len()) && id.bytes().all(characters)
    };
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(plain);
    given.map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned)
}

/// Returns the addresses in `X-Forwarded-For`, without their ports. Entries that are not addresses are omitted.
pub(crate) fn forwarded_for(headers: &HeaderMap) -> Vec<IpAddr> {
    let values = headers.get_all(FORWARDED_FOR).iter();
    let names = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    names.filter_map(|name| forwarded_address(name.trim())).take(MAX_FORWARDED).collect()
}

/// Reads an address, which can be in brackets and can have a port.
fn forwarded_address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.parse().ok().or_else(|| Some(name.parse::<SocketAddr>().ok()?.ip()))
}

/// Returns the name of a method. Unknown methods share one name, because a client can invent any number of them.
pub(crate) fn method_name(method: &Method) -> &'static str {
    [
        (Method::GET, "GET"),
        (Method::HEAD, "HEAD"),
        (Method::POST, "POST"),
        (Method::PUT, "PUT"),
        (Method::PATCH, "PATCH"),
        (Method::DELETE, "DELETE"),
        (Method::OPTIONS, "OPTIONS"),
    ]
    .into_iter()
    .find_map(|(known, name)| (known == *method).then_some(name))
    .unwrap_or("OTHER")
}

/// The upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 15] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// The route label of requests that match no route.
const NO_ROUTE: &str = "none";
/// The status label of a request whose client left before the response.
const NO_STATUS: &str = "none";

/// The labels of requests. All values come from fixed sets, so that a client cannot create time series.
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

/// Counts requests. Clones share the counts.
#[derive(Clone)]
pub(crate) struct RequestMetrics {
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn with(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_bytes(value.as_bytes()).unwrap())])
    }

    #[test]
    fn only_plain_identifiers_are_taken_over() {
        let id = |value: &str| request_id(&with(REQUEST_ID, value));
        assert_eq!(id("4bf92f35-77b3_4da6.a3ce"), "4bf92f35-77b3_4da6.a3ce");
        for refused in ["", "a b", "a\"b", "a\\nb", "\u{9b}", &"a".repeat(65)] {
            assert_ne!(id(refused), refused);
            assert_eq!(id(refused).len(), 32);
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }

    #[test]
    fn forwarded_addresses_are_logged_without_ports_and_other_entries() {
        let addresses = |value: &str| -> Vec<String> {
            let found = forwarded_for(&with(FORWARDED_FOR, value));
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(addresses("203.0.113.7, 2001:db8::1"), ["203.0.113.7", "2001:db8::1"]);
        assert_eq!(addresses("203.0.113.7, unknown"), ["203.0.113.7"]);
        let with_ports = "1.2.3.4:5678, [2001:db8::1]:80,[2001:db8::2], _hidden, 5.6.7.8";
        let without_ports = ["1.2.3.4", "2001:db8::1", "2001:db8::2", "5.6.7.8"];
        assert_eq!(addresses(with_ports), without_ports);
        assert!(addresses("<script>").is_empty());
        assert_eq!(addresses(&vec!["203.0.113.7"; 100].join(",")).len(), MAX_FORWARDED);
    }

    #[test]
    fn invented_methods_have_one_name() {
        assert_eq!(method_name(&Method::GET), "GET");
        assert_eq!(method_name(&Method::from_bytes(b"BREW").unwrap()), "OTHER");
    }
}
