//! CVAT for images: `annotations.xml` with an `image` for each picture, which has tags, and boxes and shapes in
//! pixels.

use roxmltree::Node;

use super::{
    candidates::CVAT_XML,
    description::{BoundingBox, MediaDescription, normalized_name, push_name},
    diagnostics::SidecarDiagnostics,
    sidecar_reader::SidecarReader,
};
use crate::ingest::xml::{XmlLimits, parse_xml};

/// A parsed document takes several times as much memory.
const MAX_BYTES: u64 = 32 << 20;
/// CVAT has no namespaces.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 16 };

/// Other XML is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(CVAT_XML) {
        let Some(text) = reader.read_text(sidecar, MAX_BYTES) else { continue };
        let document = match parse_xml(&text, LIMITS) {
            Ok(document) => document,
            Err(why) => {
                reader.report_problem(sidecar, why);
                continue;
            }
        };
        let root = document.root_element();
        if !root.has_tag_name("annotations") {
            continue;
        }
        reader.mark_used(sidecar);
        let mut diagnostics = SidecarDiagnostics::new("image", "images");
        for image in root.children().filter(|node| node.has_tag_name("image")) {
            diagnostics.next_position();
            let name = image.attribute("name").ok_or("it has no name");
            match name.and_then(|name| reader.files.resolve(name, sidecar)) {
                Ok(media) => {
                    let description = describe(image, &mut diagnostics);
                    reader.add_description(media, description);
                }
                Err(why) => diagnostics.report(why),
            }
        }
        reader.report_problems(sidecar, diagnostics);
    }
}

fn describe(image: Node<'_, '_>, diagnostics: &mut SidecarDiagnostics) -> MediaDescription {
    let mut description = MediaDescription::default();
    for shape in image.children().filter(Node::is_element) {
        let kind = shape.tag_name().name();
        let label = shape.attribute("label").and_then(normalized_name);
        // Points and lines mark no part of a picture.
        if !matches!(kind, "tag" | "box" | "polygon" | "ellipse" | "mask") {
            continue;
        }
        let Some(label) = label else {
            diagnostics.report("one of its shapes has no label");
            continue;
        };
        if kind == "tag" {
            push_name(&mut description.labels, &label);
        } else if let Some(extent) = extent(shape, kind) {
            description.push_object(label, extent);
        } else {
            diagnostics
                .report("one of its shapes is empty, outside the picture, or without numbers");
        }
    }
    description
}

fn extent(shape: Node<'_, '_>, kind: &str) -> Option<BoundingBox> {
    let number = |name| shape.attribute(name)?.trim().parse::<f64>().ok();
    match kind {
        "box" => {
            let (left, top) = (number("xtl")?, number("ytl")?);
            BoundingBox::pixels([left, top, number("xbr")? - left, number("ybr")? - top])
        }
        "ellipse" => {
            let (x, y, across, down) = (number("cx")?, number("cy")?, number("rx")?, number("ry")?);
            BoundingBox::pixels([x - across, y - down, 2.0 * across, 2.0 * down])
        }
        "mask" => BoundingBox::pixels([
            number("left")?,
            number("top")?,
            number("width")?,
            number("height")?,
        ]),
        _ => {
            let point = |text: &str| {
                let (x, y) = text.split_once(',')?;
                Some([x.trim().parse().ok()?, y.trim().parse().ok()?])
            };
            let points = shape.attribute("points")?.split(';').map(point);
            BoundingBox::around(&points.collect::<Option<Vec<[f64; 2]>>>()?)
        }
    }
}
