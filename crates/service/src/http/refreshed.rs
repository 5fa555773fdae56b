//! Caches a value that another process may replace, such as the login and the key of links. It is read again at most
//! once a second, so that many requests need only one read.

use std::{
    sync::{PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::Mutex,
    task::spawn_blocking,
    time::{Instant, timeout},
};

/// The time for which a value is used without being read again.
const LIFETIME: Duration = Duration::from_secs(1);
/// The maximum time that a request waits for a read. After this time, the request uses the previous value.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct Refreshed<T> {
    value: RwLock<T>,
    /// The time of the latest read. Locked while the value is read.
    last_read: Mutex<Option<Instant>>,
}

impl<T: Clone + Send + 'static> Refreshed<T> {
    pub fn new(value: T) -> Self {
        Self { value: RwLock::new(value), last_read: Mutex::new(Some(Instant::now())) }
    }

    /// Returns the value. If it was not read recently, `read` reads it first; while that takes, other requests use the
    /// previous value. If `read` returns `None`, the previous value stays.
    pub async fn get(&self, read: impl FnOnce() -> Option<T> + Send + 'static) -> T {
        if let Ok(mut last) = self.last_read.try_lock()
            && last.is_none_or(|last| last.elapsed() >= LIFETIME)
        {
            if let Ok(Ok(Some(value))) = timeout(READ_TIMEOUT, spawn_blocking(read)).await {
                self.set(value);
            }
            *last = Some(Instant::now());
        }
        self.latest()
    }

    /// Returns the value that was read last.
    pub fn latest(&self) -> T {
        // A panic cannot leave the value inconsistent.
        self.value.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, value: T) {
        *self.value.write().unwrap_or_else(PoisonError::into_inner) = value;
    }
}
