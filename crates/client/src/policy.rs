//! Timeouts and retry pauses of a client.

use std::time::Duration;

/// The default suits an interactive program.
#[derive(Clone, Debug)]
pub struct ClientPolicy {
    /// Of requests without side effects or not sent; `None` uses the retry table.
    pub retries: Option<u32>,
    /// Upper bound of the first pause; doubles with each retry.
    pub initial_backoff: Duration,
    /// Longest `Retry-After` that is respected.
    pub max_retry_after: Duration,
    /// Limit for one connection, over all addresses of its host.
    pub connect_timeout: Duration,
    pub header_timeout: Duration,
    /// Between two pings of an HTTP/2 connection with open requests, and the limit for a response.
    pub ping_interval: Duration,
    pub ping_timeout: Duration,
    /// Limit between two chunks of a response.
    pub idle_timeout: Duration,
    /// Limit between two parts of an upload that the service accepts.
    pub upload_idle_timeout: Duration,
    /// Limit for a complete JSON response.
    pub total_timeout: Duration,
    /// Limit until a finished export has a link.
    pub link_timeout: Duration,
    pub link_poll_interval: Duration,
    /// Seed of the jitter; `None` is random.
    pub jitter_seed: Option<u64>,
}

impl Default for ClientPolicy {
    fn default() -> Self {
        Self {
            retries: None,
            initial_backoff: Duration::from_millis(250),
            max_retry_after: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(5),
            header_timeout: Duration::from_secs(30),
            ping_interval: Duration::from_secs(20),
            ping_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            upload_idle_timeout: Duration::from_mins(1),
            total_timeout: Duration::from_mins(1),
            link_timeout: Duration::from_mins(10),
            link_poll_interval: Duration::from_secs(5),
            jitter_seed: None,
        }
    }
}
