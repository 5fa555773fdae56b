//! Converts pictures that other programs may not open, or show in another orientation: bounding boxes would select
//! the wrong part in a program that ignores the orientation.

use crate::{
    decode::{decode, is_rotated},
    encode_jpeg::encode_jpeg,
    error::DecodeError,
    format::PictureFormat,
};

/// High, because features are computed from the result.
const QUALITY: u8 = 95;

/// The upright picture as a JPEG; `None` if it is upright and of a format that every program reads.
pub fn to_common_jpeg(bytes: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    if PictureFormat::detect(bytes).is_some_and(PictureFormat::is_common) && !is_rotated(bytes)? {
        return Ok(None);
    }
    encode_jpeg(&decode(bytes, u32::MAX)?.pixels, QUALITY).map(Some)
}
