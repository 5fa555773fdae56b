//! Reads the lines of YOLO: a class, followed by a box, by a polygon (also of a rotated box), or by a box and keypoints
//! of two or three numbers. A single line does not separate polygons from keypoints. `kpt_shape` in `data.yaml` does,
//! or all lines of a dataset together.

use super::prelude::*;
use super::{bounding_box::sides_around, class_names::ClassMap};

/// The numbers of a box: the center, the width and the height.
const BOX_COLUMNS: usize = 4;
const UNKNOWN: &str = "it is not a class and a box in numbers";

/// Whether most lines are a class with a box or with a polygon.
pub(super) fn is_yolo(text: &str) -> bool {
    let (known, other): (Vec<_>, Vec<_>) = lines(text).partition(|line| parse_line(line).is_some());
    known.len() > other.len()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// Parses a class and the numbers after it, which are at least the four numbers of a box.
fn parse_line(line: &str) -> Option<(u64, Vec<f64>)> {
    let mut columns = line.split_ascii_whitespace();
    // Some tools write the class as a decimal number.
    let class = documents::whole(columns.next()?.parse().ok()?)?;
    let numbers: Option<Vec<f64>> = columns
        .map(|column| column.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    numbers.filter(|numbers| numbers.len() >= BOX_COLUMNS).map(|numbers| (class, numbers))
}

/// Finds out from all lines of a dataset whether they are a box and keypoints, or a polygon.
#[derive(Debug, Default)]
pub(super) struct FormCheck {
    /// The number of columns of the first line that is not only a box.
    columns: Option<usize>,
    differs: bool,
    lines: usize,
    /// The lines that can be a box with keypoints of each of the [`KEYPOINT_FORMS`].
    with_keypoints: [usize; KEYPOINT_FORMS.len()],
    /// The lines whose second pair of numbers is near the other pairs, as the second point of a polygon is.
    with_near_points: usize,
    /// The lines that are the corners of a rotated box.
    parallelograms: usize,
    /// The lines that are a box with a score and the number of a track.
    tracked: usize,
    /// Whether a line ends with a number that is not a coordinate.
    has_large_tracks: bool,
}

impl FormCheck {
    pub(super) fn add(&mut self, text: &str) {
        for (_, numbers) in lines(text).filter_map(parse_line) {
            // A box may have a score.
            if numbers.len() <= BOX_COLUMNS + 1 {
                continue;
            }
            self.lines += 1;
            self.tracked += usize::from(is_tracked_box(&numbers));
            // A coordinate is at most 1.
            self.has_large_tracks |= numbers.last().is_some_and(|track| *track > 1.0);
            self.differs |= *self.columns.get_or_insert(numbers.len()) != numbers.len();
            for (count, form) in self.with_keypoints.iter_mut().zip(KEYPOINT_FORMS) {
                *count += usize::from(can_be_keypoints(&numbers, form));
            }
            self.with_near_points += usize::from(is_second_point_near(&numbers));
            self.parallelograms += usize::from(is_parallelogram(&numbers));
        }
    }

    /// Whether each line is a box with a score and the number of a track, as trackers write it.
    pub(super) fn has_tracks(&self) -> bool {
        let is_certain = self.has_large_tracks || !self.are_polygons();
        self.lines > 0 && self.tracked == self.lines && is_certain
    }

    fn are_polygons(&self) -> bool {
        2 * self.with_near_points >= self.lines || self.parallelograms == self.lines
    }

    /// Returns the number of keypoints, and the numbers of each.
    pub(super) fn keypoint_shape(&self) -> Option<[usize; 2]> {
        let numbers = self.columns.filter(|_| !self.differs)?.checked_sub(BOX_COLUMNS)?;
        // The points of a polygon and a score are an odd number of columns, as few polygons have.
        let is_distinct = |form: &KeypointForm| {
            form.columns == 3 && (!form.has_score || !numbers.is_multiple_of(2))
        };
        let mut forms = KEYPOINT_FORMS.iter().zip(self.with_keypoints);
        let fits = |(form, count): &(&KeypointForm, usize)| {
            *count == self.lines && (is_distinct(form) || !self.are_polygons())
        };
        let (form, _) = forms.find(fits)?;
        Some([numbers / form.columns, form.columns])
    }
}

/// What follows the box in a line of keypoints.
#[derive(Clone, Copy, Debug)]
struct KeypointForm {
    /// The numbers of a keypoint, of which the third is its visibility.
    columns: usize,
    /// Whether the last number is the score of the object.
    has_score: bool,
}

/// The forms in the order in which they are tried.
const KEYPOINT_FORMS: [KeypointForm; 4] = [
    KeypointForm { columns: 3, has_score: false },
    KeypointForm { columns: 3, has_score: true },
    KeypointForm { columns: 2, has_score: false },
    KeypointForm { columns: 2, has_score: true },
];

/// Whether a side of a box is inside the picture, or almost.
fn is_inside(center: f64, side: f64) -> bool {
    side > 0.0 && center - side / 2.0 > -0.05 && center + side / 2.0 < 1.05
}

fn is_score(number: f64) -> bool {
    (0.0..=1.0).contains(&number)
}

fn is_tracked_box(numbers: &[f64]) -> bool {
    let &[x, y, width, height, score, track] = numbers else { return false };
    // A triangle may end with 1, too, but few boxes are as wide or high as the picture.
    let is_distinct = track > 1.0 || (width < 1.0 && height < 1.0);
    let is_track = track >= 1.0 && track.fract() == 0.0 && is_distinct;
    is_track && is_score(score) && is_inside(x, width) && is_inside(y, height)
}

/// Whether the numbers can be a box inside the picture, and keypoints near the box.
fn can_be_keypoints(numbers: &[f64], form: KeypointForm) -> bool {
    let (&[x, y, width, height], rest) = numbers.split_first_chunk().unwrap_or((&[0.0; 4], &[]));
    let (rest, score) = rest.split_at(rest.len() - usize::from(form.has_score));
    // Keypoints may be outside a box that is cut off.
    let is_near = |point: &[f64]| {
        let is_labeled = point[..2] != [0.0, 0.0];
        !is_labeled || ((point[0] - x).abs() <= width && (point[1] - y).abs() <= height)
    };
    let is_visibility = |point: &[f64]| point.get(2).is_none_or(|it| [0.0, 1.0, 2.0].contains(it));
    score.iter().all(|score| is_score(*score))
        && rest.len().is_multiple_of(form.columns)
        && is_inside(x, width)
        && is_inside(y, height)
        && rest.chunks(form.columns).all(|point| is_near(point) && is_visibility(point))
}

/// Whether the second point of a polygon is near its other points. The width and height of a box rarely are.
fn is_second_point_near(numbers: &[f64]) -> bool {
    let [x, y, second_x, second_y, rest @ ..] = numbers else { return false };
    let others = rest.as_chunks().0.iter().filter(|point| **point != [0.0, 0.0]);
    let others: Vec<[f64; 2]> = [&[*x, *y]].into_iter().chain(others).copied().collect();
    let Some([left, top, width, height]) = sides_around(&others) else { return false };
    let is_near =
        |at: f64, start: f64, side: f64| (start - side / 2.0..=start + 1.5 * side).contains(&at);
    is_near(*second_x, left, width) && is_near(*second_y, top, height)
}

/// Whether the numbers are the corners of a rotated box, which may have a score.
fn is_parallelogram(numbers: &[f64]) -> bool {
    const TOLERANCE: f64 = 0.01;
    let (&[one, two, three, four], score) = numbers.as_chunks::<2>() else { return false };
    if !score.iter().all(|score| is_score(*score)) {
        return false;
    }
    (0..2).all(|axis| (one[axis] + three[axis] - two[axis] - four[axis]).abs() < TOLERANCE)
}

pub(super) fn parse(
    text: &str,
    names: &ClassMap,
    keypoint_shape: Option<[usize; 2]>,
    has_tracks: bool,
) -> (MediaDescription, SidecarDiagnostics) {
    read_lines(text, |line, description| {
        let (class, numbers) = parse_line(line).ok_or(UNKNOWN)?;
        let numbers =
            if has_tracks { &numbers[..numbers.len().min(BOX_COLUMNS + 1)] } else { &numbers };
        let label = names.get(&class).cloned().unwrap_or_else(|| format!("class {class}"));
        let (extent, annotation) = parse_object(numbers, keypoint_shape)?;
        description.push_annotated(label, extent, annotation)
    })
}

/// Reads an object from each line that is not blank. The error of `add` says what is wrong with a line.
pub(super) fn read_lines(
    text: &str,
    add: impl Fn(&str, &mut MediaDescription) -> Result<(), &'static str>,
) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in text.lines() {
        diagnostics.next_position();
        if !line.trim().is_empty() {
            diagnostics.check(add(line, &mut description));
        }
    }
    (description, diagnostics)
}

fn parse_object(
    numbers: &[f64],
    keypoint_shape: Option<[usize; 2]>,
) -> Result<(BoundingBox, Annotation), &'static str> {
    let keypoint_columns = keypoint_shape.map_or(0, |[count, columns]| count * columns);
    let box_columns = BOX_COLUMNS + keypoint_columns;
    let (sides, annotation) = match (numbers, keypoint_shape) {
        ([x, y, width, height, rest @ ..], _) if rest.len() <= 1 => {
            // Another number, such as that of a track, is not a score.
            let score = rest.first().copied().filter(|score| is_score(*score));
            let annotation = Annotation { score, ..Annotation::default() };
            (centered([*x, *y, *width, *height]), annotation)
        }
        ([x, y, width, height, rest @ ..], Some([_, columns]))
            if [0, 1].map(|score| box_columns + score).contains(&numbers.len()) =>
        {
            let (keypoints, score) = rest.split_at(keypoint_columns);
            let are_probabilities = keypoints
                .chunks(columns)
                .any(|point| point.get(2).is_some_and(|it| it.fract() != 0.0));
            let keypoint = |point| keypoint(point, are_probabilities);
            let keypoints = keypoints.chunks(columns).flat_map(keypoint).collect();
            let score = score.first().copied();
            let annotation = Annotation { keypoints, score, ..Annotation::default() };
            (centered([*x, *y, *width, *height]), annotation)
        }
        (_, Some(_)) => return Err("its columns do not fit the keypoints of the dataset"),
        (_, None) => {
            let (polygon, score) = numbers.split_at(numbers.len() / 2 * 2);
            let score = score.first().copied();
            let polygons = vec![polygon.to_vec()];
            (
                sides_around(polygon.as_chunks().0).ok_or(UNKNOWN)?,
                Annotation { polygons, score, ..Annotation::default() },
            )
        }
    };
    let [left, top, width, height] = sides;
    // A box that is cut off may begin a little outside. In pixels, it would cover the whole picture.
    if ![left, top, left + width, top + height].iter().all(|side| (-1.0..=2.0).contains(side)) {
        return Err(
            "its numbers are not fractions of the picture; divide pixels by its width and height",
        );
    }
    let extent = BoundingBox::normalized(sides).ok_or("its box is empty or outside the picture")?;
    Ok((extent, annotation))
}

/// Returns x, y and visibility. A point without a visibility is visible, unless it is at the origin. Models write how
/// probable it is that a point is visible.
fn keypoint(numbers: &[f64], are_probabilities: bool) -> [f64; 3] {
    match *numbers {
        [x, y, probability] if are_probabilities => {
            [x, y, if probability >= 0.5 { 2.0 } else { 1.0 }]
        }
        [x, y, visibility] => [x, y, visibility],
        [x, y] => [x, y, if x == 0.0 && y == 0.0 { 0.0 } else { 2.0 }],
        _ => [0.0; 3],
    }
}

/// Returns left, top, width and height of a box that is given by its center.
fn centered([x, y, width, height]: [f64; 4]) -> [f64; 4] {
    [x - width / 2.0, y - height / 2.0, width, height]
}
