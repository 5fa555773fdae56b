//! Timestamps as the service writes them: ISO 8601 in UTC with microseconds, without a zone.

use time::{OffsetDateTime, macros::format_description};

/// Formats microseconds since the epoch: `2025-04-24T07:44:46.136915`.
pub fn format_iso8601(microseconds: i64) -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(microseconds) * 1_000)
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_else(|| "1970-01-01T00:00:00.000000".to_owned())
}
