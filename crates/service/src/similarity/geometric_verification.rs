//! Verifies that two pictures show the same thing: similar corners at consistent positions.
//!
//! One [`Transform`] must explain many corners, in each half of the shared area: the same banner or
//! frame in two pictures is not enough.

use pulp::Arch;

use super::transform::{Point, Transform};
use crate::index::Keypoint;

// The limits were chosen on 120 photographs with five heavy edits each and 280 others, where two
// different pictures never had more than six consistent corners by chance, and on 1,000 paintings,
// which share whole barns and boats. They were evaluated on other photographs.
const MAX_DIFFERING_BITS: u32 = 24;
const MIN_INLIERS: usize = 10;
/// Smallest share of consistent corners in each half.
const MIN_INLIER_SHARE: f32 = 0.2;
/// Share from which the score is 1.0.
const CERTAIN_INLIER_SHARE: f32 = 0.7;
/// Inconsistent corners added to each half, because a few corners prove little.
const OUTLIER_PRIOR: f32 = 4.0;
/// Most corner pairs considered, the most similar ones.
const MAX_CORRESPONDENCES: usize = 40;

type Correspondence = (Point, Point);

/// How well two pictures match, from 0.0 (just enough) to 1.0; `None` if they do not.
pub fn inlier_score(left: &[Keypoint], right: &[Keypoint]) -> Option<f32> {
    let matches = Arch::new().dispatch(MutualMatches { left, right });
    if matches.len() < MIN_INLIERS {
        return None;
    }
    let transform = best_transform(&matches)?;
    let shared = overlapping_corners(left, right, transform);
    let fitting: Vec<Point> =
        matches.iter().filter(|&&(from, to)| transform.fits(from, to)).map(|pair| pair.0).collect();
    let share = lowest_half_share(&fitting, &shared);
    let agree = fitting.len() >= MIN_INLIERS && share >= MIN_INLIER_SHARE;
    agree.then(|| ((share - MIN_INLIER_SHARE) / (CERTAIN_INLIER_SHARE - MIN_INLIER_SHARE)).min(1.0))
}

fn position(keypoint: &Keypoint) -> Point {
    (f32::from(keypoint.x), f32::from(keypoint.y))
}

/// Finds pairs of corners that are each other's most similar one, most similar first. The body of a closure would
/// not be inlined, and so not be compiled for the processor.
struct MutualMatches<'a> {
    left: &'a [Keypoint],
    right: &'a [Keypoint],
}

impl pulp::NullaryFnOnce for MutualMatches<'_> {
    type Output = Vec<Correspondence>;

    #[expect(clippy::inline_always, reason = "only what is inlined is compiled for the processor")]
    #[inline(always)]
    fn call(self) -> Vec<Correspondence> {
        let Self { left, right } = self;
        let mut nearest_right = vec![(MAX_DIFFERING_BITS + 1, 0); left.len()];
        let mut nearest_left = vec![(MAX_DIFFERING_BITS + 1, 0); right.len()];
        for (a, (from, nearest)) in left.iter().zip(&mut nearest_right).enumerate() {
            for (b, (to, other)) in right.iter().zip(&mut nearest_left).enumerate() {
                let bits = (from.descriptor ^ to.descriptor).count_ones();
                if bits < nearest.0 {
                    *nearest = (bits, b);
                }
                if bits < other.0 {
                    *other = (bits, a);
                }
            }
        }
        let mut mutual: Vec<(u32, usize, usize)> = (0..)
            .zip(nearest_right)
            .filter(|&(a, (bits, b))| bits <= MAX_DIFFERING_BITS && nearest_left[b].1 == a)
            .map(|(a, (bits, b))| (bits, a, b))
            .collect();
        mutual.sort_unstable();
        mutual.truncate(MAX_CORRESPONDENCES);
        mutual.into_iter().map(|(_, a, b)| (position(&left[a]), position(&right[b]))).collect()
    }
}

fn best_transform(matches: &[Correspondence]) -> Option<Transform> {
    let mut best = (0, None);
    for (at, one) in matches.iter().enumerate() {
        for other in &matches[..at] {
            let Some(transform) = Transform::between([one.0, other.0], [one.1, other.1]) else {
                continue;
            };
            let count = matches.iter().filter(|&&(from, to)| transform.fits(from, to)).count();
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

/// The corners of the left picture that the transform moves to where the right one has corners.
fn overlapping_corners(left: &[Keypoint], right: &[Keypoint], transform: Transform) -> Vec<Point> {
    let ends = |side: fn(&Keypoint) -> u8| {
        let sides = || right.iter().map(side).map(f32::from);
        (sides().fold(f32::INFINITY, f32::min), sides().fold(0.0, f32::max))
    };
    let (across, down) = (ends(|keypoint| keypoint.x), ends(|keypoint| keypoint.y));
    let within = |at: f32, (first, last): Point| (first..=last).contains(&at);
    let is_shown = |point: &Point| {
        let (x, y) = transform.apply(*point);
        within(x, across) && within(y, down)
    };
    left.iter().map(position).filter(is_shown).collect()
}

/// The smallest share of `shared` points that are `fitting` in any half: left, right, upper, lower.
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
