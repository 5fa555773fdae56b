//! `LabelMe`: JSON of one image with `shapes` in pixels and `flags`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name, push_name},
    diagnostics::SidecarDiagnostics,
    json,
};

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

/// Returns what a document says and its problems; `None` if it is other JSON.
pub fn parse(text: &str) -> Option<(MediaDescription, SidecarDiagnostics)> {
    json::parse_object::<LabelMeDocument>(text).map(describe)
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
