//! `LabelMe`: JSON of one image, next to it, with `shapes` in pixels and `flags`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name, push_name},
    diagnostics::SidecarDiagnostics,
    json,
    sidecar_reader::SidecarReader,
};

/// A file usually contains the picture, too.
const MAX_BYTES: u64 = 32 << 20;

#[derive(Deserialize)]
struct LabelMeDocument {
    shapes: Vec<Shape>,
    /// Labels of the whole picture, and whether they apply.
    #[serde(default)]
    flags: Option<BTreeMap<String, bool>>,
}

#[derive(Deserialize)]
struct Shape {
    label: String,
    points: Vec<[f64; 2]>,
    #[serde(rename = "shape_type")]
    kind: Option<String>,
}

/// Other JSON is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let Some(sidecar) = reader.files.sidecar_beside(media, "json") else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_BYTES) else { continue };
        let Some(document) = json::parse_object::<LabelMeDocument>(&text) else { continue };
        reader.mark_used(sidecar);
        let (description, diagnostics) = describe(document);
        reader.add_description(media, description);
        reader.report_problems(sidecar, diagnostics);
    }
}

fn describe(document: LabelMeDocument) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("shape", "shapes");
    for (name, applies) in document.flags.unwrap_or_default() {
        if applies {
            push_name(&mut description.labels, &name);
        }
    }
    for shape in document.shapes {
        diagnostics.next_position();
        // Points and lines mark no part of a picture.
        if matches!(shape.kind.as_deref(), Some("point" | "points" | "line" | "linestrip")) {
            continue;
        }
        match (normalized_name(&shape.label), extent(&shape)) {
            (None, _) => diagnostics.report("it has no label"),
            (_, None) => diagnostics.report("it is empty or outside the picture"),
            (Some(label), Some(extent)) => description.push_object(label, extent),
        }
    }
    (description, diagnostics)
}

fn extent(shape: &Shape) -> Option<BoundingBox> {
    if shape.kind.as_deref() == Some("circle") {
        let [[x, y], [edge_x, edge_y]] = shape.points[..] else { return None };
        let radius = (edge_x - x).hypot(edge_y - y);
        return BoundingBox::pixels([x - radius, y - radius, 2.0 * radius, 2.0 * radius]);
    }
    BoundingBox::around(&shape.points)
}
