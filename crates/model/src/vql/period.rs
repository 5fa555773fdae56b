//! Points in time as users write them: a year, a month, a day or a second, which is a period with a start and an end.

use time::{Date, Duration, Month, OffsetDateTime, format_description::well_known::Rfc3339};

/// A year, a month, a day, a minute or a second, in UTC if no offset is given.
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
                (day(year, 1, 1)?, day(year + 1, 1, 1)?)
            }
            7 => {
                let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
                let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                (day(year, month, 1)?, day(next.0, next.1, 1)?)
            }
            _ => Self::parse_day_or_time(text)?,
        };
        Some(Self { start: milliseconds(start)?, end: milliseconds(end)?, text: text.to_owned() })
    }

    /// Like [`Self::parse`], but takes no text that could be a number or a month.
    pub fn parse_exact(raw: &str) -> Option<Self> {
        Self::parse(raw).filter(|period| period.text.len() > 7)
    }

    fn parse_day_or_time(text: &str) -> Option<(OffsetDateTime, OffsetDateTime)> {
        if text.len() == 10 {
            let number = text.get(8..).filter(|_| text.as_bytes()[7] == b'-').and_then(digits)?;
            let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
            let start = day(year, month, u8::try_from(number).ok()?)?;
            return Some((start, start.checked_add(Duration::DAY)?));
        }
        // Tables write `2024-05-17 10:20:30 +00:00`.
        let text = text.replacen(' ', "T", 1).replace(' ', "");
        let candidates = [
            (text.clone(), Duration::SECOND),
            (format!("{text}Z"), Duration::SECOND),
            (format!("{text}:00Z"), Duration::MINUTE),
        ];
        candidates.iter().find_map(|(text, length)| {
            let start = OffsetDateTime::parse(text, &Rfc3339).ok()?;
            Some((start, start.checked_add(*length)?))
        })
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

fn day(year: i32, month: u8, day: u8) -> Option<OffsetDateTime> {
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.midnight().assume_utc())
}

fn milliseconds(at: OffsetDateTime) -> Option<i64> {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok()
}
