//! Verifies that two pictures show the same thing, by similar corners at consistent positions.
//!
//! One [`Transform`] must explain many corners in each half of the shared area. The same banner or frame in two
//! pictures is therefore not enough.

use pulp::Arch;

use crate::index::{CornerColor, Keypoint};

// The limits were chosen on 120 photographs with five heavy edits each and on 280 others, among which two different
// pictures never had more than six consistent corners by chance, and on 1,000 paintings, which share whole barns and
// boats. The limits were evaluated on other photographs.
const MAX_DIFFERING_BITS: u32 = 24;
pub const MIN_INLIERS: usize = 10;
/// Minimum share of consistent corners in each half.
const MIN_INLIER_SHARE: f32 = 0.2;
/// The share of consistent corners at or above which the score is 1.0.
const CERTAIN_INLIER_SHARE: f32 = 0.7;
/// Difference between the similarity of an equal picture and the similarity of a copy that just matches.
const COPY_SIMILARITY_RANGE: f32 = 0.16;
/// The largest similarity that corners prove. A copy can lack a part of the picture, in which no corners are shared.
const MAX_COPY_SIMILARITY: f32 = 0.99;
/// Number of inconsistent corners that is added to each half, because a few corners prove little.
const OUTLIER_PRIOR: f32 = 4.0;
/// The largest factor of the saturation of a copy.
const MAX_SATURATION: f32 = 2.0;
/// The largest shift of all colors of a copy, in each channel of [`CornerColor::opponents`].
const MAX_COLOR_SHIFT: f32 = 0.1;
/// The largest distance of the colors around two corners that are the same.
const MAX_COLOR_DIFFERENCE: f32 = 0.15;
/// The largest share of corners with other colors.
const MAX_DIFFERING_SHARE: f32 = 0.07;
/// The smallest distance from gray of a color whose hue is compared.
const MIN_CLEAR_COLOR: f32 = 0.2;
/// The cosine of the largest angle between two hues that are the same.
const MIN_HUE_COSINE: f32 = 0.7;
/// The largest share of corners with another hue, among those with clear colors.
const MAX_OTHER_HUES: f32 = 0.25;
/// The number of corners with clear colors from which on their hues decide.
const MIN_CLEAR_CORNERS: usize = 4;
/// Maximum number of corner pairs that are considered, most similar first.
const MAX_CORRESPONDENCES: usize = 40;

/// Number of bits for the number of a corner, enough for all corners of a picture.
const NUMBER_BITS: u32 = 16;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// Two similar corners, of the left and of the right picture.
#[derive(Clone, Copy)]
struct Correspondence {
    from: Point,
    to: Point,
    colors: [CornerColor; 2],
}

/// The corners of a picture in columns, so that the widest instructions of the processor can compare them.
#[derive(Default, PartialEq)]
pub struct CornerColumns {
    positions: Vec<Point>,
    /// The lower halves of the descriptors. `high` has the upper halves.
    low: Vec<u64>,
    high: Vec<u64>,
    colors: Vec<CornerColor>,
}

impl CornerColumns {
    /// Replaces the corners.
    pub fn fill(&mut self, corners: impl Iterator<Item = Keypoint>) {
        self.positions.clear();
        self.low.clear();
        self.high.clear();
        self.colors.clear();
        for Keypoint { x, y, descriptor, color } in corners {
            self.positions.push((f32::from(x), f32::from(y)));
            self.low.push(descriptor as u64);
            self.high.push((descriptor >> 64) as u64);
            self.colors.push(color);
        }
    }

    pub fn len(&self) -> usize {
        self.positions.len()
    }
}

/// What the corners of two pictures prove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// Too few corners are the same.
    Unproven,
    /// The corners are the same, but their colors differ.
    OtherColors,
    /// The pictures show the same thing, with a score from 0.0 (just enough) to 1.0.
    Copy(f32),
}

pub fn compare_corners(left: &CornerColumns, right: &CornerColumns) -> Comparison {
    let matches = mutual_matches(left, right);
    if matches.len() < MIN_INLIERS {
        return Comparison::Unproven;
    }
    let Some(transform) = best_transform(&matches) else { return Comparison::Unproven };
    let shared = overlapping_corners(left, right, transform);
    let fits = |it: &&Correspondence| transform.fits(it.from, it.to);
    let fitting: Vec<Correspondence> = matches.iter().filter(fits).copied().collect();
    let points: Vec<Point> = fitting.iter().map(|it| it.from).collect();
    let share = lowest_half_share(&points, &shared);
    if fitting.len() < MIN_INLIERS || share < MIN_INLIER_SHARE {
        return Comparison::Unproven;
    }
    if !colors_agree(&fitting) {
        return Comparison::OtherColors;
    }
    let range = CERTAIN_INLIER_SHARE - MIN_INLIER_SHARE;
    Comparison::Copy(((share - MIN_INLIER_SHARE) / range).min(1.0))
}

/// Returns the similarity of a copy (0.84 to 0.99) by its score. Nine of ten edited photographs have more
/// than 0.95.
pub fn copy_similarity(score: f32) -> f32 {
    (1.0 - COPY_SIMILARITY_RANGE * (1.0 - score).powi(2)).min(MAX_COPY_SIMILARITY)
}

/// Returns the pairs in which each corner is the most similar one to the other. The most similar pairs come first.
fn mutual_matches(left: &CornerColumns, right: &CornerColumns) -> Vec<Correspondence> {
    let (nearest_right, nearest_left) = Arch::new().dispatch(NearestCorners { left, right });
    let number = |nearest: u32| (nearest & NUMBER_MASK) as usize;
    let mut mutual: Vec<(u32, usize, usize)> = (0..left.len())
        .zip(nearest_right)
        .map(|(a, nearest)| (nearest >> NUMBER_BITS, a, number(nearest)))
        .filter(|&(bits, a, b)| bits <= MAX_DIFFERING_BITS && number(nearest_left[b]) == a)
        .collect();
    mutual.sort_unstable();
    mutual.truncate(MAX_CORRESPONDENCES);
    let correspondence = |(_, a, b): (u32, usize, usize)| Correspondence {
        from: left.positions[a],
        to: right.positions[b],
        colors: [left.colors[a], right.colors[b]],
    };
    mutual.into_iter().map(correspondence).collect()
}

/// Finds the nearest corner of every corner. A value combines the number of differing bits (upper bits) with the number
/// of the corner (lower bits), so that the least value is the nearest corner, and the first of equally near ones. This
/// is a type, because the body of a closure would not be inlined and therefore not be compiled for the processor.
struct NearestCorners<'a> {
    left: &'a CornerColumns,
    right: &'a CornerColumns,
}

impl pulp::NullaryFnOnce for NearestCorners<'_> {
    /// The value for each left corner, and for each right corner.
    type Output = (Vec<u32>, Vec<u32>);

    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the processor")]
    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { left, right } = self;
        let mut nearest_right = vec![u32::MAX; left.len()];
        let mut nearest_left = vec![u32::MAX; right.len()];
        let descriptors = left.low.iter().zip(&left.high);
        for ((a, nearest), (low, high)) in (0_u32..).zip(&mut nearest_right).zip(descriptors) {
            let mut least = u32::MAX;
            let others = right.low.iter().zip(&right.high).zip(&mut nearest_left);
            for (b, ((other_low, other_high), nearest)) in (0..right.len() as u32).zip(others) {
                let bits = (low ^ other_low).count_ones() + (high ^ other_high).count_ones();
                least = least.min(bits << NUMBER_BITS | b);
                *nearest = (*nearest).min(bits << NUMBER_BITS | a);
            }
            *nearest = least;
        }
        (nearest_right, nearest_left)
    }
}

/// Returns whether the same change of all colors explains the colors of one picture by those of the other: more or
/// less saturation, as in a gray copy, and a small shift, as by the balance of white. A sign, product or flag in
/// a clearly different color is another picture, although its corners are equal. One that is gray, black or white can be
/// a gray copy, because lightness is not compared.
fn colors_agree(fitting: &[Correspondence]) -> bool {
    let colors = |side: usize| -> Vec<[f32; 2]> {
        fitting.iter().map(|it| it.colors[side].opponents()).collect()
    };
    let (left, right) = (colors(0), colors(1));
    hues_agree(&left, &right) && (explains(&left, &right) || explains(&right, &left))
}

fn dot(a: [f32; 2], b: [f32; 2]) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

/// Returns whether colors that are clear in both pictures have the same hue. If nearly all corners of a picture have
/// the same color, as in a sign, any other color could be a shift of it.
fn hues_agree(left: &[[f32; 2]], right: &[[f32; 2]]) -> bool {
    let cosine = |(one, other): (&[f32; 2], &[f32; 2])| {
        let lengths = [one, other].map(|color| dot(*color, *color).sqrt());
        let is_clear = lengths.iter().all(|length| *length >= MIN_CLEAR_COLOR);
        is_clear.then(|| dot(*one, *other) / (lengths[0] * lengths[1]))
    };
    let cosines: Vec<f32> = left.iter().zip(right).filter_map(cosine).collect();
    let others = cosines.iter().filter(|cosine| **cosine < MIN_HUE_COSINE).count();
    cosines.len() < MIN_CLEAR_CORNERS || others as f32 <= MAX_OTHER_HUES * cosines.len() as f32
}

fn explains(known: &[[f32; 2]], others: &[[f32; 2]]) -> bool {
    let pairs = || known.iter().zip(others);
    let squares: f32 = known.iter().map(|color| dot(*color, *color)).sum();
    let products: f32 = pairs().map(|(one, other)| dot(*one, *other)).sum();
    let factor = if squares > 0.0 { (products / squares).clamp(0.0, MAX_SATURATION) } else { 0.0 };
    let count = known.len() as f32;
    let shift = [0, 1].map(|channel| {
        let sum: f32 = pairs().map(|(one, other)| other[channel] - factor * one[channel]).sum();
        (sum / count).clamp(-MAX_COLOR_SHIFT, MAX_COLOR_SHIFT)
    });
    let differs = |(one, other): &(&[f32; 2], &[f32; 2])| {
        let rest = [0, 1].map(|channel| other[channel] - factor * one[channel] - shift[channel]);
        dot(rest, rest) > MAX_COLOR_DIFFERENCE * MAX_COLOR_DIFFERENCE
    };
    pairs().filter(differs).count() as f32 <= MAX_DIFFERING_SHARE * count
}

fn best_transform(matches: &[Correspondence]) -> Option<Transform> {
    let mut best = (0, None);
    for (at, one) in matches.iter().enumerate() {
        for other in &matches[..at] {
            let Some(transform) = Transform::between([one.from, other.from], [one.to, other.to])
            else {
                continue;
            };
            let count = matches.iter().filter(|it| transform.fits(it.from, it.to)).count();
            if count > best.0 {
                best = (count, Some(transform));
            }
            if count == matches.len() {
                return best.1;
            }
        }
    }
    best.1
}

/// Returns the corners of the left picture that the transform maps into the area of the right picture's corners.
fn overlapping_corners(
    left: &CornerColumns,
    right: &CornerColumns,
    transform: Transform,
) -> Vec<Point> {
    let ends = |side: fn(&Point) -> f32| {
        let sides = || right.positions.iter().map(side);
        (sides().fold(f32::INFINITY, f32::min), sides().fold(0.0, f32::max))
    };
    let (across, down) = (ends(|point| point.0), ends(|point| point.1));
    let within = |at: f32, (first, last): Point| (first..=last).contains(&at);
    let is_shown = |point: &Point| {
        let (x, y) = transform.apply(*point);
        within(x, across) && within(y, down)
    };
    left.positions.iter().copied().filter(is_shown).collect()
}

/// Returns the smallest share of `shared` points that are also `fitting`, over four halves: left, right, upper, lower.
fn lowest_half_share(fitting: &[Point], shared: &[Point]) -> f32 {
    let mut lowest = f32::INFINITY;
    for side in [|point: &Point| point.0, |point: &Point| point.1] {
        let mut sides: Vec<f32> = shared.iter().map(side).collect();
        sides.sort_unstable_by(f32::total_cmp);
        let Some(&middle) = sides.get(sides.len() / 2) else {
            return 0.0;
        };
        for beyond in [false, true] {
            let count = |points: &[Point]| {
                points.iter().filter(|point| (side(point) >= middle) == beyond).count() as f32
            };
            lowest = lowest.min(count(fitting) / (count(shared) + OUTLIER_PRIOR));
        }
    }
    lowest
}

/// Pixel coordinates in the downscaled picture.
pub type Point = (f32, f32);

/// Largest accepted scaling factor, squared.
const MAX_SQUARED_SCALE: f32 = 6.25;
/// Steepest accepted rotation, as a tangent. Descriptors do not match beyond this rotation.
const MAX_TURN_TANGENT: f32 = 0.5;
/// Smallest distance of two points that determine a rotation, squared.
const MIN_SQUARED_BASELINE: f32 = 400.0;
/// Largest distance of a point from its expected position, squared.
const SQUARED_TOLERANCE: f32 = 16.0;

/// A rotation and scaling (as a complex factor), followed by a shift.
#[derive(Clone, Copy, Debug)]
pub struct Transform {
    factor: Point,
    shift: Point,
}

impl Transform {
    /// Returns the transform that maps the points of `from` to those of `to`, if it is plausible for a copy.
    pub fn between(from: [Point; 2], to: [Point; 2]) -> Option<Self> {
        let way = |[(ax, ay), (bx, by)]: [Point; 2]| (ax - bx, ay - by);
        let ((x, y), (u, v)) = (way(from), way(to));
        let length = x * x + y * y;
        let factor = ((u * x + v * y) / length, (v * x - u * y) / length);
        let scaling = squared_norm(factor);
        let plausible = length >= MIN_SQUARED_BASELINE
            && (MAX_SQUARED_SCALE.recip()..MAX_SQUARED_SCALE).contains(&scaling)
            && factor.1.abs() <= MAX_TURN_TANGENT * factor.0;
        plausible.then(|| {
            let turned = complex_product(factor, from[0]);
            Self { factor, shift: (to[0].0 - turned.0, to[0].1 - turned.1) }
        })
    }

    pub fn apply(self, point: Point) -> Point {
        let turned = complex_product(self.factor, point);
        (turned.0 + self.shift.0, turned.1 + self.shift.1)
    }

    pub fn fits(self, from: Point, to: Point) -> bool {
        let (x, y) = self.apply(from);
        squared_norm((x - to.0, y - to.1)) <= SQUARED_TOLERANCE * squared_norm(self.factor)
    }
}

fn complex_product(a: Point, b: Point) -> Point {
    (a.0 * b.0 - a.1 * b.1, a.1 * b.0 + a.0 * b.1)
}

fn squared_norm((x, y): Point) -> f32 {
    x * x + y * y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_determine_rotation_scale_and_shift() {
        let (sine, cosine) = 10_f32.to_radians().sin_cos();
        let moved = |(x, y): Point| {
            (1.4 * (cosine * x - sine * y) + 30.0, 1.4 * (sine * x + cosine * y) - 12.0)
        };
        let from = [(20.0, 30.0), (150.0, 90.0)];
        let found = Transform::between(from, from.map(moved)).unwrap();
        let (x, y) = found.apply((200.0, 10.0));
        let (u, v) = moved((200.0, 10.0));
        assert!((x - u).abs() < 1e-3 && (y - v).abs() < 1e-3);
        assert!(found.fits((200.0, 10.0), (u + 3.0, v - 3.0)));
        assert!(!found.fits((200.0, 10.0), (u + 9.0, v)));
    }

    #[test]
    fn implausible_transforms_are_rejected() {
        let from = [(20.0, 30.0), (150.0, 30.0)];
        let to = |a, b| Transform::between(from, [a, b]);
        assert!(to((20.0, 30.0), (150.0, 30.0)).is_some());
        assert!(to((150.0, 30.0), (20.0, 30.0)).is_none(), "upside down");
        assert!(to((20.0, 30.0), (20.0, 160.0)).is_none(), "a quarter turn");
        assert!(to((20.0, 30.0), (30.0, 30.0)).is_none(), "a tenth of the size");
        assert!(Transform::between([(5.0, 5.0); 2], [(5.0, 5.0); 2]).is_none(), "one place");
    }
}
