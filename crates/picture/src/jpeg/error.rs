//! Why a JPEG file is refused.

use crate::limits::DecodeError;

/// The maximum number of scans. Progressive encoders write about ten, thorough ones some dozens.
pub const MAX_SCANS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegError {
    Truncated,
    Damaged(&'static str),
    /// The kind of JPEG has no decoder here.
    Unsupported(&'static str),
    /// The file has more scans than any encoder writes, which is an attack on the decoder.
    TooManyScans(usize),
}

impl From<JpegError> for DecodeError {
    fn from(error: JpegError) -> Self {
        Self(match error {
            JpegError::Truncated => "truncated JPEG".to_owned(),
            JpegError::Damaged(what) => format!("damaged JPEG: {what}"),
            JpegError::Unsupported(kind) => {
                format!("a kind of JPEG that cannot be opened: {kind}; save it again")
            }
            JpegError::TooManyScans(count) => {
                format!("JPEG with {count} scans; the limit is {MAX_SCANS}")
            }
        })
    }
}
