//! How a deployment is served: access, compatibility, limits.

use std::time::Duration;

use secrecy::SecretString;
use uuid::Uuid;

#[derive(Clone, Debug)]
pub enum AccessMode {
    /// Clients with a token signed by these credentials, as in a hosted service.
    Token(ServiceCredentials),
    /// Every client on this machine, as on premises: loopback only.
    Open,
}

#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub access: AccessMode,
    /// Whether to accept and serve what public clients send beyond the interface document.
    pub compat: bool,
    pub limits: ServerLimits,
}

impl From<AccessMode> for ServerOptions {
    fn from(access: AccessMode) -> Self {
        Self { access, compat: false, limits: ServerLimits::default() }
    }
}

#[derive(Clone, Debug)]
pub struct ServiceCredentials {
    /// Identifies the key: `kid` and `sub` of every token.
    pub api_key: String,
    pub api_secret: SecretString,
    /// Value of the cookie `SESSION` of a signed-in browser.
    pub session: SecretString,
}

impl ServiceCredentials {
    pub fn generate() -> Self {
        let random = || Uuid::new_v4().simple().to_string();
        Self {
            api_key: format!("key-{}", random()),
            api_secret: SecretString::from(random() + &random()),
            session: SecretString::from(random() + &random()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Concurrent connections; more wait in the queue of the system.
    pub max_connections: usize,
    /// Time until the first byte of a connection, and from the first byte of a head to its end.
    pub head_timeout: Duration,
    /// Time between two requests of a connection.
    pub idle_timeout: Duration,
    /// Time between two chunks of a body that is not a form.
    pub body_timeout: Duration,
    /// Time within which a client must accept the next bytes of a response.
    pub write_timeout: Duration,
    /// Concurrent expensive requests: searches, query images and selections.
    pub max_expensive: usize,
    /// Time that an expensive request waits for a free slot.
    pub queue_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: 256,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_expensive: 4,
            queue_timeout: Duration::from_secs(30),
        }
    }
}
