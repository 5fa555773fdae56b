//! Deadlines and pauses in one place, so that a test or a background job can choose its own.

use std::time::Duration;

/// How patient the client is. The default suits a person at a screen.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Further attempts of what changes nothing, and of what was never sent; `None` leaves it to the
    /// retry table.
    pub retries: Option<u32>,
    /// Bound of the first pause; doubled for each further one.
    pub backoff: Duration,
    /// Longest pause of our own choice.
    pub backoff_cap: Duration,
    /// Longest pause a service may ask for.
    pub retry_after_cap: Duration,
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the answer begins.
    pub headers: Duration,
    /// Until the next bytes of an answer.
    pub idle: Duration,
    /// Until a JSON answer is complete.
    pub total: Duration,
    /// Until a service takes the next bytes of an upload.
    pub upload_idle: Duration,
    /// Until a finished export must have a link.
    pub link: Duration,
    /// Between two questions for that link.
    pub link_pause: Duration,
    /// Start of the jitter; `None` differs from run to run.
    pub seed: Option<u64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            retries: None,
            backoff: Duration::from_millis(250),
            backoff_cap: Duration::from_secs(20),
            retry_after_cap: Duration::from_mins(1),
            connect: Duration::from_secs(5),
            headers: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            total: Duration::from_mins(1),
            upload_idle: Duration::from_mins(1),
            link: Duration::from_mins(10),
            link_pause: Duration::from_secs(5),
            seed: None,
        }
    }
}
