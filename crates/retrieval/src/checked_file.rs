//! Writes and reads the private files of an index, which contain columns of numbers. A file ends with a checksum, so
//! that a damaged or incomplete file is not used.

use std::{
    fs::File,
    io::{self, ErrorKind, Write},
    os::unix::fs::FileExt as _,
    path::Path,
};

use crc32fast::Hasher;
use rayon::prelude::*;
use tessera_files::private_file;
use tessera_media::ingest::disk_quota::{DiskQuota, SpaceClaim};

/// Number of bytes that are read at a time when a file is checked.
const BLOCK_BYTES: u64 = 1 << 20;
const CHECKSUM_BYTES: usize = size_of::<u32>();
/// Number of bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes a new file, in any order or from its start to its end.
pub struct CheckedWriter {
    file: File,
    claim: SpaceClaim,
    /// The bytes that are not written yet. Their place is after the bytes written last, at `position`.
    buffer: Vec<u8>,
    position: u64,
}

impl CheckedWriter {
    pub fn create(path: &Path, disk: &DiskQuota) -> io::Result<Self> {
        let file = private_file().read(true).create_new(true).open(path)?;
        let claim = disk.claim_in(path.parent().unwrap_or(path));
        Ok(Self { file, claim, buffer: Vec::with_capacity(BUFFER_BYTES), position: 0 })
    }

    /// Writes bytes at a position. This is fast if each position is the end of the previously written bytes.
    pub fn write_at(&mut self, bytes: &[u8], position: u64) -> io::Result<()> {
        if position != self.end() || self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
            self.position = position;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Copies bytes that were written by an earlier [`Self::flush`].
    pub fn copy(&mut self, from: u64, to: u64, bytes: usize) -> io::Result<()> {
        let mut copied = vec![0; bytes];
        self.file.read_exact_at(&mut copied, from)?;
        self.write_at(&copied, to)
    }

    /// Returns the end of the bytes that were written last.
    fn end(&self) -> u64 {
        self.position + self.buffer.len() as u64
    }

    /// Completes a file that was written from its start to its end.
    pub fn finish(self) -> io::Result<()> {
        let bytes = self.end();
        self.finish_at(bytes).map(drop)
    }

    /// Returns the first `bytes` bytes as a complete file, for reading.
    pub fn finish_at(mut self, bytes: u64) -> io::Result<File> {
        self.flush()?;
        self.file.set_len(bytes)?;
        let checksum = checksum(&self.file, bytes)?;
        self.write_at(&checksum.to_le_bytes(), bytes)?;
        self.flush()?;
        Ok(self.file)
    }
}

impl Write for CheckedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(BUFFER_BYTES)];
        self.write_at(bytes, self.end())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.claim.take(self.buffer.len())?;
        self.file.write_all_at(&self.buffer, self.position)?;
        self.position = self.end();
        self.buffer.clear();
        Ok(())
    }
}

/// Opens a file and verifies its checksum. `bytes` is the expected size without the checksum, or `None` for any size.
///
/// # Errors
/// `InvalidData` if the file is damaged.
pub fn open_checked(path: &Path, bytes: Option<u64>) -> io::Result<File> {
    let file = File::open(path)?;
    let damaged = || io::Error::from(ErrorKind::InvalidData);
    let found = file.metadata()?.len().checked_sub(CHECKSUM_BYTES as u64).ok_or_else(damaged)?;
    let mut expected = [0; CHECKSUM_BYTES];
    file.read_exact_at(&mut expected, found)?;
    let is_complete = bytes.is_none_or(|bytes| bytes == found);
    if is_complete && checksum(&file, found)? == u32::from_le_bytes(expected) {
        return Ok(file);
    }
    Err(damaged())
}

fn checksum(file: &File, bytes: u64) -> io::Result<u32> {
    let blocks: Vec<u64> = (0..bytes.div_ceil(BLOCK_BYTES)).collect();
    let checked: io::Result<Vec<Hasher>> = blocks
        .into_par_iter()
        .map_init(Vec::new, |buffer, block| {
            let first = block * BLOCK_BYTES;
            buffer.resize(usize::try_from(BLOCK_BYTES.min(bytes - first)).unwrap_or_default(), 0);
            file.read_exact_at(buffer, first)?;
            let mut checksum = Hasher::new();
            checksum.update(buffer);
            Ok(checksum)
        })
        .collect();
    let mut whole = Hasher::new();
    checked?.iter().for_each(|block| whole.combine(block));
    Ok(whole.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn damaged_and_incomplete_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(3 << 20).collect();
        let mut writer = CheckedWriter::create(&path, &DiskQuota::with_reserve(0)).unwrap();
        writer.write_all(&bytes).unwrap();
        writer.finish().unwrap();
        let length = bytes.len() as u64;
        assert!(open_checked(&path, Some(length)).is_ok() && open_checked(&path, None).is_ok());
        assert!(open_checked(&path, Some(length - 1)).is_err());

        let whole = fs::read(&path).unwrap();
        assert_eq!(whole[..bytes.len()], bytes);
        for position in [0, (2 << 20) + 7, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[position] ^= 4;
            fs::write(&path, damaged).unwrap();
            assert!(open_checked(&path, None).is_err(), "{position}");
        }
        for length in [0, 3, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(open_checked(&path, None).is_err(), "{length}");
        }
    }

    #[test]
    fn a_file_that_would_use_the_reserve_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let full = DiskQuota::with_reserve(u64::MAX);
        let mut writer = CheckedWriter::create(&folder.path().join("file"), &full).unwrap();
        writer.write_all(&[1; 100]).unwrap();
        assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
