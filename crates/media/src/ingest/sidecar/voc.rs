//! Reads the XML of Pascal VOC, and of tools that write turned boxes or polygons in the same format, such as
//! `roLabelImg`, the first `LabelMe` and the dataset FAIR1M. A document describes the objects in one picture.

use std::{collections::BTreeMap, iter};

use roxmltree::Node;

use super::prelude::*;
use super::{
    annotation_files::PictureAnnotations,
    bounding_box::{turned_box, turned_corners},
};

/// The folders, parallel to the image folder, in which VOC keeps its documents.
pub(crate) const ANNOTATION_FOLDERS: [&str; 2] = ["Annotations", "annotations"];

/// Returns the objects in a document and the problems of the document.
pub(super) fn parse(root: Node<'_, '_>) -> PictureAnnotations {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("object", "objects");
    let lists = iter::once(root).chain(child(root, "objects"));
    let objects = lists.flat_map(|list| list.children());
    for object in objects.filter(|node| node.has_tag_name("object")) {
        diagnostics.next_position();
        diagnostics.check(add_object(object, &mut description));
    }
    let side = |parent, tag| number(child(root, parent)?, tag);
    description.stated_size = StatedSize::new(
        side("size", "width").or_else(|| side("imagesize", "ncols")),
        side("size", "height").or_else(|| side("imagesize", "nrows")),
    );
    let text = |tag| child_text(root, tag).map(|text| text.trim().to_owned());
    let source = || child_text(child(root, "source")?, "filename");
    let mut names = ["filename", "path"].into_iter().filter_map(text).chain(source());
    let file_name = names.find(|name| !name.is_empty());
    PictureAnnotations { file_name, folder: text("folder"), description, diagnostics }
}

fn add_object(
    object: Node<'_, '_>,
    description: &mut MediaDescription,
) -> Result<(), &'static str> {
    let named = child(object, "possibleresult").unwrap_or(object);
    let label = child_text(named, "name")
        .and_then(|name| normalized_name(&name))
        .ok_or("it has no name")?;
    let outline = outline(object);
    let outlined = || BoundingBox::around(outline.as_ref().ok()?);
    let extent = match child(object, "bndbox").filter(|_| rotation(object).is_none()) {
        Some(bndbox) => bndbox_extent(bndbox).or_else(|why| outlined().ok_or(why)),
        None if outline == Ok(Vec::new()) => Err("it has no bndbox"),
        None => outline.clone().and(outlined().ok_or("it is empty or outside the picture")),
    }?;
    let end = outline.as_ref().map(drop).map_err(|why| *why);
    let annotation = Annotation::outline(outline.unwrap_or_default());
    let pushed = description.push_annotated(label.clone(), extent, annotation).and(end);
    // Some tools write all boxes of a class as one object.
    let further = object.children().filter(|node| node.has_tag_name("bndbox")).skip(1);
    let pushed_further = further.map(|bndbox| {
        description.push_annotated(label.clone(), bndbox_extent(bndbox)?, Annotation::default())
    });
    pushed_further.fold(pushed, Result::and)
}

fn bndbox_extent(bndbox: Node<'_, '_>) -> Result<BoundingBox, &'static str> {
    BoundingBox::around(&bndbox_corners(bndbox)?)
        .ok_or("its bndbox is empty or outside the picture")
}

fn bndbox_corners(bndbox: Node<'_, '_>) -> Result<[[f64; 2]; 2], &'static str> {
    let corner = |tag| number(bndbox, tag).ok_or("its bndbox does not have four numbers");
    Ok([[corner("xmin")?, corner("ymin")?], [corner("xmax")?, corner("ymax")?]])
}

/// Returns the degrees by which CVAT turns the bndbox of an object.
fn rotation(object: Node<'_, '_>) -> Option<f64> {
    let attributes = child(object, "attributes")?.children();
    let mut turned = attributes.filter(|it| child_text(*it, "name").as_deref() == Some("rotation"));
    number(turned.next()?, "value").filter(|degrees| *degrees != 0.0)
}

/// Returns the corners of the turned box or polygon of an object. They are empty if the object has neither.
fn outline(object: Node<'_, '_>) -> Result<Vec<[f64; 2]>, &'static str> {
    if let (Some(degrees), Some(bndbox)) = (rotation(object), child(object, "bndbox")) {
        let [[left, top], [right, bottom]] = bndbox_corners(bndbox)?;
        return Ok(turned_box([left, top, right - left, bottom - top], degrees));
    }
    if let Some(turned) = child(object, "robndbox") {
        let number = |tag| number(turned, tag).ok_or("its robndbox does not have five numbers");
        let center = [number("cx")?, number("cy")?];
        return Ok(turned_corners(center, [number("w")?, number("h")?], number("angle")?));
    }
    let polygon = child(object, "polygon").or_else(|| child(object, "points"));
    let polygon = polygon.filter(|it| it.children().any(|it| it.is_element()));
    polygon.map_or(Ok(Vec::new()), |polygon| {
        polygon_points(polygon).ok_or("its polygon is not a list of points")
    })
}

/// Returns the points of a polygon, which are `<pt><x>1</x><y>2</y></pt>`, `<point>1,2</point>`, or `<x1>1</x1><y1>2</y1>`
/// with a number for each point. There is at least one.
fn polygon_points(polygon: Node<'_, '_>) -> Option<Vec<[f64; 2]>> {
    let listed = |tag| polygon.children().filter(move |node| node.has_tag_name(tag));
    let in_elements = listed("pt").map(|pt| ["x", "y"].map(|axis| number(pt, axis)));
    let in_texts = listed("point").map(|point| {
        let text = documents::text_of(point).unwrap_or_default();
        let mut axes = text.split(',').map(|axis| axis.trim().parse().ok());
        [(); 2].map(|()| axes.next().flatten())
    });
    let mut points: Vec<_> = in_elements.chain(in_texts).collect();
    let mut numbered = BTreeMap::<u32, [Option<f64>; 2]>::new();
    for node in polygon.children() {
        let tag = node.tag_name().name();
        let axes = ["x", "y"].map(|axis| tag.strip_prefix(axis)?.parse().ok());
        for (axis, number) in axes.into_iter().enumerate() {
            if let Some(number) = number {
                numbered.entry(number).or_default()[axis] = parse_text(node);
            }
        }
    }
    points.extend(numbered.into_values());
    let points: Option<Vec<_>> = points.into_iter().map(|[x, y]| Some([x?, y?])).collect();
    points.filter(|points| !points.is_empty())
}

fn child<'a, 'd>(node: Node<'a, 'd>, tag: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.has_tag_name(tag))
}

fn child_text(node: Node<'_, '_>, tag: &str) -> Option<String> {
    documents::text_of(child(node, tag)?)
}

fn number(node: Node<'_, '_>, tag: &str) -> Option<f64> {
    parse_text(child(node, tag)?)
}

fn parse_text(node: Node<'_, '_>) -> Option<f64> {
    documents::text_of(node)?.trim().parse().ok()
}
