//! Shares the free disk space among all writers of large files: uploads, unpacked archives, downloads and exports. A
//! reserve stays free even if all of them write at the same time.

use std::{
    fmt,
    fs::File,
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

/// Disk space that is never used, in bytes.
pub const RESERVED_BYTES: u64 = 1 << 30;
/// Space that a writer claims at a time, in bytes.
const CLAIM_BYTES: u64 = 16 << 20;

/// Decides whether there is space to write. Clones share their claims.
#[derive(Clone)]
pub struct DiskQuota {
    reserved: u64,
    state: Arc<QuotaState>,
}

/// Returns the free bytes of the disk of a folder, or `None` if the disk does not report them.
type FreeSpace = dyn Fn(&Path) -> Option<u64> + Send + Sync;

struct QuotaState {
    free_space: Box<FreeSpace>,
    /// Bytes that writers have claimed and may not have written yet.
    claimed: Mutex<u64>,
}

impl Default for DiskQuota {
    fn default() -> Self {
        Self::with_reserve(RESERVED_BYTES)
    }
}

impl DiskQuota {
    pub fn with_reserve(reserved: u64) -> Self {
        Self::new(reserved, tessera_files::free_space)
    }

    pub fn new(
        reserved: u64,
        free_space: impl Fn(&Path) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        let (free_space, claimed) = (Box::new(free_space), Mutex::default());
        Self { reserved, state: Arc::new(QuotaState { free_space, claimed }) }
    }

    /// Returns this quota with a reserve of at most this many bytes, for files that are small.
    #[must_use]
    pub fn with_reserve_up_to(&self, bytes: u64) -> Self {
        Self { reserved: self.reserved.min(bytes), ..self.clone() }
    }

    /// Returns the number of bytes that can still be written to `folder`. `None` means unknown, and a write then fails
    /// only when the disk itself is full.
    pub fn available(&self, folder: &Path) -> Option<u64> {
        let claimed = *self.state.claimed.lock();
        self.unclaimed(folder, claimed)
    }

    fn unclaimed(&self, folder: &Path, claimed: u64) -> Option<u64> {
        let free = (self.state.free_space)(folder)?;
        Some(free.saturating_sub(self.reserved).saturating_sub(claimed))
    }

    /// Returns an empty claim for a file in `folder`. The claim grows with the file.
    pub fn claim_in(&self, folder: &Path) -> SpaceClaim {
        SpaceClaim { quota: self.clone(), folder: folder.to_owned(), claimed: 0, unused: 0 }
    }
}

impl QuotaState {}

impl fmt::Debug for DiskQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskQuota").field("reserved", &self.reserved).finish_non_exhaustive()
    }
}

/// The claim of one writer. Dropping the claim releases the unused space.
#[derive(Debug)]
pub struct SpaceClaim {
    quota: DiskQuota,
    folder: PathBuf,
    claimed: u64,
    unused: u64,
}

impl SpaceClaim {
    /// Claims space for the next `bytes`, which must be written before the next call.
    ///
    /// # Errors
    /// `StorageFull` if the reserve would be used.
    pub fn take(&mut self, bytes: usize) -> io::Result<()> {
        let bytes = bytes as u64;
        if bytes > self.unused {
            self.renew(bytes)?;
        }
        self.unused -= bytes;
        Ok(())
    }

    fn renew(&mut self, bytes: u64) -> io::Result<()> {
        let mut all = self.quota.state.claimed.lock();
        // The space that was claimed before has been written by now, so the disk already counts it as used.
        *all -= self.claimed;
        (self.claimed, self.unused) = (0, 0);
        let available = self.quota.unclaimed(&self.folder, *all).unwrap_or(u64::MAX);
        if available < bytes {
            return Err(ErrorKind::StorageFull.into());
        }
        let claimed = CLAIM_BYTES.max(bytes).min(available);
        *all += claimed;
        (self.claimed, self.unused) = (claimed, claimed);
        Ok(())
    }
}

impl Drop for SpaceClaim {
    fn drop(&mut self) {
        *self.quota.state.claimed.lock() -= self.claimed;
    }
}

/// A file that claims disk space for what is written to it.
#[derive(Debug)]
pub struct ClaimedFile {
    pub file: File,
    claim: SpaceClaim,
    /// Why a write failed.
    pub failure: Option<ErrorKind>,
}

impl ClaimedFile {
    pub fn new(file: File, claim: SpaceClaim) -> Self {
        Self { file, claim, failure: None }
    }
}

impl Write for ClaimedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let claimed = self.claim.take(bytes.len());
        let written = claimed.and_then(|()| self.file.write(bytes));
        written.inspect_err(|cause| self.failure = Some(cause.kind()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for ClaimedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        thread,
    };

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Returns a disk with this much free space, and the number of bytes that writers use on it.
    fn disk(free: u64, reserved: u64) -> (DiskQuota, Arc<AtomicU64>) {
        let used = Arc::new(AtomicU64::new(0));
        let on_disk = used.clone();
        let quota = DiskQuota::new(reserved, move |_| Some(free - on_disk.load(Ordering::SeqCst)));
        (quota, used)
    }

    #[test]
    fn parallel_writers_fill_the_disk_exactly_to_the_reserve() {
        let (quota, used) = disk(300 * MIB, 100 * MIB);
        let write = || {
            let mut claim = quota.claim_in(Path::new(""));
            while claim.take(usize::try_from(MIB).unwrap()).is_ok() {
                used.fetch_add(MIB, Ordering::SeqCst);
            }
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(write);
            }
        });
        // A writer that gave up early may leave room for a last write.
        write();
        assert_eq!(used.load(Ordering::SeqCst), 200 * MIB);
        assert_eq!(quota.available(Path::new("")).unwrap(), 0);
    }

    #[test]
    fn unused_space_is_given_back() {
        let (quota, _) = disk(100 * MIB, 0);
        let mut claim = quota.claim_in(Path::new(""));
        claim.take(1).unwrap();
        assert_eq!(quota.available(Path::new("")).unwrap(), 84 * MIB);
        drop(claim);
        assert_eq!(quota.available(Path::new("")).unwrap(), 100 * MIB);
    }

    #[test]
    fn a_disk_that_does_not_report_its_space_is_written_until_it_is_full() {
        let quota = DiskQuota::new(RESERVED_BYTES, |_| None);
        assert_eq!(quota.available(Path::new("")), None);
        quota.claim_in(Path::new("")).take(usize::MAX).unwrap();
    }

    #[test]
    fn a_failed_claim_is_storage_full_and_holds_nothing() {
        let (quota, _) = disk(100, 0);
        let mut claim = quota.claim_in(Path::new(""));
        claim.take(100).unwrap();
        assert_eq!(claim.take(101).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(quota.available(Path::new("")).unwrap(), 100);
    }
}
