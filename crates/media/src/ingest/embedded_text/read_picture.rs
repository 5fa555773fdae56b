//! Merges the texts of all blocks of metadata in a picture.

use tessera_model::is_metadata_label;
use tessera_picture::EmbeddedMetadata;

use super::{exif_fields, iptc_records, metadata_label::first_of_each_kind, png_texts, xmp_packet};
use crate::ingest::sidecar::push_name;

/// The texts in a picture file, with the limits of [`MediaDescription`](crate::ingest::sidecar::MediaDescription).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedText {
    pub caption: Option<String>,
    /// Those of persons, keywords, then metadata labels such as `camera:NIKON D90`.
    pub labels: Vec<String>,
}

/// Reads a picture of any format. The caption is that of XMP, or else of IPTC, Exif or PNG; keywords are merged.
pub fn read(picture: &[u8]) -> EmbeddedText {
    let EmbeddedMetadata { exif, xmp, iptc, texts } = EmbeddedMetadata::read(picture);
    let blocks = [
        xmp.map(|packet| xmp_packet::read(&packet)),
        iptc.map(|records| iptc_records::read(&records)),
        exif.map(|structure| exif_fields::read(&structure)),
        Some(png_texts::read(&texts)),
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
    // Persons before keywords, with which they share a limit.
    for label in persons.iter().chain(&keywords).chain(&metadata) {
        push_name(&mut text.labels, label);
    }
    text
}
