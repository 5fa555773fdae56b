//! Writes numbers as users read them: counts with nouns, sizes, durations and ages.

use std::{fmt, time::Duration};

use time::OffsetDateTime;

/// Formats a size for display: `10.9 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown to three digits")]
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", value / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", value / f64::from(1 << 20)),
        _ => format!("{:.2} GiB", value / f64::from(1 << 30)),
    }
}

pub fn count_with_noun<N: Copy + fmt::Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == 1.into() { one } else { many };
    format!("{count} {noun}")
}

/// Formats a number with a thousands separator and its noun: `1 image`, `48 210 images`.
pub fn grouped_with_noun(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", group_digits(count))
}

/// Formats a number with a thousands separator: `48 210`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a duration as `06:11` or `1:06:11`.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

pub fn format_age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Formats the day in UTC of a time in milliseconds since 1970: `2024-05-17`. Returns `None` for a year that no calendar
/// has.
pub fn format_day(milliseconds: i64) -> Option<String> {
    let time = OffsetDateTime::from_unix_timestamp(milliseconds.div_euclid(1_000)).ok()?;
    Some(time.date().to_string())
}

/// Formats the time to wait, rounded as people say it: `30 s`, `5 min`, `1 h`.
pub fn format_wait(wait: Duration) -> String {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    let rounded = |unit: u64| seconds.saturating_add(unit / 2) / unit;
    match seconds {
        ..90 => format!("{seconds} s"),
        90..3_570 => format!("{} min", rounded(60)),
        3_570..171_000 => format!("{} h", rounded(3_600)),
        _ => format!("{} days", rounded(86_400)),
    }
}

/// Returns the first of `count` names, and the number of the others: `a, b and 3 more`.
pub fn first_names<N: fmt::Display>(
    names: impl IntoIterator<Item = N>,
    count: usize,
    limit: usize,
) -> String {
    let first: Vec<String> = names.into_iter().take(limit).map(|name| name.to_string()).collect();
    match count.saturating_sub(first.len()) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
