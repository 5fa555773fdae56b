//! Pascal VOC: XML of one image, next to it or in `Annotations`, with an `object` for each box in
//! pixels.

use roxmltree::Node;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
};
use crate::ingest::xml::{XmlLimits, parse_xml};

/// Sidecar folders, parallel to the image folder.
const ANNOTATION_FOLDERS: [&str; 2] = ["Annotations", "annotations"];

/// VOC has no namespaces.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 16 };

/// Other XML is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let files = &reader.files;
        let in_folder = |folder: &&str| files.sidecar_in_parallel_folder(media, folder, "xml");
        let opposite = || ANNOTATION_FOLDERS.iter().find_map(in_folder);
        let Some(sidecar) = files.sidecar_beside(media, "xml").or_else(opposite) else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        match parse(&text) {
            Ok(Some((description, diagnostics))) => {
                reader.mark_used(sidecar);
                reader.add_description(media, description);
                reader.report_problems(sidecar, diagnostics);
            }
            Ok(None) => {}
            Err(why) => reader.report_problem(sidecar, why),
        }
    }
}

/// Returns the objects of a document and its problems; `None` if it is not VOC.
fn parse(text: &str) -> Result<Option<(MediaDescription, SidecarDiagnostics)>, String> {
    let document = parse_xml(text, LIMITS)?;
    let root = document.root_element();
    if !root.has_tag_name("annotation") {
        return Ok(None);
    }
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("object", "objects");
    for object in root.children().filter(|node| node.has_tag_name("object")) {
        diagnostics.next_position();
        match parse_object(object) {
            Ok((label, extent)) => description.push_object(label, extent),
            Err(why) => diagnostics.report(why),
        }
    }
    Ok(Some((description, diagnostics)))
}

fn parse_object(object: Node<'_, '_>) -> Result<(String, BoundingBox), &'static str> {
    let label = child_text(object, "name").and_then(normalized_name).ok_or("it has no name")?;
    let bndbox = child(object, "bndbox").ok_or("it has no bndbox")?;
    let corner = |tag| {
        let number = child_text(bndbox, tag).and_then(|text| text.trim().parse::<f64>().ok());
        number.ok_or("its bndbox does not have four numbers")
    };
    let (left, top) = (corner("xmin")?, corner("ymin")?);
    let sides = [left, top, corner("xmax")? - left, corner("ymax")? - top];
    let extent = BoundingBox::pixels(sides).ok_or("its bndbox is empty or outside the picture")?;
    Ok((label, extent))
}

fn child<'a, 'd>(node: Node<'a, 'd>, tag: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.has_tag_name(tag))
}

fn child_text<'a>(node: Node<'a, '_>, tag: &str) -> Option<&'a str> {
    child(node, tag)?.text()
}
