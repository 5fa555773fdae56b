//! Reads the annotation file of a single image: JSON of `LabelMe`, JSON with the columns of a metadata table (as in
//! shards of `WebDataset`), or XML of Pascal VOC.

use std::collections::BTreeMap;

use roxmltree::Node;
use serde::Deserialize;
use tessera_model::Annotation;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name, push_name},
    diagnostics::SidecarDiagnostics,
    metadata_row::{SidecarRow, describe_row},
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
};
use crate::ingest::documents::{self, XmlLimits, parse_xml};

/// Maximum size of a file. The limit is high because a `LabelMe` file usually contains the picture.
const MAX_JSON_BYTES: u64 = 32 << 20;

/// Reads the documents of these formats, and ignores other JSON.
pub(crate) fn read_json(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let Some(sidecar) = reader.files.sidecar_beside(media, "json") else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_JSON_BYTES) else { continue };
        let described = parse_labelme(&text).or_else(|| {
            let row = SidecarRow::parse(&text).filter(SidecarRow::describes)?;
            let mut diagnostics = SidecarDiagnostics::new("object", "objects");
            diagnostics.next_position();
            let description = describe_row(&row, &mut diagnostics);
            Some((description, diagnostics))
        });
        let Some((description, diagnostics)) = described else { continue };
        reader.mark_used(sidecar);
        reader.add_description(media, description);
        reader.report_problems(sidecar, diagnostics);
    }
}

#[derive(Deserialize)]
struct LabelMeDocument {
    shapes: Vec<LabelMeShape>,
    /// Labels of the whole picture. The values say whether a label applies.
    #[serde(default)]
    flags: Option<BTreeMap<String, bool>>,
}

#[derive(Deserialize)]
struct LabelMeShape {
    label: String,
    points: Vec<[f64; 2]>,
    #[serde(rename = "shape_type")]
    kind: Option<String>,
    score: Option<f64>,
}

/// Returns the description in a document and the problems of the document. Returns `None` for other JSON.
fn parse_labelme(text: &str) -> Option<(MediaDescription, SidecarDiagnostics)> {
    documents::parse_object::<LabelMeDocument>(text).map(describe_labelme)
}

fn describe_labelme(document: LabelMeDocument) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("shape", "shapes");
    for (name, applies) in document.flags.unwrap_or_default() {
        if applies {
            push_name(&mut description.labels, &name);
        }
    }
    for shape in document.shapes {
        diagnostics.next_position();
        // Points and lines do not mark a part of the picture.
        if matches!(shape.kind.as_deref(), Some("point" | "points" | "line" | "linestrip")) {
            continue;
        }
        match (normalized_name(&shape.label), labelme_extent(&shape)) {
            (None, _) => diagnostics.report("it has no label"),
            (_, None) => diagnostics.report("it is empty or outside the picture"),
            (Some(label), Some(extent)) => {
                let is_polygon = matches!(shape.kind.as_deref(), None | Some("polygon"));
                let outline = if is_polygon { shape.points } else { Vec::new() };
                let annotation = Annotation::outline(outline);
                let annotation = Annotation { score: shape.score, ..annotation };
                diagnostics.check(description.push_annotated(label, extent, annotation));
            }
        }
    }
    (description, diagnostics)
}

fn labelme_extent(shape: &LabelMeShape) -> Option<BoundingBox> {
    if shape.kind.as_deref() == Some("circle") {
        let [[x, y], [edge_x, edge_y]] = shape.points[..] else { return None };
        let radius = (edge_x - x).hypot(edge_y - y);
        return BoundingBox::pixels([x - radius, y - radius, 2.0 * radius, 2.0 * radius]);
    }
    BoundingBox::around(&shape.points)
}

/// Folders of sidecars that are parallel to the image folder.
pub(crate) const ANNOTATION_FOLDERS: [&str; 2] = ["Annotations", "annotations"];

/// VOC has no namespaces.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 16 };

/// Reads the documents of this format, and ignores other XML.
pub(crate) fn read_voc(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let files = &reader.files;
        let in_folder = |folder: &&str| files.sidecar_in_parallel_folder(media, folder, "xml");
        let opposite = || ANNOTATION_FOLDERS.iter().find_map(in_folder);
        let Some(sidecar) = files.sidecar_beside(media, "xml").or_else(opposite) else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        match parse_voc(&text) {
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

/// Returns the objects in a document and the problems of the document. Returns `None` if the document is not VOC.
fn parse_voc(text: &str) -> Result<Option<(MediaDescription, SidecarDiagnostics)>, String> {
    let document = parse_xml(text, LIMITS)?;
    let root = document.root_element();
    if !root.has_tag_name("annotation") {
        return Ok(None);
    }
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("object", "objects");
    for object in root.children().filter(|node| node.has_tag_name("object")) {
        diagnostics.next_position();
        match parse_voc_object(object) {
            Ok((label, extent)) => description.push_object(label, extent),
            Err(why) => diagnostics.report(why),
        }
    }
    Ok(Some((description, diagnostics)))
}

fn parse_voc_object(object: Node<'_, '_>) -> Result<(String, BoundingBox), &'static str> {
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
