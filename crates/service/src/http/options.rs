//! How a deployment is served: access, compatibility, limits.

use std::time::Duration;

use secrecy::SecretString;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::{access_log::AccessLog, allowed_host::AllowedHost, login_storage::LoginStorage};

#[derive(Clone, Debug)]
pub enum AccessMode {
    /// Clients with a token signed by these credentials, as in a hosted service.
    Token(ServiceCredentials),
    /// Every client on this machine, as on premises: loopback only.
    Open,
}

#[derive(Debug)]
pub struct ServerOptions {
    pub access: AccessMode,
    /// Whether to accept and serve what public clients send beyond the interface document.
    pub compat: bool,
    /// Further names that clients may use for this service.
    pub allowed_hosts: Vec<AllowedHost>,
    pub access_log: Option<AccessLog>,
    /// Where to serve `/metrics`, without a login.
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
    /// Identifies the key: `kid` and `sub` of every token.
    pub api_key: String,
    pub api_secret: SecretString,
    /// Value of the cookie `SESSION` of a signed-in browser.
    pub session: SecretString,
    /// The key pair that a client with the session has received.
    pub(super) issued: Option<KeyPair>,
    /// Where they are kept over restarts.
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
    /// Concurrent connections. A further one takes the place of the client that has kept us waiting
    /// longest; if all are being served, it waits in the queue of the system.
    pub max_connections: usize,
    /// Time that a connection has for a head before it may be closed for another one.
    pub head_grace: Duration,
    /// Time until the first byte of a connection, and from the first byte of a head to its end.
    pub head_timeout: Duration,
    /// Time between two requests of a connection.
    pub idle_timeout: Duration,
    /// Longest pause in a body, and the time that a client may be behind the minimum rate.
    pub body_timeout: Duration,
    /// The same for the bytes of a response that the client accepts.
    pub write_timeout: Duration,
    /// Concurrent expensive requests: searches, query images and selections.
    pub max_expensive: usize,
    /// Bytes of selections and query images that are received or wait at the same time.
    pub max_body_memory: u64,
    /// Time that an expensive request waits for memory for its body, and then for a free slot.
    pub queue_timeout: Duration,
    /// Time between the signal to stop and the refusal of further requests, in which readiness is false
    /// and everything is served.
    pub drain: Duration,
    /// Time for open responses after that.
    pub shutdown_grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: 256,
            head_grace: Duration::from_secs(1),
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_expensive: 4,
            max_body_memory: 72 << 20,
            queue_timeout: Duration::from_secs(30),
            drain: Duration::ZERO,
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
