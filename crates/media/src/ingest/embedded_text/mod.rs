//! Captions, keywords and metadata labels from the metadata in picture files: Exif, XMP, IPTC and the texts of PNG.
//! All of it is untrusted: sizes and texts are bounded, and damaged parts are skipped.

mod block_text;
mod exif_fields;
mod iptc_records;
mod metadata_label;
mod png_texts;
mod read_picture;
mod xmp_packet;

pub use read_picture::{EmbeddedText, read};

#[cfg(test)]
mod tests;
