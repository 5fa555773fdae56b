//! What the indexes of a process may take.

use crate::{ingest::disk_quota::DiskQuota, similarity::VectorMemory};

pub struct IndexLimits {
    /// Space for their files.
    pub disk: DiskQuota,
    pub memory: VectorMemory,
}
