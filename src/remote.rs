//! A value that comes from the service: the last good one, its age, and the last failure.

use std::time::Duration;

use tessera_model::Failure;

/// Time since the program started; monotonic, and set by hand in tests.
pub type Uptime = Duration;

/// The last good value stays until a newer one comes; a failure does not remove it.
#[derive(Clone, Debug, PartialEq)]
pub struct Remote<T> {
    value: Option<T>,
    failure: Option<Failure>,
    failures: u32,
    updated_at: Uptime,
    /// When the last attempt ended; `None` makes it due at once.
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

    /// Replaces the value from another response; its age and the failure stay.
    pub fn replace(&mut self, value: T) {
        self.value = Some(value);
    }

    /// Makes it due at once, whatever its age.
    pub fn invalidate(&mut self) {
        self.tried_at = None;
    }

    /// Whether it was invalidated and not tried since.
    pub fn is_invalidated(&self) -> bool {
        self.tried_at.is_none()
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

    /// When it is due: at once if it was never tried or was invalidated, otherwise `interval` after
    /// the last attempt. Without an interval, it is not loaded again.
    pub fn due(&self, interval: Option<Duration>) -> Option<Uptime> {
        match self.tried_at {
            None => Some(Uptime::ZERO),
            Some(tried) => interval.map(|interval| tried + interval),
        }
    }
}
