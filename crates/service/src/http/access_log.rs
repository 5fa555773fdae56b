//! What the access log records of a request: enough to find a slow or failed one, and nothing that
//! opens anything. Paths and queries contain identifiers, captions and signatures, so it has neither.

use std::{fmt, net::IpAddr, sync::Arc};

use axum::http::{HeaderMap, HeaderName, Method};
use serde::Serialize;
use uuid::Uuid;

/// In requests, the identifier that a proxy gave them; in responses, the one in the log.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Longest identifier that is taken over, in bytes.
const MAX_REQUEST_ID: usize = 64;
/// Most addresses that are recorded of a request that passed several proxies.
const MAX_FORWARDED: usize = 8;

/// One request whose response was sent, or whose client has left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessRecord {
    /// When the request arrived, in UTC.
    pub time: String,
    pub request_id: String,
    /// The address of the client, or of the proxy in front of the service.
    pub remote: IpAddr,
    /// The addresses that the request names as its origin, which only a proxy can know. A client can
    /// write them, too.
    pub forwarded_for: Vec<IpAddr>,
    pub method: &'static str,
    /// The path with the names of its parameters; `None` if no route has this path.
    pub route: Option<String>,
    /// `None` if the client left before the response.
    pub status: Option<u16>,
    /// Bytes of the response's body that were sent.
    pub bytes: u64,
    /// From the arrival of the request until its response was sent.
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

/// The identifier of a request: that of a proxy if it is plain, otherwise a new one.
pub fn request_id(headers: &HeaderMap) -> String {
    let plain = |id: &&str| {
        let characters = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=MAX_REQUEST_ID).contains(&id.len()) && id.bytes().all(characters)
    };
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(plain);
    given.map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned)
}

/// The addresses in `X-Forwarded-For`; none if one of them is not an address.
pub fn forwarded_for(headers: &HeaderMap) -> Vec<IpAddr> {
    let values = headers.get_all(FORWARDED_FOR).iter();
    let names = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    let addresses = names.take(MAX_FORWARDED).map(|name| name.trim().parse().ok());
    addresses.collect::<Option<_>>().unwrap_or_default()
}

/// The name of a method; any client can invent further ones.
pub fn method_name(method: &Method) -> &'static str {
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
    fn forwarded_addresses_are_addresses() {
        let addresses = |value: &str| -> Vec<String> {
            let found = forwarded_for(&with(FORWARDED_FOR, value));
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(addresses("203.0.113.7, 2001:db8::1"), ["203.0.113.7", "2001:db8::1"]);
        assert!(addresses("203.0.113.7, unknown").is_empty());
        assert!(addresses("<script>").is_empty());
        assert_eq!(addresses(&vec!["203.0.113.7"; 100].join(",")).len(), MAX_FORWARDED);
    }

    #[test]
    fn invented_methods_have_one_name() {
        assert_eq!(method_name(&Method::GET), "GET");
        assert_eq!(method_name(&Method::from_bytes(b"BREW").unwrap()), "OTHER");
    }
}
