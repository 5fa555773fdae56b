//! The current time and timestamps, as commands print and save them.

use std::time::SystemTime;

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use tessera_model::Timestamp;

/// The current time, as RFC 3339 in UTC to the second.
pub fn now_rfc3339() -> String {
    // Only years beyond 9999 cannot be formatted.
    format_timestamp(timestamp_now()).unwrap_or_default()
}

/// A timestamp, as RFC 3339 in UTC to the second; `None` beyond the year 9999.
pub fn format_timestamp(stamp: Timestamp) -> Option<String> {
    let seconds = i64::try_from(stamp.as_secs()).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

pub fn timestamp_now() -> Timestamp {
    // A clock before 1970 counts as 1970.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
