//! Makes metadata labels, and those of persons.

use std::collections::HashSet;

/// The kind of label that may occur several times.
pub(super) const PERSON: &str = "person";

/// A label such as `camera:NIKON D90`.
pub(super) fn metadata_label(kind: &str, value: impl std::fmt::Display) -> String {
    format!("{kind}:{value}")
}

/// `year:2024` and `date:2024-05-17`; nothing for a day that does not exist.
pub(super) fn date_labels(year: u16, month: u8, day: u8) -> Vec<String> {
    let month_name = time::Month::try_from(month).ok();
    let date =
        month_name.and_then(|month| time::Date::from_calendar_date(year.into(), month, day).ok());
    // Cameras without a clock write zeros.
    match date {
        Some(_) if year > 0 => vec![
            metadata_label("year", format_args!("{year:04}")),
            metadata_label("date", format_args!("{year:04}-{month:02}-{day:02}")),
        ],
        _ => Vec::new(),
    }
}

/// Labels of a date at the start of a text: `2024-05-17`, `2024:05:17` or `20240517`.
pub(super) fn date_labels_of_text(text: &str) -> Vec<String> {
    let digits: String = (text.trim().chars().filter(|character| !matches!(character, '-' | ':')))
        .take_while(char::is_ascii_digit)
        .take(8)
        .collect();
    let parts = (digits.get(..4), digits.get(4..6), digits.get(6..8));
    let (Some(year), Some(month), Some(day)) = parts else { return Vec::new() };
    match (year.parse(), month.parse(), day.parse()) {
        (Ok(year), Ok(month), Ok(day)) => date_labels(year, month, day),
        _ => Vec::new(),
    }
}

/// The first label of each kind, and all persons.
pub(super) fn first_of_each_kind(labels: Vec<String>) -> Vec<String> {
    let mut kinds = HashSet::new();
    let kind = |label: &String| label.split(':').next().unwrap_or_default().to_owned();
    labels.into_iter().filter(|label| kind(label) == PERSON || kinds.insert(kind(label))).collect()
}
