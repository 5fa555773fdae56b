//! XMP: titles, descriptions, keywords, persons, ratings and dates that editors write.

use roxmltree::{Document, Node};

use super::{
    block_text::{BlockText, caption_of},
    metadata_label::{PERSON, date_labels_of_text, metadata_label},
};
use crate::ingest::xml::{XmlLimits, parse_xml};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const DUBLIN_CORE: &str = "http://purl.org/dc/elements/1.1/";
const XMP: &str = "http://ns.adobe.com/xap/1.0/";
const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";
const IPTC_EXTENSION: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
const REGIONS: &str = "http://www.metadataworkinggroup.com/schemas/regions/";

/// Editors declare some dozens.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 64 };

/// Returns nothing for a packet that is not XML or exceeds the limits.
pub fn read(packet: &[u8]) -> BlockText {
    let Ok(text) = str::from_utf8(packet) else { return BlockText::default() };
    // Room for changes is padded with blanks, and sometimes with zeros.
    let text = text.trim_matches(['\0', '\u{feff}', ' ', '\n', '\r', '\t']);
    parse_xml(text, LIMITS).map(|document| read_document(&document)).unwrap_or_default()
}

fn read_document(document: &Document) -> BlockText {
    let first = |namespace, name| values(document, namespace, name).into_iter().next();
    let dates = [first(PHOTOSHOP, "DateCreated"), first(XMP, "CreateDate")];
    let mut labels = dates
        .into_iter()
        .flatten()
        .map(|date| date_labels_of_text(&date))
        .find(|labels| !labels.is_empty())
        .unwrap_or_default();
    // 0 is not rated, -1 rejected.
    let rating = first(XMP, "Rating").and_then(|text| text.trim().parse::<f64>().ok());
    let rating = rating.filter(|stars| (1.0..=5.0).contains(stars));
    labels.extend(rating.map(|stars| metadata_label("rating", stars.round())));
    let persons = values(document, IPTC_EXTENSION, "PersonInImage");
    labels.extend(
        persons.iter().chain(&faces(document)).map(|name| metadata_label(PERSON, name.trim())),
    );
    BlockText {
        caption: caption_of(first(DUBLIN_CORE, "title"), first(DUBLIN_CORE, "description")),
        keywords: values(document, DUBLIN_CORE, "subject"),
        metadata_labels: labels,
    }
}

/// The values of a property, which is an attribute, a text, or a list. Of several languages, the first counts.
fn values(document: &Document, namespace: &str, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for description in document.descendants().filter(|node| node.has_tag_name((RDF, "Description")))
    {
        values.extend(description.attribute((namespace, name)).map(str::to_owned));
        for property in description.children().filter(|node| node.has_tag_name((namespace, name))) {
            let items = |list: Node| -> Vec<String> {
                let items = list.descendants().filter(|node| node.has_tag_name((RDF, "li")));
                items.filter_map(|item| item.text()).map(str::to_owned).collect()
            };
            let list = property.children().find(Node::is_element);
            match list {
                None => values.extend(property.text().map(str::to_owned)),
                Some(list) if list.has_tag_name((RDF, "Alt")) => {
                    values.extend(items(list).into_iter().next());
                }
                Some(list) => values.extend(items(list)),
            }
        }
    }
    values
}

/// The names of faces that were marked in the picture.
fn faces(document: &Document) -> Vec<String> {
    let value = |node: &Node, name: &str| {
        let child = || node.children().find(|child| child.has_tag_name((REGIONS, name)));
        let child = || child().and_then(|child| child.text().map(str::to_owned));
        node.attribute((REGIONS, name)).map(str::to_owned).or_else(child)
    };
    let face = |node: Node| {
        let kind = value(&node, "Type")?;
        if kind == "Face" { value(&node, "Name") } else { None }
    };
    document.descendants().filter(Node::is_element).filter_map(face).collect()
}
