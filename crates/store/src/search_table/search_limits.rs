//! Which datasets are searched by the database, and how.

/// At one million, a search reads 512 MB of descriptors and takes 0.1 CPU-seconds, and each process needs 210 MiB;
/// twice as many still fit a small machine.
const MIN_MEDIA: u64 = 2_000_000;
/// An exact search computes this many distances in 0.4 CPU-seconds of the server.
const MAX_EXACT: u64 = 1_000_000;
/// A hundred pages of clusters of one media item.
const HORIZON: u64 = 10_000;

/// Bounds of searches by the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTableLimits {
    /// Datasets with as many images and frames, or objects, get a search table.
    pub min_media: u64,
    /// If filters leave more media, a search by similarity is bounded.
    pub max_exact: u64,
    /// How many of the nearest media a bounded search considers.
    pub horizon: u64,
}

impl Default for SearchTableLimits {
    fn default() -> Self {
        Self { min_media: MIN_MEDIA, max_exact: MAX_EXACT, horizon: HORIZON }
    }
}
