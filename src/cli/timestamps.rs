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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_calendar_are_not_formatted() {
        assert_eq!(format_timestamp(Timestamp::ZERO).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(
            format_timestamp(Timestamp::from_secs(253_402_300_799)).as_deref(),
            Some("9999-12-31T23:59:59Z")
        );
        for seconds in [253_402_300_800, u64::from(u32::MAX) << 20, u64::MAX] {
            assert_eq!(format_timestamp(Timestamp::from_secs(seconds)), None);
        }
    }
}
