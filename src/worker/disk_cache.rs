//! Caches the bytes of fetched pictures on disk, shared by all running instances. An entry is a file with the checksum
//! of its picture, followed by the picture. Entries are renamed into place, and may vanish at any time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use parking_lot::Mutex;
use rustix::fs::OFlags;

use tessera_client::PictureKey;
use tessera_files::{TEMPORARY_PREFIX, ensure_own_private_dir, write_atomically};

const CHECKSUM_BYTES: usize = 32;
/// Larger pictures are not stored, because they would displace many thumbnails.
const MAX_ENTRY_BYTES: u64 = 16 << 20;
/// A temporary file that is older was left by a crash.
const MAX_TEMPORARY_AGE: Duration = Duration::from_hours(1);
/// The size of a file on disk is a multiple of this.
const BLOCK_BYTES: u64 = 4_096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCacheOptions {
    pub folder: PathBuf,
    pub max_bytes: u64,
}

/// The cache on disk. All methods block.
pub(super) struct DiskCache {
    pub(super) options: DiskCacheOptions,
    /// Bytes stored since the last eviction began.
    stored: AtomicU64,
    /// Whether an eviction has already measured the total size.
    is_measured: AtomicBool,
    eviction: Mutex<()>,
}

impl DiskCache {
    /// Opens the cache. Fails if the folder is a link or belongs to another user.
    pub(super) fn open(options: DiskCacheOptions) -> io::Result<Self> {
        ensure_own_private_dir(&options.folder)?;
        let (stored, is_measured) = (AtomicU64::default(), AtomicBool::default());
        Ok(Self { options, stored, is_measured, eviction: Mutex::default() })
    }

    /// Returns a stored picture, and deletes an entry that does not match its checksum.
    pub(super) fn get(&self, key: &PictureKey) -> Option<Bytes> {
        let path = self.path(key);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(flags.bits().cast_signed());
        let mut file = options.open(&path).ok()?;
        let Some(picture) = read_entry(&mut file, key) else {
            // An entry that cannot be deleted is refused again the next time.
            let _ = fs::remove_file(path);
            return None;
        };
        // The time of the last use decides which entries are evicted. On a read-only disk nothing
        // is evicted, so the error does not matter.
        let _ = file.set_modified(SystemTime::now());
        Some(picture)
    }

    /// Stores a picture, and returns whether [`Self::evict`] is due. While an eviction is overdue,
    /// nothing is stored, so that the size stays limited.
    pub(super) fn insert(&self, key: &PictureKey, picture: &[u8]) -> io::Result<bool> {
        let bytes = disk_usage(picture.len() as u64 + CHECKSUM_BYTES as u64);
        let interval = self.eviction_interval();
        if bytes > MAX_ENTRY_BYTES.min(interval) {
            return Ok(false);
        }
        if self.stored.load(Ordering::Relaxed) <= interval {
            let entry = [&key.checksum(picture), picture].concat();
            write_atomically(&self.path(key), entry)?;
            self.stored.fetch_add(bytes, Ordering::Relaxed);
        }
        let is_measured = self.is_measured.load(Ordering::Relaxed);
        Ok(!is_measured || self.stored.load(Ordering::Relaxed) >= interval)
    }

    /// Deletes the least recently used entries if the cache is too large.
    pub(super) fn evict(&self) -> io::Result<()> {
        // Another thread is already evicting.
        let Some(_evicting) = self.eviction.try_lock() else { return Ok(()) };
        let (mut entries, mut used) = (Vec::new(), 0);
        let stored = self.stored.load(Ordering::Relaxed);
        for entry in fs::read_dir(&self.options.folder)? {
            let path = entry?.path();
            // Other instances may have deleted the entry.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let bytes = disk_usage(metadata.len());
            used += bytes;
            let age = age(&metadata);
            if age > MAX_TEMPORARY_AGE || !is_temporary(&path) {
                entries.push((age, bytes, path));
            }
        }
        entries.sort_by(|a, b| b.cmp(a));
        let target = self.options.max_bytes - 3 * self.eviction_interval();
        for (_, bytes, path) in entries {
            if used <= target {
                break;
            }
            if let Err(error) = fs::remove_file(path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
            used -= bytes;
        }
        self.stored.fetch_sub(stored, Ordering::Relaxed);
        self.is_measured.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the number of bytes that may be stored between two evictions. An eviction leaves room for three times
    /// this amount: for what is stored until the next eviction starts, while it runs, and before the first eviction
    /// after a restart.
    fn eviction_interval(&self) -> u64 {
        self.options.max_bytes / 16
    }

    fn path(&self, key: &PictureKey) -> PathBuf {
        self.options.folder.join(key.to_string())
    }
}

fn disk_usage(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes())
}

/// Returns the time since the last use. A time in the future counts as old, because the clock must
/// have changed.
fn age(metadata: &fs::Metadata) -> Duration {
    let used = metadata.modified().ok();
    used.and_then(|used| used.elapsed().ok()).unwrap_or(Duration::MAX)
}

fn read_entry(file: &mut File, key: &PictureKey) -> Option<Bytes> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_ENTRY_BYTES {
        return None;
    }
    let mut stored = Vec::new();
    file.take(MAX_ENTRY_BYTES).read_to_end(&mut stored).ok()?;
    let (checksum, picture) = stored.split_first_chunk::<CHECKSUM_BYTES>()?;
    if *checksum != key.checksum(picture) {
        return None;
    }
    Some(Bytes::from(stored).slice(CHECKSUM_BYTES..))
}

#[cfg(test)]
mod tests;
