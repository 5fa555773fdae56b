//! The difference between the service's clock and the local one, measured from responses.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{AGE, DATE, HeaderMap};

const MAX_ROUND_TRIP: Duration = Duration::from_mins(15);
/// A `Date` before 2020 comes from a clock that was never set.
const EARLIEST_DATE: i64 = 1_577_836_800;

/// At the middle of the exchange. `None` without a date, or for a cached or too long response.
pub(super) fn measure_skew(
    headers: &HeaderMap,
    sent: SystemTime,
    received: SystemTime,
) -> Option<i64> {
    let took = received.duration_since(sent).ok()?;
    if headers.contains_key(AGE) || took > MAX_ROUND_TRIP {
        return None;
    }
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let date = unix_seconds(date);
    (date >= EARLIEST_DATE).then(|| date - unix_seconds(sent + took / 2))
}

/// Seconds since 1970, negative before.
pub(super) fn unix_seconds(time: SystemTime) -> i64 {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()),
        Err(before) => i64::try_from(before.duration().as_secs()).map(|seconds| -seconds),
    };
    seconds.unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    /// The initial skew, at the first response of a case; times of day when the response was sent,
    /// received and dated, whether it was cached, and the skew that results.
    type ClockSample = (Option<i64>, &'static str, &'static str, Option<&'static str>, bool, i64);

    /// The ten published test cases for clock skew correction of the AWS SDKs (aws-runtime,
    /// `test-data/clock-skew-test-cases.json`), in their order. There, status and error code decide
    /// about retries; here only a 401 does, so the cases keep only the clocks.
    const SAMPLES: [ClockSample; 16] = [
        (Some(0), "00:00:00", "00:00:02", Some("00:00:01"), false, 0),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (None, "00:00:02", "00:00:04", Some("00:05:03"), false, 300),
        (None, "00:01:00", "00:01:02", Some("00:06:01"), false, 300),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (Some(0), "00:00:00", "00:16:00", Some("00:10:00"), false, 0),
        (None, "00:17:00", "00:17:02", Some("00:22:01"), false, 300),
        (Some(300), "00:00:00", "00:00:02", Some("00:00:01"), false, 0),
        (Some(0), "00:00:00", "00:00:02", Some("00:02:01"), false, 120),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (None, "00:00:02", "00:00:04", Some("00:05:03"), false, 300),
        (Some(0), "00:00:00", "00:00:02", None, false, 0),
        (Some(0), "16:51:00", "16:51:02", Some("12:03:01"), true, 0),
        (None, "16:51:10", "16:51:12", Some("16:56:11"), false, 300),
        (Some(0), "16:51:00", "16:51:02", Some("12:03:01"), true, 0),
        (None, "16:51:10", "16:51:12", Some("16:51:11"), false, 0),
    ];

    fn moment(time: &str) -> SystemTime {
        httpdate::parse_http_date(&format!("Thu, 01 Jan 2026 {time} GMT")).unwrap()
    }

    fn headers(date: Option<&str>, cached: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        if cached {
            headers.insert(AGE, HeaderValue::from_static("17280"));
        }
        headers
    }

    #[test]
    fn published_clock_skew_cases() {
        let mut skew = 0;
        for (index, (initial, sent, received, date, cached, expected)) in
            SAMPLES.into_iter().enumerate()
        {
            let date = date.map(|time| format!("Thu, 01 Jan 2026 {time} GMT"));
            let headers = headers(date.as_deref(), cached);
            skew = initial.unwrap_or(skew);
            skew = measure_skew(&headers, moment(sent), moment(received)).unwrap_or(skew);
            assert_eq!(skew, expected, "response {index} at {sent}");
        }
    }

    #[test]
    fn any_skew_is_measured_and_invalid_dates_are_ignored() {
        let (sent, received) = (moment("12:00:00"), moment("12:00:02"));
        let skew = |date: &str| measure_skew(&headers(Some(date), false), sent, received);
        assert_eq!(skew("Fri, 02 Jan 2026 13:00:01 GMT"), Some(90_000));
        assert_eq!(skew("Wed, 31 Dec 2025 11:00:01 GMT"), Some(-90_000));
        assert_eq!(skew("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(skew("yesterday"), None);
        assert_eq!(measure_skew(&headers(None, false), received, sent), None, "a clock set back");
    }

    #[test]
    fn an_exchange_of_up_to_15_minutes_measures_a_clock_that_was_set() {
        let sent = moment("12:00:00");
        let skew = |took: u64, date: &str| {
            measure_skew(&headers(Some(date), false), sent, sent + Duration::from_secs(took))
        };
        let at_half = "Thu, 01 Jan 2026 12:07:30 GMT";
        assert_eq!(skew(900, at_half), Some(0));
        assert_eq!(skew(901, at_half), None);
        let received_at_once = |date: &str| skew(0, date).map(|skew| skew + unix_seconds(sent));
        assert_eq!(received_at_once("Wed, 01 Jan 2020 00:00:00 GMT"), Some(EARLIEST_DATE));
        assert_eq!(received_at_once("Tue, 31 Dec 2019 23:59:59 GMT"), None);
    }

    #[test]
    fn seconds_before_1970_are_negative() {
        let at = Duration::from_secs(90);
        assert_eq!(unix_seconds(UNIX_EPOCH + at), 90);
        assert_eq!(unix_seconds(UNIX_EPOCH - at), -90);
    }
}
