//! Reads the XML of Pascal VOC, and of tools that write turned boxes or polygons in the same format, such as
//! `roLabelImg` and the first `LabelMe`. A document describes the objects in one picture.

use roxmltree::Node;

use super::prelude::*;
use super::{annotation_files::PictureAnnotations, description::turned_corners};

/// The folders, parallel to the image folder, in which VOC keeps its documents.
pub(crate) const ANNOTATION_FOLDERS: [&str; 2] = ["Annotations", "annotations"];

/// Returns the objects in a document and the problems of the document.
pub(super) fn parse(root: Node<'_, '_>) -> PictureAnnotations {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("object", "objects");
    for object in root.children().filter(|node| node.has_tag_name("object")) {
        diagnostics.next_position();
        let end = parse_object(object).and_then(|(label, extent, annotation)| {
            description.push_annotated(label, extent, annotation)
        });
        diagnostics.check(end);
    }
    let side = |parent, tag| number(child(root, parent)?, tag);
    description.stated_size = StatedSize::new(
        side("size", "width").or_else(|| side("imagesize", "ncols")),
        side("size", "height").or_else(|| side("imagesize", "nrows")),
    );
    let names = ["filename", "path"].into_iter().filter_map(|tag| child_text(root, tag));
    let file_name = names.map(str::trim).find(|name| !name.is_empty());
    let folder = child_text(root, "folder").map(|folder| folder.trim().to_owned());
    PictureAnnotations { file_name: file_name.map(str::to_owned), folder, description, diagnostics }
}

fn parse_object(object: Node<'_, '_>) -> Result<(String, BoundingBox, Annotation), &'static str> {
    let label = child_text(object, "name").and_then(normalized_name).ok_or("it has no name")?;
    if let Some(bndbox) = child(object, "bndbox") {
        let corner = |tag| number(bndbox, tag).ok_or("its bndbox does not have four numbers");
        let corners = [[corner("xmin")?, corner("ymin")?], [corner("xmax")?, corner("ymax")?]];
        let extent =
            BoundingBox::around(&corners).ok_or("its bndbox is empty or outside the picture")?;
        return Ok((label, extent, Annotation::default()));
    }
    let points = if let Some(turned) = child(object, "robndbox") {
        let number = |tag| number(turned, tag).ok_or("its robndbox does not have five numbers");
        let center = [number("cx")?, number("cy")?];
        turned_corners(center, [number("w")?, number("h")?], number("angle")?)
    } else {
        let polygon = child(object, "polygon").ok_or("it has no bndbox")?;
        let points = polygon.children().filter(|node| node.has_tag_name("pt"));
        let points = points.map(|point| Some([number(point, "x")?, number(point, "y")?]));
        points.collect::<Option<_>>().ok_or("its polygon is not a list of points")?
    };
    let extent = BoundingBox::around(&points).ok_or("it is empty or outside the picture")?;
    Ok((label, extent, Annotation::outline(points)))
}

fn child<'a, 'd>(node: Node<'a, 'd>, tag: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.has_tag_name(tag))
}

fn child_text<'a>(node: Node<'a, '_>, tag: &str) -> Option<&'a str> {
    child(node, tag)?.text()
}

fn number(node: Node<'_, '_>, tag: &str) -> Option<f64> {
    child_text(node, tag)?.trim().parse().ok()
}
