//! The shapes of CVAT, which images and tracks contain.

use std::{collections::BTreeMap, path::Path};

use roxmltree::Node;

use super::description::{BoundingBox, MediaDescription};

/// What a document contains about each media file.
pub(super) type Descriptions<'a> = BTreeMap<&'a Path, MediaDescription>;

pub(super) const WRONG_SHAPE: &str =
    "one of its shapes is empty, outside the picture, or without numbers";

/// Points and lines mark no part of a picture.
pub(super) fn marks_a_part(shape: Node<'_, '_>) -> bool {
    matches!(shape.tag_name().name(), "box" | "polygon" | "ellipse" | "mask")
}

/// The box around a shape.
pub(super) fn extent(shape: Node<'_, '_>) -> Option<BoundingBox> {
    let number = |name| shape.attribute(name)?.trim().parse::<f64>().ok();
    match shape.tag_name().name() {
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
