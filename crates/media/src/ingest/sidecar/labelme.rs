//! Reads the JSON of `LabelMe` and of tools that write the same format: the shapes in one picture, and labels of the
//! whole picture.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::prelude::*;
use super::{
    annotation_files::PictureAnnotations, description::POINT_OR_LINE, mask_reader::MaskReader,
};
use crate::ingest::documents::{parse_name, parse_number, parse_numbers, parse_string};

#[derive(Deserialize)]
struct LabelMeDocument<'a> {
    #[serde(borrow)]
    shapes: &'a RawValue,
    /// Labels of the whole picture. The values say whether a label applies.
    flags: Option<&'a RawValue>,
    #[serde(rename = "imagePath")]
    file_name: Option<&'a RawValue>,
    #[serde(rename = "imageWidth")]
    width: Option<&'a RawValue>,
    #[serde(rename = "imageHeight")]
    height: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct LabelMeShape<'a> {
    #[serde(borrow)]
    label: Option<&'a RawValue>,
    points: Option<&'a RawValue>,
    #[serde(rename = "shape_type")]
    kind: Option<&'a RawValue>,
    score: Option<&'a RawValue>,
    /// The number or name of the object of which the shape is a part.
    group_id: Option<&'a RawValue>,
    /// The pixels of a mask in the rectangle of its two points, as a PNG in Base64.
    mask: Option<&'a RawValue>,
}

/// Returns the description in a document and the problems of the document. Returns `None` for other JSON.
pub(super) fn parse(text: &str) -> Option<PictureAnnotations> {
    let document: LabelMeDocument<'_> = documents::parse_object(text)?;
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("shape", "shapes");
    let flags = document.flags.and_then(|flags| documents::parse_object(flags.get()));
    let flags: BTreeMap<String, &RawValue> = flags.unwrap_or_default();
    for (name, _) in flags.into_iter().filter(|(_, value)| matches!(value.get(), "true" | "1")) {
        push_name(&mut description.labels, &name);
    }
    let whole = |side: Option<&RawValue>| serde_json::from_str(side?.get()).ok();
    let mut masks = MaskReader::default();
    masks.picture = whole(document.height).zip(whole(document.width));
    // Some programs write no list if there are no shapes.
    let shapes = if document.shapes.get() == "null" { "[]" } else { document.shapes.get() };
    let mut groups = Groups::default();
    documents::for_each_element(shapes, |shape| {
        diagnostics.next_position();
        let added = add_shape(shape, &mut groups, &mut masks, &mut description, &mut diagnostics);
        diagnostics.check(added);
    })?;
    let side = |side: Option<&RawValue>| side.and_then(parse_number);
    description.stated_size = StatedSize::new(side(document.width), side(document.height));
    let file_name = document.file_name.and_then(parse_name);
    Some(PictureAnnotations { file_name, folder: None, description, diagnostics })
}

/// The positions of the objects that consist of several outlines, by their label and their group. The converter of
/// `LabelMe` to COCO makes one object of them, too.
type Groups = HashMap<(String, String), usize>;

fn add_shape(
    shape: &RawValue,
    groups: &mut Groups,
    masks: &mut MaskReader,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), &'static str> {
    let shape: LabelMeShape<'_> =
        documents::parse_object(shape.get()).ok_or("it is not a JSON object")?;
    let kind = shape.kind.and_then(parse_string);
    if matches!(kind.as_deref(), Some("point" | "points" | "line" | "linestrip")) {
        return Err(POINT_OR_LINE);
    }
    let label = shape.label.and_then(parse_name).and_then(|name| normalized_name(&name));
    let label = label.ok_or("it has no label")?;
    let points = shape.points.and_then(parse_points).ok_or("its points are not numbers")?;
    let extent = match (kind.as_deref(), &points[..]) {
        (Some("circle"), [[x, y], [edge_x, edge_y]]) => {
            let radius = (edge_x - x).hypot(edge_y - y);
            BoundingBox::pixels([x - radius, y - radius, 2.0 * radius, 2.0 * radius])
        }
        (Some("circle"), _) => None,
        _ => BoundingBox::around(&points),
    };
    let extent = extent.ok_or("it is empty or outside the picture")?;
    let outlines = ["polygon", "rotation", "oriented_rectangle", "quadrilateral"];
    let is_outline = kind.as_deref().is_none_or(|kind| outlines.contains(&kind));
    let corner = points.first().map(|corner| corner.map(pixel));
    let mask = shape.mask.filter(|_| kind.as_deref() == Some("mask")).and_then(parse_string);
    let mask = corner.zip(mask).map_or(Ok(None), |(corner, mask)| masks.of_png(corner, &mask));
    let mask = mask.unwrap_or_else(|why| {
        diagnostics.report(why);
        None
    });
    let annotation = Annotation::outline(if is_outline { points } else { Vec::new() });
    let group = shape.group_id.map(RawValue::get).filter(|group| *group != "null");
    if let Some(group) = group.filter(|_| !annotation.polygons.is_empty()) {
        let position =
            *groups.entry((label.clone(), group.to_owned())).or_insert(description.objects.len());
        if let Some(object) = description.objects.get_mut(position) {
            return object.add_part(extent, annotation.polygons);
        }
    }
    let score = shape.score.and_then(parse_number);
    let annotation = Annotation { score, mask, ..annotation };
    description.push_annotated(label, extent, annotation)
}

/// Returns the pixel that contains a coordinate.
fn pixel(coordinate: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let pixel = coordinate.clamp(0.0, f64::from(u32::MAX)) as u32;
    pixel
}

/// Parses a list of points. Numbers of a point after x and y are ignored.
fn parse_points(list: &RawValue) -> Option<Vec<[f64; 2]>> {
    let points: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    let point = |point| parse_numbers(point)?.first_chunk().copied();
    points.into_iter().map(point).collect()
}
