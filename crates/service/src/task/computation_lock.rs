//! Lets one of the processes that share an index folder take part in a computation: each uses all cores of the
//! machine, and all that is computed with in memory.

use std::{fs::File, path::Path};

use tessera_media::ingest::staging::private_file;

/// Released when it is dropped, or the process ends.
pub struct ComputationLock {
    _file: File,
}

impl ComputationLock {
    /// `None` if another process has it, or the file cannot be locked.
    pub fn try_take(path: &Path) -> Option<Self> {
        let file = private_file().create(true).truncate(false).open(path).ok()?;
        file.try_lock().ok()?;
        Some(Self { _file: file })
    }
}
