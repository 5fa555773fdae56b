//! What a picture file says about itself: Exif, XMP, IPTC and the texts of PNG give a caption, keywords and metadata
//! labels. All of it is untrusted: sizes and texts are bounded, and what is damaged is left out.

mod block_text;
mod exif_fields;
mod iptc_records;
mod metadata_label;
mod png_texts;
mod read_picture;
mod tiff_structure;
mod xmp_packet;

pub use read_picture::{EmbeddedText, read};

#[cfg(test)]
mod tests;
