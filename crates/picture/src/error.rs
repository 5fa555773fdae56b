//! Why a picture cannot be decoded, and the limits of its size.

use std::fmt;

/// The largest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 32_768;
pub const MAX_PIXELS: u64 = 100_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

pub fn check_size((width, height): (u32, u32)) -> Result<(), DecodeError> {
    let pixels = u64::from(width) * u64::from(height);
    let refuse = |why: &str| Err(DecodeError(format!("{width}x{height} pixels {why}")));
    if pixels == 0 {
        refuse("are not a picture")
    } else if pixels > MAX_PIXELS {
        refuse("is over the limit of 100 million")
    } else if width.max(height) > MAX_SIDE {
        refuse("is over the limit of 32768 a side")
    } else {
        Ok(())
    }
}
