//! Reads the `annotations.xml` of CVAT. The file has an `image` for each picture, with tags and with shapes in pixels,
//! or it has tracks of shapes over the frames of a video. The frames must be files in the folder.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use roxmltree::Node;
use tessera_model::Annotation;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name, push_name},
    diagnostics::{Reason, SidecarDiagnostics},
    sidecar_names::CVAT_XML,
    sidecar_reader::SidecarReader,
};
use crate::ingest::documents::{XmlLimits, parse_xml};

/// Maximum size of a document. Parsing takes several times as much memory.
const MAX_BYTES: u64 = 32 << 20;
/// CVAT has no namespaces.
const LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 16 };

/// Reads the documents of this format, and ignores other XML.
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
        let name = image.attribute("name").ok_or(Reason::from("it has no name"));
        match name.and_then(|name| reader.files.resolve(name, sidecar)) {
            Ok(media) => {
                let description = describe(image, &mut diagnostics);
                descriptions.entry(media).or_default().merge_missing(description);
            }
            Err(why) => diagnostics.report(&why),
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
        } else if let Some((extent, annotation)) = parse_shape(shape) {
            diagnostics.check(description.push_annotated(label, extent, annotation));
        } else {
            diagnostics.report(WRONG_SHAPE);
        }
    }
    description
}

/// The descriptions that a document contains, by media file.
type Descriptions<'a> = BTreeMap<&'a Path, MediaDescription>;

const WRONG_SHAPE: &str = "one of its shapes is empty, outside the picture, or without numbers";

/// Whether a shape marks a part of the picture. Points and lines do not mark a part.
fn marks_a_part(shape: Node<'_, '_>) -> bool {
    matches!(shape.tag_name().name(), "box" | "polygon" | "ellipse" | "mask")
}

/// Returns the box around a shape, and the outline of a polygon.
fn parse_shape(shape: Node<'_, '_>) -> Option<(BoundingBox, Annotation)> {
    let number = |name| shape.attribute(name)?.trim().parse::<f64>().ok();
    let extent = match shape.tag_name().name() {
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
            let points = points.collect::<Option<Vec<[f64; 2]>>>()?;
            return Some((BoundingBox::around(&points)?, Annotation::outline(points)));
        }
    };
    Some((extent?, Annotation::default()))
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
    let mut diagnostics = SidecarDiagnostics::new("track", "tracks");
    for track in tracks {
        diagnostics.next_position();
        let Some(label) = track.attribute("label").and_then(normalized_name) else {
            diagnostics.report("it has no label");
            continue;
        };
        for shape in track.children().filter(|&shape| marks_a_part(shape) && is_visible(shape)) {
            match (file_of(&files, shape), parse_shape(shape)) {
                (Ok(media), Some((extent, annotation))) => {
                    let description = descriptions.entry(media).or_default();
                    let end = description.push_annotated(label.clone(), extent, annotation);
                    diagnostics.check(end);
                }
                (Ok(_), None) => diagnostics.report(WRONG_SHAPE),
                (Err(why), _) => diagnostics.report(&why),
            }
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

/// Whether the shape of a track was drawn in its frame.
fn is_visible(shape: Node<'_, '_>) -> bool {
    shape.attribute("outside") != Some("1") && shape.attribute("keyframe") != Some("0")
}

fn file_of<'a>(files: &FrameFiles<'a>, shape: Node<'_, '_>) -> Result<&'a Path, String> {
    let number = shape.attribute("frame").and_then(|number| number.trim().parse().ok());
    let number: u64 = number.ok_or("one of its shapes has no frame")?;
    match files.get(&number) {
        Some(Some(file)) => Ok(file),
        Some(None) => Err(format!("several files are frame {number}")),
        None => Err(format!(
            "no file is frame {number}; name it frame_{number:06}.jpg, or list it as an image with its id and name"
        )),
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
            let file = image.attribute("name").map(|name| reader.files.resolve(name, sidecar));
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
