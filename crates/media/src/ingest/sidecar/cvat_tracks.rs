//! Tracks of CVAT: an object with its shape in each of the frames it is in. The frames are files, which the document
//! lists as images, or which have the names that CVAT gives frames.

use std::{collections::HashMap, path::Path};

use roxmltree::Node;

use super::{
    cvat_shapes::{Descriptions, WRONG_SHAPE, extent, marks_a_part},
    description::normalized_name,
    diagnostics::SidecarDiagnostics,
    sidecar_reader::SidecarReader,
};

/// What CVAT calls the file of a frame, before its number: `frame_000012.PNG`.
const FRAME_PREFIX: &str = "frame_";

/// The file of each frame; `None` if several have its number.
type FrameFiles<'a> = HashMap<u64, Option<&'a Path>>;

/// Adds the shapes at key frames. The others are computed from these, and a shape that is `outside` has left the picture.
pub(super) fn read_tracks<'a>(
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
            match (file_of(&files, shape), extent(shape)) {
                (Ok(media), Some(extent)) => {
                    descriptions.entry(media).or_default().push_object(label.clone(), extent);
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

/// The images that the document lists, else the files below its folder that are named as frames.
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
