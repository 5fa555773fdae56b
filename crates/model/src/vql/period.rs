//! Points in time as users write them: a year, a month, a day or a second, which is a period with a start and an end.

use time::{Date, Month, OffsetDateTime, format_description::well_known::Rfc3339};

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A year, a month, a day, a minute, a second or a fraction of a second, in UTC if no offset is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Period {
    /// The first millisecond since 1970.
    pub start: i64,
    /// The first millisecond after the period.
    pub end: i64,
    text: String,
}

impl Period {
    /// Parses `2024`, `2024-05`, `2024-05-17`, `2024-05-17T10:20` or `2024-05-17T10:20:30.5+02:00`.
    pub fn parse(raw: &str) -> Option<Self> {
        let text = raw.trim();
        let (start, end) = match text.len() {
            4 => {
                let year = digits(text)?;
                (day(year, 1, 1)?, day(year, 12, 31)? + DAY)
            }
            7 => {
                let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
                let last = Month::try_from(month).ok()?.length(year);
                (day(year, month, 1)?, day(year, month, last)? + DAY)
            }
            _ => {
                let (start, length) = Self::parse_day_or_time(text)?;
                let start = milliseconds(start)?;
                (start, start + length)
            }
        };
        Some(Self { start, end, text: text.to_owned() })
    }

    /// Like [`Self::parse`], but takes no text that could be a number or a month.
    pub fn parse_exact(raw: &str) -> Option<Self> {
        Self::parse(raw).filter(|period| period.text.len() > 7)
    }

    /// Returns the start of a day or a time, and its length in milliseconds.
    pub(super) fn parse_day_or_time(text: &str) -> Option<(OffsetDateTime, i64)> {
        if text.len() == 10 {
            let number = text.get(8..).filter(|_| text.as_bytes()[7] == b'-').and_then(digits)?;
            let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
            return Some((midnight(year, month, u8::try_from(number).ok()?)?, DAY));
        }
        // Tables write `2024-05-17 10:20:30 +00:00`.
        let text = text.replacen(' ', "T", 1).replace(' ', "");
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        // A fraction is as long as its last digit says: 0.5 is a tenth of a second.
        let length = match fraction.bytes().take_while(u8::is_ascii_digit).count() {
            0 => 1_000,
            1 => 100,
            2 => 10,
            _ => 1,
        };
        let candidates =
            [(text.clone(), length), (format!("{text}Z"), length), (format!("{text}:00Z"), 60_000)];
        candidates
            .iter()
            .find_map(|(text, length)| Some((OffsetDateTime::parse(text, &Rfc3339).ok()?, *length)))
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn digits(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Returns the month of a text like `2024-05`.
fn month_of(text: &str) -> Option<u8> {
    let month = text.get(5..7).filter(|_| text.as_bytes()[4] == b'-').and_then(digits)?;
    u8::try_from(month).ok()
}

/// Returns the first millisecond of a day. The end of a period is computed from its last day, because the day after
/// the year 9999 is no date.
fn day(year: i32, month: u8, day: u8) -> Option<i64> {
    milliseconds(midnight(year, month, day)?)
}

fn midnight(year: i32, month: u8, day: u8) -> Option<OffsetDateTime> {
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.midnight().assume_utc())
}

fn milliseconds(at: OffsetDateTime) -> Option<i64> {
    i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
}
