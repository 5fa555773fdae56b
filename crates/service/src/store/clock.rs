//! The time of day, as the store keeps it.

use std::time::{Duration, SystemTime};

/// Microseconds since 1970, the unit of every `created_at`.
pub fn now_micros() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO);
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
