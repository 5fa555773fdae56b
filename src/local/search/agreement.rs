//! Whether two pictures show the same thing: corners that look alike, at places that fit.
//!
//! One change of place (a [`Transform`]) must explain many corners, and corners in every half of
//! what the pictures share: the same banner or frame on two pictures is not enough.

use pulp::Arch;

use super::transform::{Place, Transform};
use crate::local::index::Keypoint;

// Fixed on 120 photographs with five hard edits each and 280 others; judged on other ones. There,
// two pictures of different things never had more than six corners that fit by chance.
/// Most bits in which the words of one corner differ.
const ALIKE: u32 = 24;
/// Fewest corners that must fit.
const FEWEST: usize = 10;
/// Share of the corners that must fit in every half.
const LEAST: f32 = 0.2;
/// Share from which on there is no doubt left.
const MOST: f32 = 0.7;
/// Corners that count as not fitting in every half beside those there are: few tell little.
const UNSEEN: f32 = 4.0;
/// Most pairs of corners looked at, those most alike.
const TWINS: usize = 40;

/// Two corners that may be the same one.
type Twins = (Place, Place);

/// How well the corners of two pictures agree, 0.0 just enough to 1.0, if they show the same thing.
pub fn agreement(left: &[Keypoint], right: &[Keypoint]) -> Option<f32> {
    let twins = Arch::new().dispatch(|| twins(left, right));
    if twins.len() < FEWEST {
        return None;
    }
    let transform = common(&twins)?;
    let shared = shared(left, right, transform);
    let fitting: Vec<Place> =
        twins.iter().filter(|&&(from, to)| transform.fits(from, to)).map(|twin| twin.0).collect();
    let share = lowest_share(&fitting, &shared);
    let agree = fitting.len() >= FEWEST && share >= LEAST;
    agree.then(|| ((share - LEAST) / (MOST - LEAST)).min(1.0))
}

fn place(keypoint: &Keypoint) -> Place {
    (f32::from(keypoint.x), f32::from(keypoint.y))
}

/// Corners of which each is the one most like the other, most alike first.
#[expect(clippy::inline_always, reason = "only what is inlined is compiled for the processor")]
#[inline(always)]
fn twins(left: &[Keypoint], right: &[Keypoint]) -> Vec<Twins> {
    let mut nearest_right = vec![(ALIKE + 1, 0); left.len()];
    let mut nearest_left = vec![(ALIKE + 1, 0); right.len()];
    for (a, (from, nearest)) in left.iter().zip(&mut nearest_right).enumerate() {
        for (b, (to, other)) in right.iter().zip(&mut nearest_left).enumerate() {
            let bits = (from.word ^ to.word).count_ones();
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
        .filter(|&(a, (bits, b))| bits <= ALIKE && nearest_left[b].1 == a)
        .map(|(a, (bits, b))| (bits, a, b))
        .collect();
    mutual.sort_unstable();
    mutual.truncate(TWINS);
    mutual.into_iter().map(|(_, a, b)| (place(&left[a]), place(&right[b]))).collect()
}

/// The change of place that explains most twins.
fn common(twins: &[Twins]) -> Option<Transform> {
    let mut best = (0, None);
    for (at, one) in twins.iter().enumerate() {
        for other in &twins[..at] {
            let Some(transform) = Transform::between([one.0, other.0], [one.1, other.1]) else {
                continue;
            };
            let count = twins.iter().filter(|&&(from, to)| transform.fits(from, to)).count();
            if count > best.0 {
                best = (count, Some(transform));
            }
            if count == twins.len() {
                return best.1;
            }
        }
    }
    best.1
}

/// The corners of the left picture that the right one shows too, if it is the same thing: those
/// that the transform takes to where the right one has corners at all.
fn shared(left: &[Keypoint], right: &[Keypoint], transform: Transform) -> Vec<Place> {
    let ends = |side: fn(&Keypoint) -> u8| {
        let sides = || right.iter().map(side).map(f32::from);
        (sides().fold(f32::INFINITY, f32::min), sides().fold(0.0, f32::max))
    };
    let (across, down) = (ends(|keypoint| keypoint.x), ends(|keypoint| keypoint.y));
    let within = |at: f32, (first, last): Place| (first..=last).contains(&at);
    let shown = |place: &Place| {
        let (x, y) = transform.apply(*place);
        within(x, across) && within(y, down)
    };
    left.iter().map(place).filter(shown).collect()
}

/// The share of the `shared` places that are `fitting` in the half (left, right, upper or lower)
/// where it is lowest.
fn lowest_share(fitting: &[Place], shared: &[Place]) -> f32 {
    let mut lowest = f32::INFINITY;
    for side in [|place: &Place| place.0, |place: &Place| place.1] {
        let mut sides: Vec<f32> = shared.iter().map(side).collect();
        sides.sort_unstable_by(f32::total_cmp);
        let Some(&middle) = sides.get(sides.len() / 2) else {
            return 0.0;
        };
        for beyond in [false, true] {
            let count = |places: &[Place]| {
                places.iter().filter(|place| (side(place) >= middle) == beyond).count() as f32
            };
            lowest = lowest.min(count(fitting) / (count(shared) + UNSEEN));
        }
    }
    lowest
}
