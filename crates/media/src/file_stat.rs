//! Size and modification time of files: what decides whether one has to be read again.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
}

impl FileStat {
    /// Whether it says nothing, as that of an object in a manifest.
    pub fn is_unknown(self) -> bool {
        self == Self { size: 0, modified: 0 }
    }

    /// Whether a file that was indexed with this is the same in a scan. The scan may know only its time, or nothing.
    pub fn is_unchanged_in(self, scanned: Self) -> bool {
        self == scanned
            || scanned.is_unknown()
            || (scanned.size == 0 && scanned.modified == self.modified)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    pub stat: FileStat,
    /// Content hash if it became a media item; `None` for a sidecar or a skipped file.
    pub content_hash: Option<[u8; 32]>,
}
