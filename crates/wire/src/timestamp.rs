//! Times as services write them: ISO 8601 without a zone, with microseconds, in UTC.

use time::{OffsetDateTime, macros::format_description};

/// `2025-04-24T07:44:46.136915` from microseconds since 1970.
pub fn format_iso8601(microseconds: i64) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(microseconds) * 1_000)
        .ok()
        .and_then(|moment| moment.format(form).ok())
        .unwrap_or_else(|| "1970-01-01T00:00:00.000000".to_owned())
}
