//! Reads the XML of CVAT. The file has an `image` for each picture, with tags and with shapes in pixels,
//! or it has tracks of shapes over the frames of a video. The frames must be files in the folder.

use std::collections::{BTreeMap, HashMap};

use super::prelude::*;
use roxmltree::Node;
use tessera_model::Mask;

use super::{
    bounding_box::turned_box,
    description::{POINT_OR_LINE, Parts, TOO_MANY_OBJECTS},
    mask_reader::MaskReader,
};

pub(super) fn read(reader: &mut SidecarReader<'_>, sidecar: &Path, root: Node<'_, '_>) {
    reader.mark_used(sidecar);
    for image in root.children().filter(|node| node.has_tag_name("image")) {
        if let Some(name) = image.attribute("name") {
            reader.files.note_name(name, image.attribute("subset"), sidecar);
        }
    }
    let mut descriptions = BTreeMap::new();
    read_images(reader, sidecar, root, &mut descriptions);
    read_tracks(reader, sidecar, root, &mut descriptions);
    for (media, description) in descriptions {
        reader.add_description(media, sidecar, description);
    }
}

fn read_images<'a>(
    reader: &mut SidecarReader<'a>,
    sidecar: &Path,
    root: Node<'_, '_>,
    descriptions: &mut Descriptions<'a>,
) {
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut masks = MaskReader::default();
    for image in root.children().filter(|node| node.has_tag_name("image")) {
        diagnostics.set_position(image.range().start);
        let name = image.attribute("name").ok_or(Reason::from("it has no name"));
        let subset = image.attribute("subset");
        match name.and_then(|name| reader.files.resolve_in(name, subset, sidecar)) {
            Ok(media) => {
                masks.picture = whole(image, "height").zip(whole(image, "width"));
                let mut description = describe(image, &mut masks, &mut diagnostics);
                description.stated_size = stated_size(image);
                let known = descriptions.entry(media).or_default();
                let extends = Parts { caption: true, labels: true, objects: true };
                let (unused, further) = known.merge(description, &extends, true);
                if unused.objects {
                    diagnostics
                        .report("its boxes do not fit those of an earlier image of its name");
                } else if further > 0 {
                    diagnostics.report(TOO_MANY_OBJECTS);
                }
            }
            Err(why) => diagnostics.report(&why),
        }
    }
    report_lines(reader, sidecar, root, diagnostics);
}

/// Reports problems whose positions are offsets in the document.
fn report_lines(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    root: Node<'_, '_>,
    mut diagnostics: SidecarDiagnostics,
) {
    diagnostics.convert_positions(|offset| root.document().text_pos_at(offset).row as usize);
    reader.report_problems(sidecar, diagnostics);
}

/// Returns the size in the attributes of an element.
fn stated_size(image: Node<'_, '_>) -> Option<StatedSize> {
    StatedSize::new(number(image, "width"), number(image, "height"))
}

fn number(node: Node<'_, '_>, attribute: &str) -> Option<f64> {
    node.attribute(attribute)?.trim().parse().ok()
}

fn describe(
    image: Node<'_, '_>,
    masks: &mut MaskReader,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    for shape in image.children().filter(Node::is_element) {
        diagnostics.set_position(shape.range().start);
        let is_tag = shape.has_tag_name("tag");
        if !is_tag && !marks_a_part(shape) {
            report_unread(shape, diagnostics);
            continue;
        }
        let label = shape.attribute("label").and_then(normalized_name);
        let added = label.ok_or("one of its shapes has no label").and_then(|label| {
            if is_tag {
                push_name(&mut description.labels, &label);
                return Ok(());
            }
            let (extent, annotation) = parse_shape(shape, masks, diagnostics).ok_or(WRONG_SHAPE)?;
            description.push_annotated(label, extent, annotation)
        });
        diagnostics.check(added);
    }
    description
}

/// The descriptions that a document contains, by media file.
type Descriptions<'a> = BTreeMap<&'a Path, MediaDescription>;

const WRONG_SHAPE: &str = "one of its shapes is empty, outside the picture, or without numbers";

/// Whether a shape marks a part of the picture. Points and lines do not mark a part.
fn marks_a_part(shape: Node<'_, '_>) -> bool {
    let shapes = ["box", "polygon", "ellipse", "mask", "cuboid", "skeleton"];
    shapes.contains(&shape.tag_name().name())
}

/// The attributes with the corners of the two faces of a cuboid.
const CUBOID: [[&str; 2]; 8] = [
    ["xtl1", "ytl1"],
    ["xtr1", "ytr1"],
    ["xbl1", "ybl1"],
    ["xbr1", "ybr1"],
    ["xtl2", "ytl2"],
    ["xtr2", "ytr2"],
    ["xbl2", "ybl2"],
    ["xbr2", "ybr2"],
];

/// Reports an element that is not read.
fn report_unread(shape: Node<'_, '_>, diagnostics: &mut SidecarDiagnostics) {
    match shape.tag_name().name() {
        "points" | "polyline" => diagnostics.report(POINT_OR_LINE),
        "attribute" => {}
        other => {
            let name: String = other.chars().take(MAX_ELEMENT_CHARS).collect();
            diagnostics.report(&format!("an element {name} is not read"));
        }
    }
}

/// The number of characters of the name of an element in a report.
const MAX_ELEMENT_CHARS: usize = 32;

/// Returns the box around a shape, and the outline of a polygon or of a turned box, or the mask.
fn parse_shape(
    shape: Node<'_, '_>,
    masks: &mut MaskReader,
    diagnostics: &mut SidecarDiagnostics,
) -> Option<(BoundingBox, Annotation)> {
    let number = |name: &str| number(shape, name);
    let degrees = number("rotation").unwrap_or(0.0);
    let extent = match shape.tag_name().name() {
        "box" => {
            let corners = [[number("xtl")?, number("ytl")?], [number("xbr")?, number("ybr")?]];
            if degrees != 0.0 {
                let [[left, top], [right, bottom]] = corners;
                return outline(turned_box([left, top, right - left, bottom - top], degrees));
            }
            BoundingBox::around(&corners)
        }
        "ellipse" => {
            let (x, y, across, down) = (number("cx")?, number("cy")?, number("rx")?, number("ry")?);
            let (sin, cos) = degrees.to_radians().sin_cos();
            let (half_width, half_height) =
                ((across * cos).hypot(down * sin), (across * sin).hypot(down * cos));
            BoundingBox::pixels([
                x - half_width,
                y - half_height,
                2.0 * half_width,
                2.0 * half_height,
            ])
        }
        "mask" => {
            let sides = [number("left")?, number("top")?, number("width")?, number("height")?];
            let extent = BoundingBox::pixels(sides)?;
            let mask = mask(shape, masks).unwrap_or_else(|why| {
                diagnostics.report(why);
                None
            });
            return Some((extent, Annotation { mask, ..Annotation::default() }));
        }
        "cuboid" => {
            let corner = |[x, y]: [&str; 2]| Some([number(x)?, number(y)?]);
            let corners: Option<Vec<_>> = CUBOID.into_iter().map(corner).collect();
            BoundingBox::around(&corners?)
        }
        "skeleton" => return skeleton(shape),
        _ => {
            return outline(points(shape)?);
        }
    };
    Some((extent?, Annotation::default()))
}

/// Returns the points of a shape, which are written as `x,y;x,y`.
fn points(shape: Node<'_, '_>) -> Option<Vec<[f64; 2]>> {
    let point = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some([x.trim().parse().ok()?, y.trim().parse().ok()?])
    };
    shape.attribute("points")?.split(';').map(point).collect()
}

/// Returns the keypoints of a skeleton, and the box around those that are in the picture.
fn skeleton(shape: Node<'_, '_>) -> Option<(BoundingBox, Annotation)> {
    let (mut labeled, mut keypoints) = (Vec::new(), Vec::new());
    for joint in shape.children().filter(|node| node.has_tag_name("points")) {
        let is = |attribute| joint.attribute(attribute) == Some("1");
        let [x, y] = points(joint)?.first().copied()?;
        if is("outside") {
            keypoints.extend([0.0; 3]);
        } else {
            labeled.push([x, y]);
            keypoints.extend([x, y, if is("occluded") { 1.0 } else { 2.0 }]);
        }
    }
    Some((BoundingBox::around(&labeled)?, Annotation { keypoints, ..Annotation::default() }))
}

fn outline(points: Vec<[f64; 2]>) -> Option<(BoundingBox, Annotation)> {
    Some((BoundingBox::around(&points)?, Annotation::outline(points)))
}

/// Reads the mask of a shape. Without run lengths or without the size of the picture, there is only a box.
fn mask(shape: Node<'_, '_>, masks: &mut MaskReader) -> Result<Option<Mask>, &'static str> {
    let sides = ["left", "top", "width", "height"].map(|name| whole(shape, name));
    let ([Some(left), Some(top), Some(width), Some(height)], Some(runs)) =
        (sides, shape.attribute("rle"))
    else {
        return Ok(None);
    };
    masks.of_runs([left, top], [width, height], runs)
}

/// Returns the whole number in an attribute.
fn whole(node: Node<'_, '_>, attribute: &str) -> Option<u32> {
    node.attribute(attribute)?.trim().parse().ok()
}

/// The prefix of the file names that CVAT gives to frames, which the frame number follows: `frame_000012.PNG`.
const FRAME_PREFIX: &str = "frame_";

/// The file of each frame by its number, or `None` if several files have the same number.
type FrameFiles<'a> = HashMap<u64, Option<&'a Path>>;

/// Adds the shapes at key frames. Shapes at all other frames are only interpolated. A shape that is `outside` has left
/// the picture.
fn read_tracks<'a>(
    reader: &mut SidecarReader<'a>,
    sidecar: &Path,
    root: Node<'_, '_>,
    descriptions: &mut Descriptions<'a>,
) {
    let mut tracks = root.children().filter(|node| node.has_tag_name("track")).peekable();
    if tracks.peek().is_none() {
        return;
    }
    let files = frame_files(reader, sidecar, root);
    let size = frame_size(root);
    // The size of the frames is in an element of its own, and the masks of a track would need it for each frame.
    let mut masks = MaskReader::default();
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for track in tracks {
        diagnostics.set_position(track.range().start);
        let Some(label) = track.attribute("label").and_then(normalized_name) else {
            diagnostics.report("it has no label");
            continue;
        };
        for shape in track.children().filter(|shape| shape.is_element() && is_visible(*shape)) {
            diagnostics.set_position(shape.range().start);
            if !marks_a_part(shape) {
                report_unread(shape, &mut diagnostics);
                continue;
            }
            let added = file_of(&files, shape).and_then(|media| {
                let (extent, annotation) =
                    parse_shape(shape, &mut masks, &mut diagnostics).ok_or(WRONG_SHAPE)?;
                let description = descriptions.entry(media).or_default();
                description.stated_size = description.stated_size.or(size);
                Ok(description.push_annotated(label.clone(), extent, annotation)?)
            });
            diagnostics.check(added);
        }
    }
    report_lines(reader, sidecar, root, diagnostics);
}

/// Returns the size of the frames of a video, which the task of CVAT contains.
fn frame_size(root: Node<'_, '_>) -> Option<StatedSize> {
    let size = root.descendants().find(|node| node.has_tag_name("original_size"))?;
    let pixels = |tag| {
        let number = size.children().find(|node| node.has_tag_name(tag))?;
        documents::text_of(number)?.trim().parse().ok()
    };
    StatedSize::new(pixels("width"), pixels("height"))
}

/// Whether the shape of a track was drawn in its frame.
fn is_visible(shape: Node<'_, '_>) -> bool {
    shape.attribute("outside") != Some("1") && shape.attribute("keyframe") != Some("0")
}

fn file_of<'a>(files: &FrameFiles<'a>, shape: Node<'_, '_>) -> Result<&'a Path, Reason> {
    let number = shape.attribute("frame").and_then(|number| number.trim().parse().ok());
    let number: u64 = number.ok_or("one of its shapes has no frame")?;
    match files.get(&number) {
        Some(Some(file)) => Ok(file),
        Some(None) => Err(format!("several files are frame {number}").into()),
        None => Err(format!(
            "no file is frame {number}; name it frame_{number:06}.jpg, or list it as an image with its id and name"
        )
        .into()),
    }
}

/// Returns the images that the document lists. If the document lists none, returns the files below its folder that are
/// named like frames.
fn frame_files<'a>(
    reader: &SidecarReader<'a>,
    sidecar: &Path,
    root: Node<'_, '_>,
) -> FrameFiles<'a> {
    let mut files = FrameFiles::new();
    let mut add = |number, file| {
        files.entry(number).and_modify(|known| *known = None).or_insert(Some(file));
    };
    let mut images = root.descendants().filter(|node| node.has_tag_name("image")).peekable();
    if images.peek().is_some() {
        for image in images {
            let number = image.attribute("id").and_then(|id| id.trim().parse().ok());
            let (name, subset) = (image.attribute("name"), image.attribute("subset"));
            let file = name.map(|name| reader.files.resolve_in(name, subset, sidecar));
            if let (Some(number), Some(Ok(file))) = (number, file) {
                add(number, file);
            }
        }
        return files;
    }
    let folder = sidecar.parent().unwrap_or(Path::new(""));
    for file in reader.files.media().filter(|file| file.starts_with(folder)) {
        let name = file.file_stem().and_then(|stem| stem.to_str()?.strip_prefix(FRAME_PREFIX));
        if let Some(number) = name.and_then(|digits| digits.parse().ok()) {
            add(number, file);
        }
    }
    files
}
