//! Reads captions, keywords and metadata labels from the metadata in picture files: Exif, XMP, IPTC and the texts of PNG.
//! All metadata is untrusted, so sizes and texts are bounded, and damaged parts are skipped.

mod editor_texts;
mod exif;

use std::collections::HashSet;

use tessera_model::is_metadata_label;
use tessera_picture::EmbeddedMetadata;

use super::sidecar::{push_caption, push_name};
use editor_texts::{read_iptc, read_png_texts, read_xmp};
use exif::read_exif;

/// The texts in a picture file, with the limits of [`MediaDescription`](crate::ingest::sidecar::MediaDescription).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedText {
    pub caption: Option<String>,
    /// Labels of persons, then keywords, then metadata labels such as `camera:NIKON D90`.
    pub labels: Vec<String>,
}

/// Reads a picture of any format. The caption is the first one of XMP, IPTC, Exif and PNG; keywords are merged.
pub fn read(picture: &[u8]) -> EmbeddedText {
    let EmbeddedMetadata { exif, xmp, iptc, texts } = EmbeddedMetadata::read(picture);
    let blocks = [
        xmp.map(|packet| read_xmp(&packet)),
        iptc.map(|records| read_iptc(&records)),
        exif.map(|structure| read_exif(&structure)),
        Some(read_png_texts(&texts)),
    ];
    let mut text = EmbeddedText::default();
    let (mut keywords, mut metadata) = (Vec::new(), Vec::new());
    for block in blocks.into_iter().flatten() {
        text.caption = text.caption.or(block.caption);
        keywords.extend(block.keywords);
        metadata.extend(block.metadata_labels);
    }
    let (metadata, persons): (Vec<_>, Vec<_>) =
        first_of_each_kind(metadata).into_iter().partition(|label| is_metadata_label(label));
    // Labels of persons come first, because they share a limit with keywords.
    for label in persons.iter().chain(&keywords).chain(&metadata) {
        push_name(&mut text.labels, label);
    }
    text
}

/// The texts of one block of metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockText {
    pub caption: Option<String>,
    pub keywords: Vec<String>,
    pub(crate) metadata_labels: Vec<String>,
}

/// Decodes a text of an unknown encoding as UTF-8, or as Latin-1 if it is not UTF-8. Zeros at the end are padding.
pub(crate) fn decode_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    let latin = || bytes.iter().copied().map(char::from).collect();
    str::from_utf8(bytes).map_or_else(|_| latin(), str::to_owned)
}

/// Joins a title and a description into one caption, without a title that the description repeats.
pub(crate) fn joined_caption(title: Option<String>, description: Option<String>) -> Option<String> {
    let mut caption = None;
    let description = description.unwrap_or_default();
    let title = title.filter(|title| !description.contains(title.trim()));
    let texts = [title.as_deref(), Some(&*description)];
    texts.into_iter().flatten().for_each(|text| push_caption(&mut caption, text));
    caption
}

/// The kind of label that may occur several times.
pub(crate) const PERSON: &str = "person";

/// Returns a label such as `camera:NIKON D90`.
pub(crate) fn metadata_label(kind: &str, value: impl std::fmt::Display) -> String {
    format!("{kind}:{value}")
}

/// Returns `year:2024` and `date:2024-05-17`; nothing for a day that does not exist.
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
pub(crate) fn date_labels_of_text(text: &str) -> Vec<String> {
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

/// Keeps the first label of each kind, and all labels of persons.
fn first_of_each_kind(labels: Vec<String>) -> Vec<String> {
    let mut kinds = HashSet::new();
    let kind = |label: &String| label.split(':').next().unwrap_or_default().to_owned();
    labels.into_iter().filter(|label| kind(label) == PERSON || kinds.insert(kind(label))).collect()
}

#[cfg(test)]
mod tests;
