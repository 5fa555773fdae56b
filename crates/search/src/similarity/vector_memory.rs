//! How much of the vectors in files may be mapped at a time.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tessera_media::network_file_system::network_file_system_of;

/// Vectors of 256 numbers of 1.5 million media items. With everything else that searches of a million need, a process
/// stays below 1.2 GB.
const MAX_BYTES: usize = 736 << 20;
/// Of the memory that is available when the service starts.
const SHARE: usize = 4;

/// What is left of the memory that files of vectors share.
#[derive(Clone, Debug)]
pub struct VectorMemory(Arc<AtomicUsize>);

impl VectorMemory {
    /// A quarter of the available memory, and 736 MiB at most; none on a network file system.
    pub fn for_files_in(folder: &Path) -> Self {
        let info = fs::read_to_string("/proc/meminfo").ok();
        Self::new(limit(network_file_system_of(folder).is_some(), info.as_deref()))
    }

    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Takes up to `bytes` of it, until the reservation is dropped.
    pub(super) fn reserve(&self, bytes: usize) -> Reservation {
        let take = |left: usize| Some(left - left.min(bytes));
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Reservation { bytes: left.unwrap_or_default().min(bytes), memory: self.clone() }
    }
}

/// The most bytes to map, by the content of `/proc/meminfo`.
fn limit(is_network: bool, info: Option<&str>) -> usize {
    if is_network {
        return 0;
    }
    let available = info.and_then(available_bytes).unwrap_or(usize::MAX);
    MAX_BYTES.min(available / SHARE)
}

/// What `/proc/meminfo` says can be used without swapping.
fn available_bytes(info: &str) -> Option<usize> {
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[derive(Debug)]
pub(super) struct Reservation {
    bytes: usize,
    memory: VectorMemory,
}

impl Reservation {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back what is not needed.
    pub fn shrink(&mut self, bytes: usize) {
        let needed = self.bytes.min(bytes);
        self.memory.0.fetch_add(self.bytes - needed, Ordering::Relaxed);
        self.bytes = needed;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_while_there_is_some_and_given_back() {
        let memory = VectorMemory::new(100);
        let first = memory.reserve(70);
        let mut second = memory.reserve(70);
        assert_eq!((first.bytes(), second.bytes()), (70, 30));
        second.shrink(10);
        assert_eq!(memory.reserve(70).bytes(), 20);
        drop(first);
        assert_eq!(memory.reserve(100).bytes(), 90);
    }

    #[test]
    fn a_quarter_of_the_available_memory_is_mapped_but_not_on_a_network() {
        let info = Some("MemAvailable:   2048 kB\n");
        assert_eq!(limit(false, info), 512 << 10);
        assert_eq!(limit(false, Some("MemAvailable: 99999999 kB\n")), MAX_BYTES);
        assert_eq!(limit(false, None), MAX_BYTES);
        assert_eq!(limit(true, info), 0);
    }

    #[test]
    fn the_available_memory_is_read() {
        let info = "MemTotal:       24684140 kB\nMemAvailable:   24388388 kB\n";
        assert_eq!(available_bytes(info), Some(24_388_388 * 1024));
        assert_eq!(available_bytes("MemTotal: 1 kB\n"), None);
        assert_eq!(available_bytes("MemAvailable: many kB\n"), None);
    }
}
