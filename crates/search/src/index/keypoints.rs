//! Keypoints: corners with binary descriptors (BRIEF).
//!
//! A copy that was rotated, cropped, bleached or written on no longer has the descriptor of its
//! original, but most of its corners, in consistent positions.

use std::{f32::consts::FRAC_1_SQRT_2, sync::LazyLock};

use super::{channel::Channel, corners::detect_corners};

/// Limits per scale, proportional to the area, so that a crop, which appears larger, has the
/// corners of its original one scale further.
const MAX_PER_SCALE: [usize; 4] = [34, 17, 9, 4];
/// Factor of the first scale; each next one is smaller by the square root of two.
const FIRST_SCALE: f32 = 0.75;
const DESCRIPTOR_BITS: usize = u128::BITS as usize;
/// Radius of the compared patch, in pixels of the scale.
const PATCH_RADIUS: usize = 11;
/// Minimum squared distance of two compared points: closer ones hardly differ.
const MIN_PAIR_DISTANCE_SQUARED: i32 = 9;
/// The encoded keypoints of one image: at most 64, 18 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keypoints(Box<[u8]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keypoint {
    /// Pixels from the left of the small copy.
    pub x: u8,
    /// Pixels from its top.
    pub y: u8,
    /// For each of 128 point pairs around the corner, whether the first is darker; the second 64
    /// pairs are the mirror images of the first 64.
    pub descriptor: u128,
}

impl Keypoint {
    /// The same corner in the mirrored image.
    pub fn mirrored(self) -> Self {
        Self {
            x: u8::MAX - self.x,
            descriptor: self.descriptor.rotate_left(u128::BITS / 2),
            ..self
        }
    }
}

impl Keypoints {
    /// Bytes of an encoded keypoint: x, y and descriptor.
    pub const ENCODED_SIZE: usize = 2 + DESCRIPTOR_BITS / 8;

    /// Detects the keypoints of an image of at most 256 pixels per side, given its smoothed luma.
    pub(super) fn detect(smoothed: &Channel) -> Self {
        let mut packed =
            Vec::with_capacity(MAX_PER_SCALE.iter().sum::<usize>() * Self::ENCODED_SIZE);
        let mut factor = FIRST_SCALE;
        let mut scaled = smoothed.shrink(factor);
        for (scale, most) in MAX_PER_SCALE.into_iter().enumerate() {
            if scale > 0 {
                scaled = scaled.shrink(FRAC_1_SQRT_2);
                factor *= FRAC_1_SQRT_2;
            }
            scaled = scaled.smooth();
            for (x, y) in detect_corners(&scaled, PATCH_RADIUS, most) {
                packed.extend([x, y].map(|at| ((at as f32 + 0.5) / factor) as u8));
                packed.extend(binary_descriptor(&scaled, x, y).to_le_bytes());
            }
        }
        Self(packed.into())
    }

    /// Decodes keypoints; an incomplete one at the end is ignored.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes[..bytes.len() - bytes.len() % Self::ENCODED_SIZE].into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len() / Self::ENCODED_SIZE
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the keypoints by scale, and within a scale in the order of `detect_corners`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Keypoint> {
        decode_keypoints(&self.0)
    }
}

/// Decodes keypoints; an incomplete one at the end is ignored.
pub fn decode_keypoints(bytes: &[u8]) -> impl ExactSizeIterator<Item = Keypoint> {
    let (packed, _) = bytes.as_chunks::<{ Keypoints::ENCODED_SIZE }>();
    packed.iter().map(|&[x, y, ref word @ ..]| Keypoint {
        x,
        y,
        descriptor: u128::from_le_bytes(*word),
    })
}

/// Two points relative to a corner.
type PointPair = [(i32, i32); 2];

/// The compared point pairs, drawn from a fixed pseudorandom sequence concentrated at the corner,
/// followed by their mirror images.
static POINT_PAIRS: LazyLock<Vec<PointPair>> = LazyLock::new(|| {
    let mut state = 7_u64;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
    };
    // The sum of four uniform numbers approximates a Gaussian.
    let mut offset =
        || ((0..4).map(|_| number()).sum::<f32>() * 1.3 * PATCH_RADIUS as f32).round() as i32;
    let mut point = || (offset(), offset());
    let inside = |(x, y): (i32, i32)| x * x + y * y <= (PATCH_RADIUS * PATCH_RADIUS) as i32;
    let apart =
        |[a, b]: PointPair| (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2) >= MIN_PAIR_DISTANCE_SQUARED;
    let mut pairs: Vec<PointPair> = std::iter::repeat_with(|| [point(), point()])
        .filter(|&pair| pair.into_iter().all(inside) && apart(pair))
        .take(DESCRIPTOR_BITS / 2)
        .collect();
    pairs.extend_from_within(..);
    for (x, _) in pairs[DESCRIPTOR_BITS / 2..].as_flattened_mut() {
        *x = -*x;
    }
    pairs
});

/// The descriptor of a corner at least [`PATCH_RADIUS`] from the border.
fn binary_descriptor(plane: &Channel, x: usize, y: usize) -> u128 {
    let center = (y * plane.width + x) as isize;
    let at = |(right, down): (i32, i32)| {
        plane.values[(center + down as isize * plane.width as isize + right as isize) as usize]
    };
    POINT_PAIRS.iter().fold(0, |word, &[a, b]| word << 1 | u128::from(at(a) < at(b)))
}
