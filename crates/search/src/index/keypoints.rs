//! Detects keypoints: corners with binary descriptors (BRIEF).
//!
//! The descriptor of a copy that was rotated, cropped, bleached or written on differs from that of the original. Most
//! of its corners are the same, however, and lie in consistent positions.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatched call is compiled for its processor"
)]

use std::{f32::consts::FRAC_1_SQRT_2, sync::LazyLock};

use image::RgbImage;

use super::descriptor::split_fraction;

/// Maximum number of keypoints per scale. The limits are proportional to the area, so that a crop, which appears
/// larger, has the corners of its original one scale further.
const MAX_PER_SCALE: [usize; 4] = [34, 17, 9, 4];
/// Factor of the first scale. Each scale is smaller than the one before by the square root of two.
const FIRST_SCALE: f32 = 0.75;
const DESCRIPTOR_BITS: usize = u128::BITS as usize;
/// Radius of the compared patch, in pixels of the scale.
const PATCH_RADIUS: usize = 11;
/// Radius of the square whose color is measured, in pixels of the scale.
const COLOR_RADIUS: f32 = 4.0;
/// Minimum squared distance between two compared points. Points that are closer hardly differ.
const MIN_PAIR_DISTANCE_SQUARED: i32 = 9;

/// The encoded keypoints of one image. There are at most 64, with 19 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keypoints(Box<[u8]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keypoint {
    /// Pixels from the left of the small copy.
    pub x: u8,
    /// Pixels from the top of the small copy.
    pub y: u8,
    /// One bit for each of 128 point pairs around the corner, which says whether the first point is darker. The second
    /// 64 pairs are the mirror images of the first 64.
    pub descriptor: u128,
    /// The mean color around the corner, because the descriptor knows only luma.
    pub color: CornerColor,
}

/// A color without its lightness. The upper four bits are red against green, and the lower ones yellow against blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CornerColor(pub u8);

impl CornerColor {
    /// The largest difference of channels, where 1.0 is that of black and white. Larger ones count as this one.
    const RANGE: f32 = 0.6;
    /// The number of steps from no difference to the largest one.
    const LEVELS: f32 = 7.0;

    /// Returns the mean color of the square with this center and radius, in pixels.
    fn around(image: &RgbImage, center: (u8, u8), radius: u32) -> Self {
        let span = |center: u8, side: u32| {
            let center = u32::from(center);
            center.saturating_sub(radius)..(center + radius + 1).min(side)
        };
        let mut sums = [0_u32; 3];
        for y in span(center.1, image.height()) {
            for x in span(center.0, image.width()) {
                let pixel = image.get_pixel(x, y).0;
                sums.iter_mut().zip(pixel).for_each(|(sum, sample)| *sum += u32::from(sample));
            }
        }
        let pixels = span(center.0, image.width()).len() * span(center.1, image.height()).len();
        let [red, green, blue] = sums.map(|sum| sum as f32 / (pixels as f32 * 255.0));
        let level = |difference: f32| {
            let part = (difference / Self::RANGE).clamp(-1.0, 1.0);
            ((part + 1.0) * Self::LEVELS).round() as u8
        };
        Self(level(red - green) << 4 | level(f32::midpoint(red, green) - blue))
    }

    /// Returns red against green and yellow against blue, each from -0.6 to 0.6.
    pub fn opponents(self) -> [f32; 2] {
        [self.0 >> 4, self.0 & 0xf]
            .map(|level| (f32::from(level) / Self::LEVELS - 1.0) * Self::RANGE)
    }
}

impl Keypoint {
    /// Returns the same corner in the mirrored image.
    pub fn mirrored(self) -> Self {
        Self {
            x: u8::MAX - self.x,
            descriptor: self.descriptor.rotate_left(u128::BITS / 2),
            ..self
        }
    }
}

impl Keypoints {
    /// Bytes of an encoded keypoint: x, y, color and descriptor.
    pub const ENCODED_SIZE: usize = 3 + DESCRIPTOR_BITS / 8;

    /// Detects the keypoints of an image of at most 256 pixels per side, given its smoothed luma as well.
    #[inline(always)]
    pub(super) fn detect(image: &RgbImage, smoothed: &Channel) -> Self {
        let mut packed =
            Vec::with_capacity(MAX_PER_SCALE.iter().sum::<usize>() * Self::ENCODED_SIZE);
        let mut factor = FIRST_SCALE;
        let mut scaled = smoothed.shrink(factor);
        for (scale, limit) in MAX_PER_SCALE.into_iter().enumerate() {
            if scale > 0 {
                scaled = scaled.shrink(FRAC_1_SQRT_2);
                factor *= FRAC_1_SQRT_2;
            }
            scaled = scaled.smooth();
            for (x, y) in detect_corners(&scaled, PATCH_RADIUS, limit) {
                let place = [x, y].map(|at| ((at as f32 + 0.5) / factor) as u8);
                let radius = (COLOR_RADIUS / factor) as u32;
                packed.extend(place);
                packed.push(CornerColor::around(image, place.into(), radius).0);
                packed.extend(binary_descriptor(&scaled, x, y).to_le_bytes());
            }
        }
        Self(packed.into())
    }

    /// Decodes keypoints. An incomplete keypoint at the end is ignored.
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

/// Decodes keypoints. An incomplete keypoint at the end is ignored.
pub(crate) fn decode_keypoints(bytes: &[u8]) -> impl ExactSizeIterator<Item = Keypoint> {
    let (packed, _) = bytes.as_chunks::<{ Keypoints::ENCODED_SIZE }>();
    packed.iter().map(|&[x, y, color, ref word @ ..]| Keypoint {
        x,
        y,
        color: CornerColor(color),
        descriptor: u128::from_le_bytes(*word),
    })
}

/// Two points relative to a corner.
type PointPair = [(i32, i32); 2];

/// The compared point pairs, followed by their mirror images. The points are drawn from a fixed pseudorandom sequence
/// that is concentrated at the corner.
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

/// Computes the descriptor of a corner that is at least [`PATCH_RADIUS`] from the border.
#[inline(always)]
fn binary_descriptor(channel: &Channel, x: usize, y: usize) -> u128 {
    let center = (y * channel.width + x) as isize;
    let at = |(right, down): (i32, i32)| {
        channel.values[(center + down as isize * channel.width as isize + right as isize) as usize]
    };
    POINT_PAIRS.iter().fold(0, |word, &[a, b]| word << 1 | u128::from(at(a) < at(b)))
}

/// Strength below which a point is noise, in luma squared (0 to 255).
const MIN_CORNER_STRENGTH: f32 = 4.0;
/// A small number that is added to divisors, which are 0 in flat areas.
const DIVISION_EPSILON: f32 = 1e-6;
/// A corner is suppressed only by a corner that is stronger by this ratio.
const SUPPRESSION_RATIO: f32 = 0.9;

/// The strength of a point (x, y) that is at least as strong as its neighbors.
type Peak = (f32, (usize, usize));

/// Returns up to `limit` corners (x, y) that are at least `margin` from the border. By their minimum eigenvalue, these
/// are points that can be found again in an edited copy. Corners are ordered by the distance to the nearest stronger
/// corner (adaptive non-maximum suppression), so that they are spread over the image.
#[inline(always)]
pub fn detect_corners(channel: &Channel, margin: usize, limit: usize) -> Vec<(usize, usize)> {
    let strengths = corner_strengths(channel);
    let mut peaks = local_maxima(&strengths, margin);
    let stronger_first = |a: &Peak, b: &Peak| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if peaks.len() > limit * 8 {
        peaks.select_nth_unstable_by(limit * 8, stronger_first);
        peaks.truncate(limit * 8);
    }
    peaks.sort_unstable_by(stronger_first);
    // The compiler uses vectors for these loops, because the coordinates are in separate columns and the arithmetic is
    // not checked. No side of a picture has more than `THUMBNAIL_SIDE` pixels, so nothing overflows.
    let (xs, ys): (Vec<i32>, Vec<i32>) =
        peaks.iter().map(|&(_, (x, y))| (x as i32, y as i32)).unzip();
    let mut spread: Vec<(i32, usize)> = (0..peaks.len())
        .map(|at| {
            let is_stronger = |other: &(f32, _)| peaks[at].0 < SUPPRESSION_RATIO * other.0;
            let stronger = peaks[..at].partition_point(is_stronger);
            let square = |from: i32, to: i32| from.wrapping_sub(to).wrapping_pow(2);
            let away = xs[..stronger].iter().zip(&ys[..stronger]);
            let away = away.map(|(&x, &y)| square(x, xs[at]).wrapping_add(square(y, ys[at])));
            (away.min().unwrap_or(i32::MAX), at)
        })
        .collect();
    spread.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    spread.iter().take(limit).map(|&(_, at)| peaks[at].1).collect()
}

#[inline(always)]
fn corner_strengths(channel: &Channel) -> Channel {
    let width = channel.width;
    let mut products = [(); 3].map(|()| vec![0.0; channel.values.len()]);
    let inner = width.saturating_sub(2);
    for y in 1..channel.height().saturating_sub(1) {
        let first = y * width + 1;
        let line = |from: usize| &channel.values[from..][..inner];
        let (left, right) = (line(first - 1), line(first + 1));
        let (above, below) = (line(first - width), line(first + width));
        let [across, down, both] =
            products.each_mut().map(|channel| &mut channel[first..][..inner]);
        for x in 0..inner {
            let (dx, dy) = (right[x] - left[x], below[x] - above[x]);
            (across[x], down[x], both[x]) = (dx * dx, dy * dy, dx * dy);
        }
    }
    let [across, down, both] = products;
    let across = Channel::new(width, across).smooth().values;
    let down = Channel::new(width, down).smooth().values;
    let both = Channel::new(width, both).smooth().values;
    let sums = across.iter().zip(&down).zip(&both);
    let least =
        |((xx, yy), xy): ((&f32, &f32), &f32)| (xx * yy - xy * xy) / (xx + yy + DIVISION_EPSILON);
    Channel::new(width, sums.map(least).collect())
}

/// Returns the local maxima in 3 x 3 neighborhoods, with their strength.
#[inline(always)]
fn local_maxima(strengths: &Channel, margin: usize) -> Vec<Peak> {
    let (width, height) = (strengths.width, strengths.height());
    let margin = margin.max(1);
    let mut peaks = Vec::new();
    if width <= 2 * margin {
        return peaks;
    }
    let columns = margin..width - margin;
    // The maxima come first, because the compiler uses vectors for them.
    let (mut in_column, mut around) = (vec![0.0_f32; width], vec![0.0_f32; width]);
    for y in margin..height.saturating_sub(margin) {
        let [above, line, below] = [-1, 0, 1].map(|step| strengths.row(y as isize + step));
        let lines = above.iter().zip(line).zip(below);
        for (greatest, ((above, here), below)) in in_column.iter_mut().zip(lines) {
            *greatest = above.max(*here).max(*below);
        }
        let neighbors = in_column.iter().zip(&in_column[1..]).zip(&in_column[2..]);
        for (greatest, ((left, here), right)) in around[1..].iter_mut().zip(neighbors) {
            *greatest = left.max(*here).max(*right);
        }
        let points = columns.clone().zip(&line[columns.clone()]).zip(&around[columns.clone()]);
        for ((x, &strength), &greatest) in points {
            if strength >= greatest && strength > MIN_CORNER_STRENGTH {
                peaks.push((strength, (x, y)));
            }
        }
    }
    peaks
}

/// Smoothing kernel: a Gaussian of one pixel that reaches two pixels to either side.
const SMOOTHING_KERNEL: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

#[derive(Clone, Debug)]
pub struct Channel {
    /// Numbers per row, at least 1.
    pub width: usize,
    pub values: Vec<f32>,
}

impl Channel {
    #[inline(always)]
    pub fn new(width: usize, values: Vec<f32>) -> Self {
        Self { width, values }
    }

    #[inline(always)]
    pub fn from_luma(width: u32, luma: Vec<u8>) -> Self {
        Self::new(width as usize, luma.into_iter().map(f32::from).collect())
    }

    #[inline(always)]
    pub fn height(&self) -> usize {
        self.values.len() / self.width
    }

    /// Returns one row. Rows beyond the border repeat the outermost one.
    #[inline(always)]
    pub fn row(&self, y: isize) -> &[f32] {
        let y = y.clamp(0, self.height() as isize - 1) as usize;
        &self.values[y * self.width..][..self.width]
    }

    #[inline(always)]
    pub fn smooth(&self) -> Self {
        let mut values = vec![0.0; self.values.len()];
        let mut padded = vec![0.0; self.width + 4];
        for (y, smoothed) in (0..).zip(values.chunks_exact_mut(self.width)) {
            let lines =
                [self.row(y - 2), self.row(y - 1), self.row(y), self.row(y + 1), self.row(y + 2)];
            let inner = padded[2..].iter_mut().zip(weighted_sums(lines));
            inner.for_each(|(value, sum)| *value = sum);
            let (first, last) = (padded[2], padded[self.width + 1]);
            padded[..2].fill(first);
            padded[self.width + 2..].fill(last);
            let steps: [&[f32]; 5] = std::array::from_fn(|step| &padded[step..][..self.width]);
            let sums = smoothed.iter_mut().zip(weighted_sums(steps));
            sums.for_each(|(value, sum)| *value = sum);
        }
        Self { width: self.width, values }
    }

    /// Returns a copy scaled by `factor` (0.5 to 1.0), with linear interpolation. The channel should be smoothed first.
    #[inline(always)]
    pub fn shrink(&self, factor: f32) -> Self {
        let scaled = |side: usize| ((side as f32 * factor).round() as usize).max(1);
        let (width, height) = (scaled(self.width), scaled(self.height()));
        let columns: Vec<(usize, f32)> = sample_positions(width, self.width).collect();
        let mut values = vec![0.0; width * height];
        // The rows are blended first, because vectors can do it. The last number is repeated.
        let mut blended = vec![0.0; self.width + 1];
        let rows = sample_positions(height, self.height());
        for (shrunk, (y, below)) in values.chunks_exact_mut(width).zip(rows) {
            let lines = self.row(y as isize).iter().zip(self.row(y as isize + 1));
            for (blended, (top, bottom)) in blended.iter_mut().zip(lines) {
                *blended = top + (bottom - top) * below;
            }
            blended[self.width] = blended[self.width - 1];
            for (value, &(x, right)) in shrunk.iter_mut().zip(&columns) {
                *value = blended[x] + (blended[x + 1] - blended[x]) * right;
            }
        }
        Self { width, values }
    }
}

/// Returns the sums of five rows, each multiplied by its weight in the [`SMOOTHING_KERNEL`].
#[inline(always)]
fn weighted_sums([first, second, third, fourth, fifth]: [&[f32]; 5]) -> impl Iterator<Item = f32> {
    let rows = first.iter().zip(second).zip(third).zip(fourth).zip(fifth);
    let [outer, inner, middle, ..] = SMOOTHING_KERNEL;
    rows.map(move |((((first, second), third), fourth), fifth)| {
        first * outer + second * inner + third * middle + fourth * inner + fifth * outer
    })
}

/// Returns for each of `to` positions along `from` the preceding position and the fraction of the way to the next one.
#[inline(always)]
fn sample_positions(to: usize, from: usize) -> impl Iterator<Item = (usize, f32)> {
    let step = from as f32 / to as f32;
    (0..to).map(move |position| {
        let exact = ((position as f32 + 0.5) * step - 0.5).clamp(0.0, (from - 1) as f32);
        split_fraction(exact)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxima_are_at_least_as_strong_as_their_neighbors_and_inside_of_the_margin() {
        let mut strengths = Channel::new(13, vec![5.0; 13 * 12]);
        let mut set = |x: usize, y: usize, value: f32| strengths.values[y * 13 + x] = value;
        // The first two are a plateau, and the last three are outside of the margin.
        for (x, y) in [(2, 3), (3, 3), (9, 7), (12, 7), (0, 5), (9, 11)] {
            set(x, y, 9.0);
        }
        for (x, y) in [(8, 6), (9, 6), (10, 6), (8, 7), (10, 7), (8, 8), (9, 8), (10, 8)] {
            set(x, y, 8.0);
        }
        let found = local_maxima(&strengths, 2);
        let strong = found.iter().filter(|(strength, _)| *strength > 5.0).map(|(_, at)| *at);
        assert_eq!(strong.collect::<Vec<_>>(), [(2, 3), (3, 3), (9, 7)]);
    }

    #[test]
    fn the_mean_color_around_a_corner_is_known_to_a_half_step() {
        for (pixel, expected) in [
            ([0, 0, 0], [0.0, 0.0]),
            ([128, 128, 128], [0.0, 0.0]),
            ([255, 0, 0], [0.6, 0.5]),
            ([100, 150, 200], [-0.196, -0.294]),
        ] {
            let image = RgbImage::from_pixel(20, 10, image::Rgb(pixel));
            for center in [(0, 0), (19, 9)] {
                let found = CornerColor::around(&image, center, 5).opponents();
                let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                assert!(error.fold(0.0, f32::max) <= 0.05, "{found:?} for {pixel:?}");
            }
        }
    }

    #[test]
    fn pictures_within_the_margins_have_no_corners() {
        let with_square = |width: usize, height: usize| {
            let is_inside = |at: usize, side: usize| side / 2 <= at + 3 && at < side / 2 + 3;
            let value = |at: usize| {
                let is_bright = is_inside(at % width, width) && is_inside(at / width, height);
                if is_bright { 255.0 } else { 0.0 }
            };
            Channel::new(width, (0..width * height).map(value).collect())
        };
        let detect = |width: usize, height: usize| {
            let image = RgbImage::new(width as u32, height as u32);
            Keypoints::detect(&image, &with_square(width, height))
        };
        assert!(detect(64, 64).len() >= 4);
        for (width, height) in [(1, 1), (1, 256), (256, 1), (28, 256), (256, 28)] {
            let found = detect(width, height);
            assert!(found.is_empty(), "{width}x{height}");
        }
    }
}
