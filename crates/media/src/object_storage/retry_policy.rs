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
        let mut attempts = self.attempts();
        loop {
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(failure) => attempts.pause_after(failure).await?,
            }
        }
    }

    pub fn attempts(&self) -> Attempts {
        Attempts { failed: 0, backoff: self.initial_backoff }
    }
}

/// The attempts at one thing.
#[derive(Debug)]
pub struct Attempts {
    failed: u32,
    backoff: Duration,
}

impl Attempts {
    /// Waits for the next attempt, or returns why there is none.
    pub async fn pause_after(&mut self, failure: StorageAttemptError) -> Result<(), StorageError> {
        self.failed += 1;
        if !failure.retryable || self.failed == MAX_ATTEMPTS {
            return Err(failure.error);
        }
        sleep(self.backoff).await;
        self.backoff *= 2;
        Ok(())
    }
}
