//! Which attempts are repeated, and after how long.

use std::time::Duration;

use tokio::time::sleep;

use super::error::{StorageAttemptError, StorageError};

const MAX_ATTEMPTS: u32 = 4;

#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Time limit for the next bytes of a response.
    pub read_timeout: Duration,
    /// Delay before the first retry; doubled for each further one.
    pub initial_backoff: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { read_timeout: Duration::from_secs(30), initial_backoff: Duration::from_millis(250) }
    }
}

impl RetryPolicy {
    pub async fn run<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StorageError>
    where
        F: Future<Output = Result<T, StorageAttemptError>>,
    {
        let mut backoff = self.initial_backoff;
        for _ in 1..MAX_ATTEMPTS {
            match attempt().await {
                Err(failure) if failure.retryable => sleep(backoff).await,
                end => return end.map_err(|failure| failure.error),
            }
            backoff *= 2;
        }
        attempt().await.map_err(|failure| failure.error)
    }
}
