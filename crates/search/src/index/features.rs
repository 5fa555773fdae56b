//! Extracts the features of an image, or of regions of an image, from its bytes. The image is decoded once and scaled
//! to thumbnail size once. A `TurnedView` is a rotated copy, which is used to recognize rotated pictures.

use half::f16;
use image::{RgbImage, imageops};
use pulp::Arch;
use tessera_model::Region;
use tessera_picture::{
    decode::{DecodeError, decode, decode_for, with_spare_pixels},
    resize,
};

use super::{
    Keypoints,
    descriptor::{self, SQUARE_SIDE, perceptual_hash},
    keypoints::Channel,
    quality,
};

#[derive(Clone, Debug)]
pub struct Features {
    /// The width of the upright image in pixels.
    pub width: u32,
    pub height: u32,
    pub descriptor: Vec<f16>,
    /// Corners with descriptors, by which heavily edited copies are recognized.
    pub keypoints: Keypoints,
    /// Perceptual hash (DCT). Near-duplicates differ in few bits.
    pub hash: u64,
    /// The inverse of the variance of the width of edges, 0.0-15.0, in pixels of a copy of at most 256 pixels per side.
    /// A low number means that the image is blurred.
    pub sharpness: f32,
    /// Mean luma, 0.0 black to 1.0 white.
    pub brightness: f32,
    /// A JPEG of at most 256 pixels per side.
    pub thumbnail: Vec<u8>,
}

pub fn extract(bytes: &[u8]) -> Result<Features, DecodeError> {
    let decoded = decode_for(bytes, min_decode_side_of_whole)?;
    compute_features(&decoded.pixels, decoded.original)
}

/// Computes the features of regions of one image, in the order of `regions`. The image is decoded only once. A region
/// whose features cannot be computed gives `None`.
pub fn extract_regions(
    bytes: &[u8],
    regions: &[Region],
) -> Result<Vec<Option<Features>>, DecodeError> {
    let parts = decode_regions(bytes, regions, with_spare_pixels(THUMBNAIL_SIDE))?;
    Ok(parts.map(|(pixels, size)| compute_features(&pixels, size).ok()).collect())
}

/// Returns the pixels of regions of one image, and their sizes in the original. The image is decoded only once. The
/// shorter side of each region has at least `min_side` pixels, if the image has as many.
pub fn decode_regions(
    bytes: &[u8],
    regions: &[Region],
    min_side: u32,
) -> Result<impl Iterator<Item = (RgbImage, (u32, u32))>, DecodeError> {
    let decoded = decode_for(bytes, |size| min_decode_side(regions, size, min_side))?;
    Ok(regions.iter().map(move |&region| {
        let (x, y, width, height) = region_in_pixels(region, decoded.pixels.dimensions());
        let pixels = imageops::crop_imm(&decoded.pixels, x, y, width, height).to_image();
        let (.., width, height) = region_in_pixels(region, decoded.original);
        (pixels, (width, height))
    }))
}

fn compute_features(
    pixels: &RgbImage,
    (width, height): (u32, u32),
) -> Result<Features, DecodeError> {
    let small = shrink_to_thumbnail(pixels)?;
    let square = square_copy(&small)?;
    let LumaFeatures { keypoints, sharpness, brightness } =
        Arch::new().dispatch(MeasureLuma { small: &small });
    Ok(Features {
        width,
        height,
        descriptor: descriptor::compute_descriptor(&square, (width, height)),
        keypoints,
        hash: perceptual_hash(&square),
        sharpness,
        brightness,
        thumbnail: encode_thumbnail(&small)?,
    })
}

struct LumaFeatures {
    keypoints: Keypoints,
    sharpness: f32,
    brightness: f32,
}

/// The call that measures the luma of a small copy. All loops below it are inlined into it, so that the compiler uses
/// the widest vector instructions of the processor. The results do not depend on them.
struct MeasureLuma<'a> {
    small: &'a RgbImage,
}

impl pulp::NullaryFnOnce for MeasureLuma<'_> {
    type Output = LumaFeatures;

    #[expect(clippy::inline_always, reason = "only inlined loops are compiled for the processor")]
    #[inline(always)]
    fn call(self) -> LumaFeatures {
        let luma = quality::luma(self.small);
        let brightness = quality::brightness(&luma);
        let luma = Channel::from_luma(self.small.width(), luma);
        let smoothed = luma.smooth();
        LumaFeatures {
            keypoints: Keypoints::detect(self.small, &smoothed),
            sharpness: quality::sharpness(&luma, &smoothed),
            brightness,
        }
    }
}

pub fn region_in_pixels(region: Region, size: (u32, u32)) -> (u32, u32, u32, u32) {
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let Region { x, y, .. } = region;
    whole_pixels([x * width, y * height, region.width * width, region.height * height], size)
}

/// Rounds a rectangle (left, top, width, height) to at least one pixel inside the image.
pub fn whole_pixels(
    [x, y, wide, high]: [f64; 4],
    (width, height): (u32, u32),
) -> (u32, u32, u32, u32) {
    let span = |from: f64, length: f64, side: u32| {
        let first = (from as u32).min(side - 1);
        (first, (length.round() as u32).clamp(1, side - first))
    };
    let ((x, wide), (y, high)) = (span(x, wide, width), span(y, high, height));
    (x, y, wide, high)
}

/// Returns the minimum shorter side for a scaled decode, so that the shorter side of every region has at least
/// `min_side` pixels, if the image has as many.
pub fn min_decode_side(regions: &[Region], size: (u32, u32), min_side: u32) -> u32 {
    let shortest = |region: &Region| {
        let (.., width, height) = region_in_pixels(*region, size);
        width.min(height)
    };
    let shortest = regions.iter().map(shortest).min().unwrap_or(1);
    let scale = f64::from(min_side) / f64::from(shortest);
    (f64::from(size.0.min(size.1)) * scale).ceil() as u32
}

/// Returns the minimum shorter side for a scaled decode of a whole picture, so that its longer side has enough pixels for
/// the thumbnail. With fewer pixels, fewer edited copies are recognized (bench `quality`).
fn min_decode_side_of_whole(size: (u32, u32)) -> u32 {
    let (shorter, longer) = (size.0.min(size.1), size.0.max(size.1));
    (shorter * with_spare_pixels(THUMBNAIL_SIDE)).div_ceil(longer)
}

/// Longest side of a thumbnail, in pixels.
pub const THUMBNAIL_SIDE: u32 = 256;
const JPEG_QUALITY: u8 = 80;
/// A small picture is enlarged when it is shown, so that its colors would be visibly smeared. The encoder stores the
/// color of each pixel from a quality of 90 on.
const SMALL_SIDE: u32 = 64;
const SMALL_QUALITY: u8 = 95;

/// Returns a copy of at most [`THUMBNAIL_SIDE`] pixels per side. Small images are not enlarged.
pub fn shrink_to_thumbnail(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    let (width, height) = pixels.dimensions();
    let longest = width.max(height);
    if longest <= THUMBNAIL_SIDE {
        return Ok(pixels.clone());
    }
    let scaled = |side: u32| (side * THUMBNAIL_SIDE).div_ceil(longest).max(1);
    resize(pixels, (scaled(width), scaled(height)))
}

/// Returns a copy of [`SQUARE_SIDE`] x [`SQUARE_SIDE`] pixels, regardless of the aspect ratio.
pub fn square_copy(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    resize(pixels, (SQUARE_SIDE as u32, SQUARE_SIDE as u32))
}

pub fn encode_thumbnail(pixels: &RgbImage) -> Result<Vec<u8>, DecodeError> {
    let is_small = pixels.width().max(pixels.height()) <= SMALL_SIDE;
    tessera_picture::encode_jpeg(pixels, if is_small { SMALL_QUALITY } else { JPEG_QUALITY })
}

pub(crate) struct TurnedView {
    pixels: RgbImage,
    /// The perceptual hashes of the view and of its mirror image.
    pub hashes: [u64; 2],
}

/// Returns the views of the picture of a thumbnail rotated by 90, 180 and 270 degrees.
pub(crate) fn turned_views(jpeg: &[u8]) -> Result<[TurnedView; 3], DecodeError> {
    let upright = decode(jpeg, THUMBNAIL_SIDE)?.pixels;
    let [quarter, half, three] = [imageops::rotate90, imageops::rotate180, imageops::rotate270]
        .map(|turn: fn(&RgbImage) -> RgbImage| TurnedView::new(turn(&upright)));
    Ok([quarter?, half?, three?])
}

impl TurnedView {
    fn new(pixels: RgbImage) -> Result<Self, DecodeError> {
        let square = square_copy(&pixels)?;
        let mirrored = imageops::flip_horizontal(&square);
        let hashes = [&square, &mirrored].map(perceptual_hash);
        Ok(Self { pixels, hashes })
    }

    pub fn keypoints(&self) -> Keypoints {
        let luma = quality::luma(&self.pixels);
        let luma = Channel::from_luma(self.pixels.width(), luma);
        Keypoints::detect(&self.pixels, &luma.smooth())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_at_least_a_pixel_and_inside() {
        let of = |x, y, w, h| region_in_pixels(Region::new(x, y, w, h).unwrap(), (100, 50));
        assert_eq!(of(0.0, 0.0, 1.0, 1.0), (0, 0, 100, 50));
        assert_eq!(of(0.25, 0.5, 0.5, 0.5), (25, 25, 50, 25));
        assert_eq!(of(0.999, 0.0, 0.001, 0.0001), (99, 0, 1, 1));
        assert_eq!(of(1.0, 1.0, 1e-12, 1e-12), (99, 49, 1, 1));
        assert_eq!(whole_pixels([90.0, 0.0, 2048.0, 1536.0], (100, 50)), (90, 0, 10, 50));
    }

    #[test]
    fn thumbnails_of_small_pictures_keep_their_colors() {
        const COLORS: [[u8; 3]; 3] = [[255, 0, 255], [20, 200, 40], [250, 240, 10]];
        for side in [8, 16, 32, 64] {
            let picture = RgbImage::from_fn(side, side, |x, y| {
                image::Rgb(COLORS[((x / 2 + 2 * (y / 2)) % 3) as usize])
            });
            let shown = decode(&encode_thumbnail(&picture).unwrap(), side).unwrap().pixels;
            let pairs = shown.as_raw().iter().zip(picture.as_raw());
            let sum: u32 = pairs.map(|(one, other)| u32::from(one.abs_diff(*other))).sum();
            assert!(sum / (3 * side * side) < 6, "{side}: {sum}");
        }
    }

    #[test]
    fn large_regions_of_large_pictures_need_few_pixels() {
        let half = Region::new(0.0, 0.0, 0.5, 0.5).unwrap();
        let tiny = Region::new(0.0, 0.0, 0.01, 0.01).unwrap();
        assert_eq!(min_decode_side(&[half], (4000, 3000), 256), 512);
        assert!(min_decode_side(&[half, tiny], (4000, 3000), 256) > 3000);
        assert!(min_decode_side(&[half], (300, 200), 256) > 200);
    }
}
