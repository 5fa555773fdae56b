//! CVAT: `annotations.xml` with an `image` for each picture, which has tags, and boxes and shapes in pixels, or with
//! tracks of shapes over the frames of a video.

use std::{collections::BTreeMap, path::Path};

use roxmltree::Node;

use super::{
    candidates::CVAT_XML,
    cvat_shapes::{Descriptions, WRONG_SHAPE, extent, marks_a_part},
    cvat_tracks::read_tracks,
    description::{MediaDescription, normalized_name, push_name},
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
        let mut descriptions = BTreeMap::new();
        read_images(reader, sidecar, root, &mut descriptions);
        read_tracks(reader, sidecar, root, &mut descriptions);
        for (media, description) in descriptions {
            reader.add_description(media, description);
        }
    }
}

fn read_images<'a>(
    reader: &mut SidecarReader<'a>,
    sidecar: &Path,
    root: Node<'_, '_>,
    descriptions: &mut Descriptions<'a>,
) {
    let mut diagnostics = SidecarDiagnostics::new("image", "images");
    for image in root.children().filter(|node| node.has_tag_name("image")) {
        diagnostics.next_position();
        let name = image.attribute("name").ok_or("it has no name");
        match name.and_then(|name| reader.files.resolve(name, sidecar)) {
            Ok(media) => {
                let description = describe(image, &mut diagnostics);
                descriptions.entry(media).or_default().merge_missing(description);
            }
            Err(why) => diagnostics.report(why),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

fn describe(image: Node<'_, '_>, diagnostics: &mut SidecarDiagnostics) -> MediaDescription {
    let mut description = MediaDescription::default();
    for shape in image.children().filter(Node::is_element) {
        let kind = shape.tag_name().name();
        let label = shape.attribute("label").and_then(normalized_name);
        if kind != "tag" && !marks_a_part(shape) {
            continue;
        }
        let Some(label) = label else {
            diagnostics.report("one of its shapes has no label");
            continue;
        };
        if kind == "tag" {
            push_name(&mut description.labels, &label);
        } else if let Some(extent) = extent(shape) {
            description.push_object(label, extent);
        } else {
            diagnostics.report(WRONG_SHAPE);
        }
    }
    description
}
