//! The options with which a deployment is served: who has access, where the login is kept, by which host names clients
//! reach the service, and the limits.

use std::{fmt, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use axum::http::uri::{Authority, Scheme};
use secrecy::SecretString;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::{connection_monitor::ConnectionGroup, request_observer::AccessLog};
use tessera_store::Store;

#[derive(Clone, Debug)]
pub enum AccessMode {
    /// Clients need a token that was signed with these credentials, as in a hosted service.
    Token(ServiceCredentials),
    /// Every client on this machine has access, as on premises. This works only on loopback addresses.
    Open,
}

#[derive(Debug)]
pub struct ServerOptions {
    pub access: AccessMode,
    /// Whether to accept and serve what public clients send beyond the API document.
    pub compat: bool,
    /// Further host names by which clients may reach this service.
    pub allowed_hosts: Vec<AllowedHost>,
    pub access_log: Option<AccessLog>,
    /// The listener on which `/metrics` is served, without a login.
    pub metrics: Option<TcpListener>,
    pub limits: ServerLimits,
}

impl From<AccessMode> for ServerOptions {
    fn from(access: AccessMode) -> Self {
        Self {
            access,
            compat: false,
            allowed_hosts: Vec::new(),
            access_log: None,
            metrics: None,
            limits: ServerLimits::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ServiceCredentials {
    /// The identifier of the key, which is the `kid` and `sub` of every token.
    pub api_key: String,
    pub api_secret: SecretString,
    /// The value of the cookie `SESSION` of a signed-in browser.
    pub session: SecretString,
    /// The key pair that a client with the session has received.
    pub(super) issued: Option<KeyPair>,
    /// The place that keeps the credentials across restarts.
    pub(super) storage: LoginStorage,
}

#[derive(Clone, Debug)]
pub(super) struct KeyPair {
    pub api_key: String,
    pub api_secret: SecretString,
}

impl ServiceCredentials {
    pub fn generate() -> Self {
        let KeyPair { api_key, api_secret } = KeyPair::generate();
        let session = random_secret();
        Self { api_key, api_secret, session, issued: None, storage: LoginStorage::None }
    }
}

impl KeyPair {
    pub(super) fn generate() -> Self {
        let api_key = format!("key-{}", Uuid::new_v4().simple());
        Self { api_key, api_secret: random_secret() }
    }
}

fn random_secret() -> SecretString {
    let random = || Uuid::new_v4().simple().to_string();
    SecretString::from(random() + &random())
}

#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// The maximum number of concurrent connections. A further connection replaces the client that has kept us waiting
    /// longest. Half of the connections can have a request that is being served, so that there is always one that can
    /// be replaced. An eighth of them stays free for clients of other addresses.
    pub max_connections: usize,
    /// The time for which a client may keep us waiting before its connection may be closed for another one.
    pub stall_grace: Duration,
    /// The time limit until the first byte of a connection, and from the first byte of a request head to its end.
    pub head_timeout: Duration,
    /// The time limit between two requests on a connection.
    pub idle_timeout: Duration,
    /// The maximum pause in a body, and the maximum time by which a client may be behind the minimum rate.
    pub body_timeout: Duration,
    /// The same limit as `body_timeout`, for the bytes of a response that the client accepts.
    pub write_timeout: Duration,
    /// The maximum number of concurrent expensive requests: searches, query images and selections.
    pub max_expensive: usize,
    /// The maximum number of concurrent uploads of media.
    pub max_uploads: usize,
    /// The maximum number of selections and query images between 64 KiB and 1 MiB that are received or waiting.
    pub max_medium_bodies: usize,
    /// The maximum number of selections and query images above 1 MiB that are received or waiting.
    pub max_large_bodies: usize,
    /// The time that a request waits for a free slot, each time that it needs one.
    pub queue_timeout: Duration,
    /// The time between the signal to stop and the refusal of further requests. In this time, the service reports that
    /// it is not ready, but serves everything.
    pub drain: Duration,
    /// The time for open responses after the refusal of further requests.
    pub shutdown_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            stall_grace: Duration::from_secs(1),
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_expensive: 4,
            max_uploads: 32,
            max_medium_bodies: 16,
            max_large_bodies: 2,
            queue_timeout: Duration::from_secs(30),
            drain: Duration::ZERO,
            shutdown_grace: Duration::from_secs(5),
        }
    }
}

impl ServerLimits {
    /// Returns the maximum number of connections from one address.
    pub(super) fn max_connections_of_address(&self) -> usize {
        self.max_connections - self.max_connections / 8
    }

    /// Returns the maximum number of members of each group of connections.
    pub(super) fn group_sizes(&self) -> [usize; ConnectionGroup::COUNT] {
        let serving = self.max_connections.div_ceil(2);
        [
            self.max_connections,
            serving,
            self.max_uploads,
            self.max_medium_bodies,
            self.max_large_bodies,
        ]
    }
}

/// A host name: `NAME` at any port, `NAME:PORT`, or the origin that a TLS proxy presents to its clients
/// (`https://NAME`).
#[derive(Clone, Debug)]
pub struct AllowedHost {
    scheme: Option<Scheme>,
    authority: Authority,
}

impl AllowedHost {
    /// Returns the start of links for a client that names `host`, or `None` if this host is not allowed.
    ///
    /// The origin comes from the settings, because any client could send forwarding headers.
    pub(super) fn origin(&self, host: &Authority) -> Option<String> {
        if host.as_str().contains('@') || !host.host().eq_ignore_ascii_case(self.authority.host()) {
            return None;
        }
        let Some(scheme) = &self.scheme else {
            let is_expected = |port| host.port_u16().unwrap_or(80) == port;
            let is_allowed = self.authority.port_u16().is_none_or(is_expected);
            return is_allowed.then(|| format!("http://{host}"));
        };
        let default = if *scheme == Scheme::HTTPS { 443 } else { 80 };
        let expected = self.authority.port_u16().unwrap_or(default);
        let name = self.authority.host().to_ascii_lowercase();
        let shown = if expected == default { String::new() } else { format!(":{expected}") };
        (host.port_u16().unwrap_or(default) == expected)
            .then(|| format!("{scheme}://{name}{shown}"))
    }
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let (scheme, rest) = match raw.split_once("://") {
            Some(("http", rest)) => (Some(Scheme::HTTP), rest),
            Some(("https", rest)) => (Some(Scheme::HTTPS), rest),
            _ => (None, raw),
        };
        let is_name = |authority: &Authority| {
            let name = authority.host();
            let has_port = authority.port_u16().is_some();
            !name.is_empty() && !rest.contains(['@', '*']) && (has_port || rest == name)
        };
        let authority = rest.parse().ok().filter(is_name);
        let allowed = authority.map(|authority| Self { scheme, authority });
        allowed
            .ok_or_else(|| "expected NAME, NAME:PORT or https://NAME, without wildcards".to_owned())
    }
}

#[derive(Clone)]
pub(super) enum LoginStorage {
    /// The credentials are kept only in memory.
    None,
    File(PathBuf),
    Store(Arc<Store>),
}

impl fmt::Debug for LoginStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::File(_) => "File",
            Self::Store(_) => "Store",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_scheme_decides_over_ports_and_links() {
        for (allowed, host, expected) in [
            ("media.example", "media.example:8080", Some("http://media.example:8080")),
            ("media.example", "media.example", Some("http://media.example")),
            ("media.example:8080", "media.example", None),
            ("media.example:80", "media.example", Some("http://media.example")),
            ("http://media.example", "media.example", Some("http://media.example")),
            ("https://media.example", "media.example", Some("https://media.example")),
            ("https://Media.example", "MEDIA.example:443", Some("https://media.example")),
            ("https://media.example:443", "media.example", Some("https://media.example")),
            (
                "https://media.example:8443",
                "media.example:8443",
                Some("https://media.example:8443"),
            ),
            ("https://media.example:8443", "media.example", None),
            ("https://media.example", "media.example:8080", None),
            ("https://media.example", "media.example:80", None),
            ("https://media.example", "other.example", None),
            ("https://media.example", "user@media.example", None),
            ("https://[2001:db8::1]", "[2001:db8::1]", Some("https://[2001:db8::1]")),
        ] {
            let origin = allowed.parse::<AllowedHost>().unwrap().origin(&host.parse().unwrap());
            assert_eq!(origin.as_deref(), expected, "{allowed} {host}");
        }
    }

    #[test]
    fn only_hosts_and_their_origins_are_accepted() {
        for raw in [
            "",
            ":80",
            "https://",
            "ftp://media.example",
            "https://media.example/",
            "https://a@b",
            "a b",
            "*.example",
            "https://*.example",
            "media.example:99999",
        ] {
            assert!(raw.parse::<AllowedHost>().is_err(), "{raw}");
        }
    }
}
