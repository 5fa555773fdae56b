//! Reads the texts that people and programs add to a picture: XMP and IPTC from photo editors and news agencies, and
//! the texts of PNG, which contain the prompts of generated pictures.

use std::borrow::Cow;

use roxmltree::{Document, Node};

use super::text_rules::{
    BlockText, Dates, PERSON, date_labels_of_text, first_date, joined_caption, metadata_label,
    rating_label,
};
use crate::ingest::{
    documents::{self, XmlLimits, parse_xml},
    text_encoding::{decode_padded_text, to_utf8},
};

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const DUBLIN_CORE: &str = "http://purl.org/dc/elements/1.1/";
const XMP: &str = "http://ns.adobe.com/xap/1.0/";
const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const IPTC_EXTENSION: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
const REGIONS: &str = "http://www.metadataworkinggroup.com/schemas/regions/";
const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
const MICROSOFT_REGION: &str = "http://ns.microsoft.com/photo/1.2/t/Region#";
/// The keywords of editors that write no `dc:subject`, with the folders of the keyword in front of it.
const OTHER_KEYWORDS: [(&str, &str, char); 3] = [
    ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject", '|'),
    ("http://www.digikam.org/ns/1.0/", "TagsList", '/'),
    ("http://ns.microsoft.com/photo/1.0/", "LastKeywordXMP", '/'),
];

/// The limits are high, because editors declare dozens of namespaces.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 64 };

/// Reads an XMP packet in any encoding. Returns nothing if the packet is not XML or exceeds the limits.
pub(crate) fn read_xmp(packet: &[u8]) -> BlockText {
    let text = to_utf8(packet.to_vec());
    parse_xmp(&String::from_utf8_lossy(&text)).unwrap_or_default()
}

/// Parses an XMP document. The error is a reason that is shown to users.
pub(crate) fn parse_xmp(text: &str) -> Result<BlockText, String> {
    let element = xmp_element(text);
    let parse = |text: &str| parse_xml(text, LIMITS).map(|document| read_document(&document));
    parse(&element).or_else(|reason| parse(&with_valid_characters(&element)).map_err(|_| reason))
}

/// The elements that contain the properties, the outermost first.
const XMP_ELEMENTS: [&str; 3] = ["x:xmpmeta", "x:xapmeta", "rdf:RDF"];

/// Returns the element with the properties, because programs leave older packets and other bytes around it. The lines
/// before the element stay as empty lines, so that a reason names the right one.
fn xmp_element(text: &str) -> Cow<'_, str> {
    let found = XMP_ELEMENTS.iter().find_map(|name| {
        let (before, rest) = text.split_at(text.find(&format!("<{name}"))?);
        let end_tag = format!("</{name}>");
        Some((before, &rest[..rest.find(&end_tag)? + end_tag.len()]))
    });
    found.map_or(Cow::Borrowed(text), |(before, element)| {
        Cow::Owned("\n".repeat(before.matches('\n').count()) + element)
    })
}

/// Replaces what XML does not allow in a text: a bare ampersand by its name, and control characters by spaces.
fn with_valid_characters(text: &str) -> String {
    let is_allowed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    let text: String = text.chars().map(|c| if is_allowed(c) { c } else { ' ' }).collect();
    let mut parts = text.split('&');
    let mut valid = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split_once(';').map_or("", |(name, _)| name);
        let is_reference = ["amp", "lt", "gt", "quot", "apos"].contains(&name)
            || name.strip_prefix('#').is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        valid.push_str(if is_reference { "&" } else { "&amp;" });
        valid.push_str(part);
    }
    valid
}

fn read_document(document: &Document) -> BlockText {
    let first = |namespace, name| values(document, namespace, name).into_iter().next();
    let original = [first(PHOTOSHOP, "DateCreated"), first(EXIF, "DateTimeOriginal")];
    let dates = Dates {
        original: first_date(original.into_iter().flatten()),
        digitized: first_date(first(XMP, "CreateDate")),
    };
    let rating = first(XMP, "Rating").and_then(|text| text.trim().parse().ok());
    let mut labels: Vec<String> = rating.and_then(rating_label).into_iter().collect();
    let persons = values(document, IPTC_EXTENSION, "PersonInImage");
    labels.extend(
        persons.iter().chain(&face_names(document)).map(|name| metadata_label(PERSON, name.trim())),
    );
    BlockText {
        caption: joined_caption(first(DUBLIN_CORE, "title"), first(DUBLIN_CORE, "description")),
        keywords: keywords(document),
        labels,
        dates,
        described_extension: first(PHOTOSHOP, "SidecarForExtension"),
    }
}

/// The folder of the keywords with which darktable notes its own work, such as `darktable|exported`.
const DARKTABLE_FOLDER: &str = "darktable|";

/// Returns the keywords. A keyword in folders, such as `animal|dog`, becomes its last part.
fn keywords(document: &Document) -> Vec<String> {
    let [(lightroom, hierarchical, _), ..] = OTHER_KEYWORDS;
    let mut of_darktable = values(document, lightroom, hierarchical);
    of_darktable.retain(|keyword| keyword.starts_with(DARKTABLE_FOLDER));
    let mut subjects = values(document, DUBLIN_CORE, "subject");
    if !subjects.is_empty() {
        let is_part = |subject: &str| {
            of_darktable.iter().any(|keyword| keyword.split('|').any(|part| part == subject))
        };
        subjects.retain(|subject| !is_part(subject));
        return subjects;
    }
    let mut others = OTHER_KEYWORDS.iter().map(|(namespace, name, separator)| {
        let keywords = values(document, namespace, name).into_iter();
        let keywords = keywords.filter(|keyword| !of_darktable.contains(keyword));
        let last = |keyword: String| keyword.rsplit(*separator).next().map(str::to_owned);
        keywords.filter_map(last).collect::<Vec<String>>()
    });
    others.find(|keywords| !keywords.is_empty()).unwrap_or_default()
}

/// Returns the values of a property, which is an attribute, a text, or a list. If a text has several languages, the
/// default language is taken, or else the first one.
fn values(document: &Document, namespace: &str, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for description in document.descendants().filter(|node| node.has_tag_name((RDF, "Description")))
    {
        values.extend(description.attribute((namespace, name)).map(str::to_owned));
        for property in description.children().filter(|node| node.has_tag_name((namespace, name))) {
            let items = |list: Node| -> Vec<String> {
                let items = list.descendants().filter(|node| node.has_tag_name((RDF, "li")));
                let (default, others): (Vec<_>, Vec<_>) = items.partition(is_default_language);
                let items = default.into_iter().chain(others);
                items.filter_map(text_of).collect()
            };
            match property.descendants().find(is_list) {
                None => values.extend(text_of(property)),
                Some(list) if list.has_tag_name((RDF, "Alt")) => {
                    values.extend(items(list).into_iter().next());
                }
                Some(list) => values.extend(items(list)),
            }
        }
    }
    values
}

fn is_list(node: &Node) -> bool {
    ["Alt", "Bag", "Seq"].iter().any(|name| node.has_tag_name((RDF, *name)))
}

/// Returns the text of a value. A value with qualifiers has its text in an attribute or an inner element.
fn text_of(value: Node<'_, '_>) -> Option<String> {
    let mut node = value;
    loop {
        if let Some(text) = node.attribute((RDF, "value")) {
            return Some(text.to_owned());
        }
        let is_inner =
            |it: &Node| ["value", "Description"].iter().any(|name| it.has_tag_name((RDF, *name)));
        match node.children().find(is_inner) {
            Some(inner) => node = inner,
            None => return documents::text_of(node),
        }
    }
}

fn is_default_language(item: &Node) -> bool {
    item.attribute((XML, "lang")) == Some("x-default")
}

/// Returns the names of the people whose faces were marked in the picture.
fn face_names(document: &Document) -> Vec<String> {
    let value = |node: &Node, namespace: &str, name: &str| {
        let child = || node.children().find(|child| child.has_tag_name((namespace, name)));
        let child = || child().and_then(documents::text_of);
        node.attribute((namespace, name)).map(str::to_owned).or_else(child)
    };
    let face = |node: Node| {
        let kind = value(&node, REGIONS, "Type")?;
        if kind == "Face" { value(&node, REGIONS, "Name") } else { None }
    };
    let faces = document.descendants().filter(Node::is_element);
    let marked = |node: Node| value(&node, MICROSOFT_REGION, "PersonDisplayName");
    faces.filter_map(|node| face(node).or_else(|| marked(node))).collect()
}

/// The Photoshop resource that contains the IPTC records.
const IPTC_RESOURCE: u16 = 0x0404;
/// The byte with which each data set of a record begins.
const DATA_SET: u8 = 0x1C;
/// The record with the description of the picture. The constants below are its data sets.
const DESCRIPTION_RECORD: u8 = 2;
const TITLE: u8 = 5;
const KEYWORD: u8 = 25;
const DATE_CREATED: u8 = 55;
const HEADLINE: u8 = 105;
const CAPTION: u8 = 120;

/// Reads IPTC records, or the Photoshop resources that contain them, up to the first damaged record.
pub(crate) fn read_iptc(block: &[u8]) -> BlockText {
    let swapped: Vec<u8>;
    let records = match block {
        [b'8', b'B', b'I', b'M', ..] => iptc_resource(block),
        // Some programs store the records in a TIFF as long numbers, and in the other byte order.
        [first, _, _, DATA_SET, ..] if *first != DATA_SET => {
            let longs = block.as_chunks().0.iter();
            swapped = longs.flat_map(|&[a, b, c, d]| [d, c, b, a]).collect();
            Some(&*swapped)
        }
        _ => Some(block),
    };
    let mut rest = records.unwrap_or_default();
    let (mut title, mut headline, mut caption) = (None, None, None);
    let mut text = BlockText::default();
    while let Some((data_set, after)) = split_data_set(rest) {
        rest = after;
        if data_set.record != DESCRIPTION_RECORD {
            continue;
        }
        let value = decode_padded_text(data_set.body);
        match data_set.number {
            TITLE => title = Some(value),
            HEADLINE => headline = Some(value),
            CAPTION => caption = Some(value),
            KEYWORD => text.keywords.push(value),
            DATE_CREATED => text.dates.original = date_labels_of_text(&value),
            _ => {}
        }
    }
    text.caption = joined_caption(headline.or(title), caption);
    text
}

/// A text in an IPTC record.
struct DataSet<'a> {
    record: u8,
    number: u8,
    body: &'a [u8],
}

/// Splits off the first data set of the bytes.
fn split_data_set(bytes: &[u8]) -> Option<(DataSet<'_>, &[u8])> {
    let (&[DATA_SET, record, number, high, low], after) = bytes.split_first_chunk()? else {
        return None;
    };
    // A data set whose length has its highest bit set is not a text.
    let (body, after) = after.split_at_checked(u16::from_be_bytes([high, low]).into())?;
    Some((DataSet { record, number, body }, after))
}

/// Finds the IPTC resource among the resources of Photoshop.
fn iptc_resource(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let after = bytes.strip_prefix(b"8BIM")?;
        let (id, after) = after.split_first_chunk()?;
        // The name follows its length. Name and body are padded to an even number of bytes.
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

/// The first words of the lines that follow the prompt of a generated picture.
const AFTER_PROMPT: [&str; 2] = ["\nNegative prompt:", "\nSteps:"];

pub(crate) fn read_png_texts(texts: &[(String, String)]) -> BlockText {
    let find = |name: &str| {
        let found = texts.iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(name));
        found.map(|(_, text)| text.clone())
    };
    let prompt = find("parameters").map(|text| {
        let ends = AFTER_PROMPT.iter().filter_map(|line| text.find(line));
        text[..ends.min().unwrap_or(text.len())].to_owned()
    });
    BlockText {
        caption: joined_caption(find("Title"), find("Description").or(prompt)),
        dates: Dates { original: first_date(find("Creation Time")), ..Dates::default() },
        ..BlockText::default()
    }
}
