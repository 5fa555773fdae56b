//! Reads captions, keywords and metadata labels from the metadata in picture files: Exif, XMP, IPTC and the texts of
//! PNG. Metadata is untrusted, so sizes and texts are bounded, and damaged parts are skipped.

mod editor_texts;
mod exif;
mod text_rules;

use std::collections::HashSet;

use tessera_model::is_metadata_label;
use tessera_picture::EmbeddedMetadata;

use super::sidecar::push_name;
use editor_texts::{parse_xmp, read_iptc, read_png_texts, read_xmp};
use exif::{read_exif, read_gps};
pub(crate) use text_rules::rating_label;
use text_rules::{BlockText, PERSON, date_labels_of_text, joined_caption, metadata_label};

/// The texts in a picture file, with the limits of [`MediaDescription`](crate::ingest::sidecar::MediaDescription).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedText {
    pub caption: Option<String>,
    /// Labels of persons, followed by keywords and by metadata labels such as `camera:NIKON D90`.
    pub labels: Vec<String>,
}

impl EmbeddedText {
    /// Returns the labels for a picture that already has labels of a sidecar. If a picture can have only one value,
    /// such as a date or a rating, the value of the sidecar is used.
    pub fn labels_beside(&self, labels: &[String]) -> Vec<&str> {
        let is_known = |label: &str| {
            labels.iter().any(|known| is_metadata_label(known) && kind(known) == kind(label))
        };
        let own = self.labels.iter().map(String::as_str);
        own.filter(|label| !is_metadata_label(label) || !is_known(label)).collect()
    }
}

/// Returns what a metadata label is about. Year and date belong together.
fn kind(label: &str) -> &str {
    match label.split(':').next().unwrap_or_default() {
        "year" => "date",
        kind => kind,
    }
}

/// Reads a picture of any format. The caption is the first one found in XMP, IPTC, Exif and PNG, in this order. The
/// date is found in the same order, but a date of the scene precedes any date of the file. Keywords are merged.
pub fn read(picture: &[u8]) -> EmbeddedText {
    let EmbeddedMetadata { exif, exif_parts: [taken, gps], xmp, extended_xmp, iptc, texts } =
        EmbeddedMetadata::read(picture);
    merged([
        xmp.map(|packet| read_xmp(&packet)),
        extended_xmp.map(|packet| read_xmp(&packet)),
        iptc.map(|records| read_iptc(&records)),
        exif.map(|structure| read_exif(&structure)),
        taken.map(read_exif),
        gps.map(read_gps),
        Some(read_png_texts(&texts)),
    ])
}

/// The content of an XMP file beside a picture.
pub(super) struct XmpFile {
    pub text: EmbeddedText,
    /// The extension of the described file. Without it, all files of the same name are described.
    pub described_extension: Option<String>,
}

/// Reads an XMP file. The error is a reason that is shown to users.
pub(super) fn read_xmp_file(text: &str) -> Result<XmpFile, String> {
    let mut block = parse_xmp(text)?;
    let described_extension = block.described_extension.take();
    Ok(XmpFile { text: merged([Some(block)]), described_extension })
}

/// Returns the description of a picture that a photo program has copied, unless a camera wrote it.
pub(super) fn caption_of_photo(description: Option<String>) -> Option<String> {
    joined_caption(None, description)
}

/// Returns the labels for persons and for a time, in seconds since 1970.
pub(super) fn labels_of_photo(persons: &[&str], taken_at: Option<i64>) -> Vec<String> {
    let date = taken_at.and_then(|seconds| time::OffsetDateTime::from_unix_timestamp(seconds).ok());
    let date = date.map(|date| date_labels_of_text(&date.date().to_string()));
    let persons = persons.iter().map(|name| metadata_label(PERSON, name.trim()));
    persons.chain(date.into_iter().flatten()).collect()
}

fn merged<const N: usize>(blocks: [Option<BlockText>; N]) -> EmbeddedText {
    let mut text = EmbeddedText::default();
    let (mut keywords, mut metadata) = (Vec::new(), Vec::new());
    let (mut original, mut digitized) = (Vec::new(), Vec::new());
    for block in blocks.into_iter().flatten() {
        text.caption = text.caption.or(block.caption);
        keywords.extend(block.keywords);
        metadata.extend(block.labels);
        original.push(block.dates.original);
        digitized.push(block.dates.digitized);
    }
    let date = original.into_iter().chain(digitized).find(|labels| !labels.is_empty());
    metadata.splice(..0, date.unwrap_or_default());
    let (metadata, persons): (Vec<_>, Vec<_>) =
        first_of_each_kind(metadata).into_iter().partition(|label| is_metadata_label(label));
    // Labels of persons come first, because they share a limit with keywords.
    for label in persons.iter().chain(&keywords).chain(&metadata) {
        push_name(&mut text.labels, label);
    }
    text
}

/// Keeps the first label of each kind, and all labels of persons.
fn first_of_each_kind(labels: Vec<String>) -> Vec<String> {
    let mut kinds = HashSet::new();
    let name = |label: &String| label.split(':').next().unwrap_or_default().to_owned();
    labels.into_iter().filter(|label| name(label) == PERSON || kinds.insert(name(label))).collect()
}

#[cfg(test)]
mod tests;
