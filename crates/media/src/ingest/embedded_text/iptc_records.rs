//! IPTC (Information Interchange Model): the older texts of news agencies and photo editors.

use super::{
    block_text::{BlockText, caption_of, decode_text},
    metadata_label::date_labels_of_text,
};

/// The Photoshop resource that contains the records.
const IPTC_RESOURCE: u16 = 0x0404;
/// The record of descriptions, and its data sets.
const DESCRIPTION_RECORD: u8 = 2;
const TITLE: u8 = 5;
const KEYWORD: u8 = 25;
const DATE_CREATED: u8 = 55;
const HEADLINE: u8 = 105;
const CAPTION: u8 = 120;

/// Reads records, or the Photoshop resources that contain them, up to the first damaged one.
pub fn read(block: &[u8]) -> BlockText {
    let records = if block.starts_with(b"8BIM") { iptc_resource(block) } else { Some(block) };
    let mut rest = records.unwrap_or_default();
    let (mut title, mut headline, mut caption) = (None, None, None);
    let mut text = BlockText::default();
    while let Some((data_set, after)) = split_data_set(rest) {
        rest = after;
        if data_set.record != DESCRIPTION_RECORD {
            continue;
        }
        let value = decode_text(data_set.body);
        match data_set.number {
            TITLE => title = Some(value),
            HEADLINE => headline = Some(value),
            CAPTION => caption = Some(value),
            KEYWORD => text.keywords.push(value),
            DATE_CREATED => text.metadata_labels = date_labels_of_text(&value),
            _ => {}
        }
    }
    text.caption = caption_of(headline.or(title), caption);
    text
}

/// One text of a record.
struct DataSet<'a> {
    record: u8,
    number: u8,
    body: &'a [u8],
}

/// The first data set, and what follows it.
fn split_data_set(bytes: &[u8]) -> Option<(DataSet<'_>, &[u8])> {
    let (&[0x1C, record, number, high, low], after) = bytes.split_first_chunk()? else {
        return None;
    };
    // Longer data sets, whose length has its highest bit set, are not text.
    let (body, after) = after.split_at_checked(u16::from_be_bytes([high, low]).into())?;
    Some((DataSet { record, number, body }, after))
}

/// The resource of IPTC among those of Photoshop.
fn iptc_resource(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let after = bytes.strip_prefix(b"8BIM")?;
        let (id, after) = after.split_first_chunk()?;
        // A name with its length before it; padded to an even number of bytes, like the body.
        let name = usize::from(*after.first()?) + 1;
        let after = after.get(name.next_multiple_of(2)..)?;
        let (length, after) = after.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let body = after.get(..length)?;
        if u16::from_be_bytes(*id) == IPTC_RESOURCE {
            return Some(body);
        }
        bytes = after.get(length.next_multiple_of(2)..)?;
    }
}
