//! Why a JPEG cannot be decoded.

use crate::error::DecodeError;

/// Progressive encoders write about ten scans, thorough ones some dozens.
pub const MAX_SCANS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegError {
    Truncated,
    Damaged(&'static str),
    /// More scans than any encoder writes: an attack on the decoder.
    TooManyScans(usize),
}

impl From<JpegError> for DecodeError {
    fn from(error: JpegError) -> Self {
        Self(match error {
            JpegError::Truncated => "truncated JPEG".to_owned(),
            JpegError::Damaged(what) => format!("damaged JPEG: {what}"),
            JpegError::TooManyScans(count) => {
                format!("JPEG with {count} scans; the limit is {MAX_SCANS}")
            }
        })
    }
}
