//! Deadlines and pauses in one place, so that a test or a background job can choose its own.

use std::time::Duration;

/// How patient the client is. The default suits a person at a screen.
#[derive(Clone, Debug)]
pub struct ClientPolicy {
    /// Further attempts of what changes nothing, and of what was never sent; `None` leaves it to the
    /// retry table.
    pub retries: Option<u32>,
    /// Bound of the first pause; doubled for each further one.
    pub initial_backoff: Duration,
    /// Longest pause of our own choice.
    pub max_backoff: Duration,
    /// Longest pause a service may ask for.
    pub max_retry_after: Duration,
    /// Until a connection stands.
    pub connect_timeout: Duration,
    /// Until the answer begins.
    pub header_timeout: Duration,
    /// Until the next bytes of an answer.
    pub idle_timeout: Duration,
    /// Until a JSON answer is complete.
    pub total_timeout: Duration,
    /// Until a service takes the next bytes of an upload.
    pub upload_idle_timeout: Duration,
    /// Until a finished export must have a link.
    pub link_timeout: Duration,
    /// Between two questions for that link.
    pub link_poll_interval: Duration,
    /// Start of the jitter; `None` differs from run to run.
    pub jitter_seed: Option<u64>,
}

impl Default for ClientPolicy {
    fn default() -> Self {
        Self {
            retries: None,
            initial_backoff: Duration::from_millis(250),
            max_backoff: Duration::from_secs(20),
            max_retry_after: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(5),
            header_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(1),
            upload_idle_timeout: Duration::from_mins(1),
            link_timeout: Duration::from_mins(10),
            link_poll_interval: Duration::from_secs(5),
            jitter_seed: None,
        }
    }
}
