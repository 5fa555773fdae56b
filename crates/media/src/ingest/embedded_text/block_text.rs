//! The texts of a block of metadata, and how they are decoded.

use crate::ingest::sidecar::push_caption;

/// The texts of one block of metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BlockText {
    pub(super) caption: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) metadata_labels: Vec<String>,
}

/// Text of an unknown encoding: UTF-8, or else Latin-1. Cameras pad with zeros.
pub(super) fn decode_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    let latin = || bytes.iter().copied().map(char::from).collect();
    str::from_utf8(bytes).map_or_else(|_| latin(), str::to_owned)
}

/// A title and a description as one caption: a title that the description repeats is left out.
pub(super) fn caption_of(title: Option<String>, description: Option<String>) -> Option<String> {
    let mut caption = None;
    let description = description.unwrap_or_default();
    let title = title.filter(|title| !description.contains(title.trim()));
    let texts = [title.as_deref(), Some(&*description)];
    texts.into_iter().flatten().for_each(|text| push_caption(&mut caption, text));
    caption
}
