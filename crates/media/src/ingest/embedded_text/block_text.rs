//! What each reader of a metadata block returns, and how the readers write captions, labels and dates.

use std::fmt::Display;

use super::camera_texts::is_boilerplate;
use crate::ingest::sidecar::push_caption;

/// The texts of one block of metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BlockText {
    pub caption: Option<String>,
    pub keywords: Vec<String>,
    pub metadata_labels: Vec<String>,
}

/// Decodes a text of unknown encoding as UTF-8 or, if it is not valid UTF-8, as Latin-1. Zeros at the end are padding.
pub(super) fn decode_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    let latin = || bytes.iter().copied().map(char::from).collect();
    str::from_utf8(bytes).map_or_else(|_| latin(), str::to_owned)
}

/// Joins a title and a description into one caption. Texts of cameras are omitted, and a title that the description
/// repeats.
pub(super) fn joined_caption(title: Option<String>, description: Option<String>) -> Option<String> {
    let mut caption = None;
    let says_something = |text: &String| !is_boilerplate(text);
    let description = description.filter(says_something).unwrap_or_default();
    let title = title.filter(says_something).filter(|title| !description.contains(title.trim()));
    let texts = [title.as_deref(), Some(&*description)];
    texts.into_iter().flatten().for_each(|text| push_caption(&mut caption, text));
    caption
}

/// The only kind of metadata label that may occur several times.
pub(super) const PERSON: &str = "person";

/// Returns a label such as `camera:NIKON D90`.
pub(super) fn metadata_label(kind: &str, value: impl Display) -> String {
    format!("{kind}:{value}")
}

/// Returns `year:2024` and `date:2024-05-17`, or nothing for a day that does not exist.
fn date_labels(year: u16, month: u8, day: u8) -> Vec<String> {
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

/// Returns the labels of a date at the start of a text: `2024-05-17`, `2024:05:17` or `20240517`.
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
