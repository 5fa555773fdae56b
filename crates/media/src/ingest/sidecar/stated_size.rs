//! Compares the size that an annotation file states for a picture with the picture in the folder, because pictures are
//! often resized or turned after they were annotated. Boxes follow the picture, or are omitted with a
//! message.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use image::metadata::Orientation;
use tessera_files::read_at_most;
use tessera_model::{Mask, region::Vec2, text::count_with_noun};

use super::{
    bounding_box::BoundingBox,
    description::{LabeledBox, MediaDescription},
    observed_files::ObservedFiles,
    sidecar_reader::SidecarData,
};
use crate::ingest::{OriginalFiles, file_names::printable_path};

/// The size of a picture according to a sidecar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedSize {
    width: f64,
    height: f64,
}

impl StatedSize {
    /// Returns `None` if a side is not known. Some tools write 0 for an unknown side.
    pub(super) fn new(width: Option<f64>, height: Option<f64>) -> Option<Self> {
        let known = |side: Option<f64>| side.filter(|side| *side >= 1.0 && side.is_finite());
        Some(Self { width: known(width)?, height: known(height)? })
    }

    pub(super) fn size(self) -> Vec2 {
        (self.width, self.height)
    }
}

/// The maximum relative difference of aspects that count as the same, because tools round sizes in different ways.
const ASPECT_TOLERANCE: f64 = 0.02;
/// The maximum number of pixels in the masks of a picture that are turned.
const MAX_TURNED_PIXELS: u64 = 1 << 25;
/// The number of bytes in which the orientation of a picture is searched. Some programs write it after the pixels.
const ORIENTATION_BYTES: u64 = 1 << 25;

/// Places boxes of pictures whose stated size differs from their size, which is given by their path. A sidecar whose
/// boxes cannot be placed, or are outside the picture, gets a problem that names the sizes.
pub fn place_boxes<'a>(
    folder: &dyn OriginalFiles,
    data: &mut SidecarData,
    sizes: impl Iterator<Item = (&'a Path, (u32, u32))>,
) {
    let folder = &ObservedFiles::new(folder);
    let mut problems = BoxProblems::default();
    let sizes: Vec<_> = sizes.collect();
    let stored = drawn_in_stored_pictures(folder, data, &sizes);
    let fractions = drawn_in_fractions(data, &sizes);
    for (path, size) in sizes {
        let Some(description) = data.descriptions.get_mut(path) else { continue };
        let Some(sidecar) = data.box_sidecars.get(path) else { continue };
        let orientation = || read_orientation(folder, path);
        let drawn = drawn_together(sidecar, path);
        let in_fractions = leave_out_fractions(description, fractions.contains(drawn));
        let outside = fit_to_picture(description, size, stored.contains(drawn), orientation);
        let why: Vec<String> = in_fractions.into_iter().chain(outside).collect();
        problems.add(sidecar, path, &why);
    }
    problems.report("picture", data);
    folder.note_errors(data);
}

/// Omits the boxes of videos, because they belong to no frame. A sidecar with such boxes gets a problem.
pub fn leave_out_boxes_of_videos<'a>(
    data: &mut SidecarData,
    videos: impl Iterator<Item = &'a Path>,
) {
    let mut problems = BoxProblems::default();
    for path in videos {
        let Some(description) = data.descriptions.get_mut(path) else { continue };
        let Some(sidecar) = data.box_sidecars.get(path) else { continue };
        if !mem::take(&mut description.objects).is_empty() {
            problems.add(
                sidecar,
                path,
                &["boxes of a video are not read; add its frames as pictures to annotate them"
                    .to_owned()],
            );
        }
    }
    problems.report("video", data);
}

/// The first problem with the boxes of each sidecar, and the number of further media with one.
#[derive(Default)]
struct BoxProblems(BTreeMap<Arc<Path>, (String, usize)>);

impl BoxProblems {
    fn add(&mut self, sidecar: &Arc<Path>, picture: &Path, why: &[String]) {
        if why.is_empty() {
            return;
        }
        // Sidecars of single pictures get the same text, so that a report can list them together.
        let is_own = sidecar.file_stem() == picture.file_stem();
        let name =
            if is_own { String::new() } else { format!("{}: ", printable_path(picture).as_str()) };
        let first = || (format!("{name}{}", why.join("; ")), 0);
        let problem = self.0.entry(Arc::clone(sidecar));
        problem.and_modify(|(_, more)| *more += 1).or_insert_with(first);
    }

    /// Reports the problems of media that are called `noun`.
    fn report(self, noun: &str, data: &mut SidecarData) {
        for (sidecar, (first, more)) in self.0 {
            let further = count_with_noun(more, &format!("more {noun}"), &format!("more {noun}s"));
            let why = if more == 0 { first } else { format!("{first}; {further}") };
            data.add_problem(&sidecar, why);
        }
    }
}

/// Returns the sidecar of a picture, or its folder if each picture has a sidecar of its own. A tool draws all boxes of
/// them in the same way.
fn drawn_together<'a>(sidecar: &'a Path, picture: &Path) -> &'a Path {
    let is_own = sidecar.file_stem() == picture.file_stem();
    sidecar.parent().filter(|_| is_own).unwrap_or(sidecar)
}

/// Returns the sidecars, and the folders of sidecars, with a picture whose width and height are exchanged by its
/// orientation. All their boxes were drawn in the pictures as they are stored, also those of pictures that are only
/// turned by 180 degrees.
fn drawn_in_stored_pictures(
    folder: &dyn OriginalFiles,
    data: &SidecarData,
    sizes: &[(&Path, (u32, u32))],
) -> HashSet<PathBuf> {
    let mut stored = HashSet::new();
    for (path, (width, height)) in sizes {
        let Some(sidecar) = data.box_sidecars.get(*path) else { continue };
        let sidecar = drawn_together(sidecar, path);
        let description = data.descriptions.get(*path);
        let Some(stated) = description.and_then(|it| it.stated_size) else { continue };
        let is_exchanged = width != height && stated.size() == ((*height).into(), (*width).into());
        if is_exchanged
            && !stored.contains(sidecar)
            && read_orientation(folder, path).is_some_and(exchanges_sides)
        {
            stored.insert(sidecar.to_owned());
        }
    }
    stored
}

/// Returns the sidecars, and the folders of sidecars, with a picture whose boxes are in fractions.
fn drawn_in_fractions(data: &SidecarData, sizes: &[(&Path, (u32, u32))]) -> HashSet<PathBuf> {
    let drawn = sizes.iter().filter_map(|(path, _)| {
        let sidecar = data.box_sidecars.get(*path)?;
        let objects = &data.descriptions.get(*path)?.objects;
        let is_inside = is_within_first_pixel(objects);
        let has_fraction = objects.iter().any(|object| match object.bounding_box {
            BoundingBox::Pixels { x, y, width, height } => {
                [x, y, width, height].iter().any(|side| side.fract() != 0.0)
            }
            BoundingBox::Normalized(_) => false,
        });
        (is_inside && has_fraction).then(|| drawn_together(sidecar, path).to_owned())
    });
    drawn.collect()
}

/// Omits the boxes outside the annotated picture, and places the others. Returns what is omitted.
fn fit_to_picture(
    description: &mut MediaDescription,
    (width, height): (u32, u32),
    is_stored: bool,
    orientation: impl FnOnce() -> Option<Orientation>,
) -> Vec<String> {
    let stated = description.stated_size.take();
    let (across, down) = stated.map_or((width.into(), height.into()), StatedSize::size);
    let count = description.objects.len();
    description.objects.retain(|it| it.bounding_box.clipped_to((across, down)).is_some());
    let outside = count - description.objects.len();
    let boxes = count_with_noun(outside, "box is", "boxes are");
    let outside =
        (outside > 0).then(|| format!("{boxes} outside the picture of {across}x{down} pixels"));
    let placed = stated.filter(|_| !description.objects.is_empty());
    let placed = placed.map_or(Ok(()), |stated| {
        place(description, stated, (width, height), is_stored, orientation)
    });
    let masks = leave_out_masks(description, [height, width]);
    outside.into_iter().chain(placed.err()).chain(masks).collect()
}

/// Omits the masks of another height and width than the picture, and names the size of one of them.
fn leave_out_masks(description: &mut MediaDescription, size: [u32; 2]) -> Option<String> {
    let masks = description.objects.iter_mut().map(|object| &mut object.annotation.mask);
    let others = masks.filter_map(|mask| mask.take_if(|mask| mask.size != size));
    let [height, width] = others.last()?.size;
    let [picture_height, picture_width] = size;
    Some(format!(
        "the picture has {picture_width}x{picture_height} pixels, but masks are for {width}x{height}, so these masks are omitted"
    ))
}

/// What fractions exceed 0 and 1 by, because programs round them.
const ROUNDING: f64 = 0.05;

/// Whether there are boxes in pixels, and all of them are within the first pixel.
fn is_within_first_pixel(objects: &[LabeledBox]) -> bool {
    let is_inside = |object: &LabeledBox| match object.bounding_box {
        BoundingBox::Pixels { x, y, width, height } => {
            [x, y, width, height].iter().all(|side| (-ROUNDING..=1.0 + ROUNDING).contains(side))
        }
        BoundingBox::Normalized(_) => false,
    };
    !objects.is_empty() && objects.iter().all(is_inside)
}

/// Omits the boxes if they are in fractions like others of their sidecar, and says so.
fn leave_out_fractions(description: &mut MediaDescription, in_fractions: bool) -> Option<String> {
    if !in_fractions || !is_within_first_pixel(&description.objects) {
        return None;
    }
    description.objects.clear();
    Some("its boxes are in fractions of the picture, and not in pixels".to_owned())
}

/// Places the boxes of a picture. `is_stored` says that other boxes of the sidecar were drawn in stored pictures. The
/// error says what is omitted.
fn place(
    description: &mut MediaDescription,
    stated: StatedSize,
    (width, height): (u32, u32),
    is_stored: bool,
    orientation: impl FnOnce() -> Option<Orientation>,
) -> Result<(), String> {
    let size = (f64::from(width), f64::from(height));
    let turned_size = (size.1, size.0);
    let stated_size = stated.size();
    if stated_size == size && !is_stored {
        return Ok(());
    }
    let is_scaled = has_same_aspect(stated_size, size);
    let may_be_turned =
        has_same_aspect(stated_size, turned_size) && (!is_scaled || stated_size == turned_size);
    let explains_size = |orientation: &Orientation| {
        if exchanges_sides(*orientation) { may_be_turned } else { is_stored && is_scaled }
    };
    let orientation = (is_stored || may_be_turned).then(orientation).flatten();
    let orientation = orientation.filter(explains_size);
    let turn = orientation.and_then(turn_upright);
    if turn.is_none() && stated_size == size {
        return Ok(());
    }
    let problem = |part| {
        format!(
            "the picture has {width}x{height} pixels, but its annotations are for {}x{}, so its {part} are omitted",
            stated.width, stated.height
        )
    };
    let Some(turn) = turn.or(is_scaled.then_some(|point| point)) else {
        description.objects.clear();
        return Err(problem("boxes"));
    };
    let same_size = if orientation.is_some_and(exchanges_sides) { turned_size } else { size };
    let masks = if stated_size == same_size {
        turn_masks(description, stated_size, [height, width], turn)
    } else {
        let masks = description.objects.iter_mut().filter_map(|it| it.annotation.mask.take());
        if masks.count() == 0 { Ok(()) } else { Err(problem("masks")) }
    };
    description.objects.retain_mut(|object| place_object(object, stated_size, turn).is_some());
    masks
}

/// Turns the masks of a picture to the upright picture of this height and width. The error says what is omitted.
fn turn_masks(
    description: &mut MediaDescription,
    stated_size: Vec2,
    upright: [u32; 2],
    turn: Turn,
) -> Result<(), String> {
    let (mut pixels_left, mut is_complete) = (MAX_TURNED_PIXELS, true);
    for annotation in description.objects.iter_mut().map(|object| &mut object.annotation) {
        let Some(mask) = annotation.mask.take() else { continue };
        let [height, width] = mask.size.map(f64::from);
        let fits = (width, height) == stated_size;
        annotation.mask = fits.then(|| mask.turned(upright, pixels_left, turn)).flatten();
        is_complete &= annotation.mask.is_some();
        pixels_left -= annotation.mask.as_ref().map_or(0, Mask::area);
    }
    let why = "its masks cannot be turned like the picture, so they are omitted";
    if is_complete { Ok(()) } else { Err(why.to_owned()) }
}

fn has_same_aspect(one: Vec2, other: Vec2) -> bool {
    let shortest = one.0.min(one.1).min(other.0).min(other.1);
    let ratio = (one.0 * other.1) / (one.1 * other.0);
    (ratio - 1.0).abs() <= ASPECT_TOLERANCE.min(1.0 / shortest)
}

/// Converts an object from pixels of the stated size to fractions of the picture. Returns `None` if nothing of its box
/// is in the picture.
fn place_object(object: &mut LabeledBox, (across, down): Vec2, turn: Turn) -> Option<()> {
    let BoundingBox::Pixels { x, y, width, height } = object.bounding_box else { return Some(()) };
    let place = |(x, y): Vec2| turn((x / across, y / down));
    let (one, other) = (place((x, y)), place((x + width, y + height)));
    let (left, top) = (one.0.min(other.0), one.1.min(other.1));
    let sides = [left, top, (one.0 - other.0).abs(), (one.1 - other.1).abs()];
    object.bounding_box = BoundingBox::normalized(sides)?;
    object.annotation = std::mem::take(&mut object.annotation).moved(place);
    Some(())
}

/// Moves a point from the stored picture to the upright picture, in fractions of both.
type Turn = fn(Vec2) -> Vec2;

fn exchanges_sides(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

/// Returns how an orientation turns points.
fn turn_upright(orientation: Orientation) -> Option<Turn> {
    match orientation {
        Orientation::NoTransforms => None,
        Orientation::FlipHorizontal => Some(|(x, y)| (1.0 - x, y)),
        Orientation::Rotate180 => Some(|(x, y)| (1.0 - x, 1.0 - y)),
        Orientation::FlipVertical => Some(|(x, y)| (x, 1.0 - y)),
        Orientation::Rotate90 => Some(|(x, y)| (1.0 - y, x)),
        Orientation::Rotate270 => Some(|(x, y)| (y, 1.0 - x)),
        Orientation::Rotate90FlipH => Some(|(x, y)| (y, x)),
        Orientation::Rotate270FlipH => Some(|(x, y)| (1.0 - y, 1.0 - x)),
    }
}

fn read_orientation(folder: &dyn OriginalFiles, path: &Path) -> Option<Orientation> {
    let header = read_at_most(folder.open_file(path).ok()?, ORIENTATION_BYTES).ok()?;
    tessera_picture::decode::orientation(&header).ok()
}
