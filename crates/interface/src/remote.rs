//! Defines a value that comes from the service: the last good value, its age, and the last failure.

use std::time::Duration;

use tessera_model::{Failure, polling::MAX_REQUESTED_PAUSE};

/// The time since the program started. It is monotonic, and tests set it.
pub type Uptime = Duration;

/// A value that the service provides. The last good value is kept until a newer one arrives, and a
/// failure does not remove it.
#[derive(Clone, Debug, PartialEq)]
pub struct Remote<T> {
    value: Option<T>,
    failure: Option<Failure>,
    failures: u32,
    updated_at: Uptime,
    /// When the last attempt ended. `None` makes the value due at once.
    tried_at: Option<Uptime>,
}

impl<T> Default for Remote<T> {
    fn default() -> Self {
        Self { value: None, failure: None, failures: 0, updated_at: Uptime::ZERO, tried_at: None }
    }
}

impl<T> Remote<T> {
    pub fn finish(&mut self, now: Uptime, result: Result<T, Failure>) {
        self.tried_at = Some(now);
        match result {
            Ok(value) => {
                (self.value, self.updated_at) = (Some(value), now);
                (self.failure, self.failures) = (None, 0);
            }
            Err(failure) => {
                self.failure = Some(failure);
                self.failures += 1;
            }
        }
    }

    /// Replaces the value by one from another response. Its age and the failure are kept.
    pub fn replace(&mut self, value: T) {
        self.value = Some(value);
    }

    /// Makes the value due at once, regardless of its age.
    pub fn invalidate(&mut self) {
        self.tried_at = None;
    }

    /// Returns the value, unless it may be out of date, because it was invalidated and not loaded since.
    pub fn current(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.tried_at.is_some() && self.failure.is_none())
    }

    pub fn value(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub fn value_mut(&mut self) -> Option<&mut T> {
        self.value.as_mut()
    }

    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    pub fn failures(&self) -> u32 {
        self.failures
    }

    pub fn updated_at(&self) -> Uptime {
        self.updated_at
    }

    /// Returns when the value is due: at once if it was never tried or was invalidated, otherwise
    /// `interval` after the last attempt, or after the pause of at most 10 minutes that the service requests. Without an
    /// interval, the value is not loaded again.
    pub fn due(&self, interval: Option<Duration>) -> Option<Uptime> {
        let pause = self.failure.as_ref().and_then(|failure| failure.retry_after);
        let pause = pause.unwrap_or_default().min(MAX_REQUESTED_PAUSE);
        match self.tried_at {
            None => Some(Uptime::ZERO),
            Some(tried) => interval.map(|interval| tried + interval.max(pause)),
        }
    }
}
