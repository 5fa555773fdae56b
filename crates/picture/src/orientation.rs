//! Rotates pictures with an EXIF orientation upright: bounding boxes would select the wrong part in a
//! program that ignores the orientation.

use crate::{
    decode::{decode, is_rotated},
    encode_jpeg::encode_jpeg,
    error::DecodeError,
};

/// High, because features are computed from the result.
const QUALITY: u8 = 95;

/// The upright picture as a JPEG; `None` if it is already upright.
pub fn to_upright_jpeg(bytes: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    if !is_rotated(bytes)? {
        return Ok(None);
    }
    encode_jpeg(&decode(bytes, u32::MAX)?.pixels, QUALITY).map(Some)
}
