//! The features of an image or of regions of it.

use half::f16;
use image::{RgbImage, imageops};

use super::{Keypoints, channel::Channel, descriptor, perceptual_hash, quality, region, thumbnail};
use tessera_model::Region;
use tessera_picture::decode::{DecodeError, decode, decode_for};

#[derive(Clone, Debug)]
pub struct Features {
    /// Pixels, upright.
    pub width: u32,
    pub height: u32,
    pub descriptor: Vec<f16>,
    /// Corners with descriptors, to recognize heavily edited copies.
    pub keypoints: Keypoints,
    /// Perceptual hash (DCT): near-duplicates differ in few bits.
    pub hash: u64,
    /// 1 / the variance of the width of edges in pixels of a copy of at most 256 pixels per side, 0.0-15.0; low means
    /// blurred.
    pub sharpness: f32,
    /// Mean luma, 0.0 black to 1.0 white.
    pub brightness: f32,
    /// A JPEG of at most 256 pixels per side.
    pub thumbnail: Vec<u8>,
}

pub fn extract(bytes: &[u8]) -> Result<Features, DecodeError> {
    let decoded = decode(bytes, thumbnail::THUMBNAIL_SIDE)?;
    compute_features(&decoded.pixels, decoded.original)
}

/// Computes the features of regions of one image, which is decoded once, in the order of `regions`.
pub fn extract_regions(bytes: &[u8], regions: &[Region]) -> Result<Vec<Features>, DecodeError> {
    let parts = decode_regions(bytes, regions, thumbnail::THUMBNAIL_SIDE)?;
    parts.map(|(pixels, size)| compute_features(&pixels, size)).collect()
}

/// The pixels of regions of one image, which is decoded once, and their sizes in the original. The shorter side of each
/// has at least `min_side` pixels, if the image does.
pub fn decode_regions(
    bytes: &[u8],
    regions: &[Region],
    min_side: u32,
) -> Result<impl Iterator<Item = (RgbImage, (u32, u32))>, DecodeError> {
    let decoded = decode_for(bytes, |size| region::min_decode_side(regions, size, min_side))?;
    Ok(regions.iter().map(move |&region| {
        let (x, y, width, height) = region::region_in_pixels(region, decoded.pixels.dimensions());
        let pixels = imageops::crop_imm(&decoded.pixels, x, y, width, height).to_image();
        let (.., width, height) = region::region_in_pixels(region, decoded.original);
        (pixels, (width, height))
    }))
}

fn compute_features(
    pixels: &RgbImage,
    (width, height): (u32, u32),
) -> Result<Features, DecodeError> {
    let small = thumbnail::shrink(pixels)?;
    let square = thumbnail::square(&small)?;
    let luma = quality::luma(&small);
    let brightness = quality::brightness(&luma);
    let luma = Channel::from_luma(small.width(), luma);
    let smoothed = luma.smooth();
    Ok(Features {
        width,
        height,
        descriptor: descriptor::compute_descriptor(&square),
        keypoints: Keypoints::detect(&smoothed),
        hash: perceptual_hash::compute(&square),
        sharpness: quality::sharpness(&luma, &smoothed),
        brightness,
        thumbnail: thumbnail::encode(&small)?,
    })
}
