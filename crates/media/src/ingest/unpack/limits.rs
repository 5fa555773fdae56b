//! Limits of an archive.

use crate::ingest::disk_quota::DiskQuota;
use tessera_model::FileKind;

/// The defaults are those of the service.
#[derive(Clone, Debug)]
pub struct UnpackLimits {
    pub max_members: usize,
    /// Size of a file that is not a video, in bytes.
    pub max_file_bytes: u64,
    pub max_video_bytes: u64,
    /// Size of all files, in bytes.
    pub max_total_bytes: u64,
    pub disk: DiskQuota,
    /// Compression ratio, checked once `ratio_exempt_bytes` have been written.
    pub max_ratio: u64,
    /// Bytes that may be written before the ratio is checked.
    pub ratio_exempt_bytes: u64,
    /// Number of skipped members that are reported by name; the others are only counted.
    pub max_reported: usize,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            max_members: 200_000,
            max_file_bytes: FileKind::Other.max_size(),
            max_video_bytes: FileKind::Video.max_size(),
            max_total_bytes: u64::MAX,
            disk: DiskQuota::default(),
            max_ratio: 200,
            ratio_exempt_bytes: 64 << 20,
            max_reported: 10_000,
        }
    }
}
