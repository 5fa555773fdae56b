//! Walks the scans of a file without decoding them.

use super::{
    error::{JpegError, MAX_SCANS},
    header::segment,
};

/// Walks from the entropy-coded data of the first scan to the end of the file; whether the end
/// marker exists.
pub fn has_end_marker(bytes: &[u8], mut at: usize) -> Result<bool, JpegError> {
    let mut scans = 1;
    while let Some(found) = next_marker(bytes, at) {
        let (marker, _, next) = match segment(bytes, found) {
            Err(JpegError::Truncated) => return Ok(false),
            segment => segment?,
        };
        match marker {
            0xD9 if scans > MAX_SCANS => return Err(JpegError::TooManyScans(scans)),
            0xD9 => return Ok(true),
            0xDA => scans += 1,
            _ => {}
        }
        at = next;
    }
    Ok(false)
}

/// The next marker that is neither stuffing nor a restart.
fn next_marker(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xFF)?;
        match bytes.get(at + 1)? {
            0x00 | 0xD0..=0xD7 => at += 2,
            0xFF => at += 1,
            _ => return Some(at),
        }
    }
}
