//! What the indexes of a process may take.

use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_search::similarity::VectorMemory;

pub struct IndexLimits {
    /// Space for their files.
    pub disk: DiskQuota,
    pub memory: VectorMemory,
}
