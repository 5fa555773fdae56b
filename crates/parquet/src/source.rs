//! The bytes of a Parquet file, on this machine or elsewhere. No part of the file that is larger than allowed is read,
//! and no page that is too large is unpacked.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::FileExt as _,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::{
    errors::{ParquetError, Result},
    file::reader::{ChunkReader, Length},
};

use crate::compact_protocol::{has_usual_depth, unpacked_page_bytes};

/// The maximum size of the footer at the end of the file.
const MAX_FOOTER_BYTES: u64 = 4 << 20;
/// The length of the footer, and the four letters that end the file.
const FOOTER_END_BYTES: u64 = 8;
/// The maximum size of a page header. Statistics are the longest part of a header, and writers omit or shorten them at
/// 4 KiB.
const MAX_HEADER_BYTES: u64 = 32 << 10;

/// The bytes of a Parquet file.
pub struct Source(SourceKind);

enum SourceKind {
    File(File),
    Memory(Bytes),
    Remote(RemoteFile),
}

impl Source {
    /// A file of this length that is read by seeking. Each read waits for its data.
    pub fn remote(reader: Box<dyn SeekableReader>, length: u64) -> Self {
        Self(SourceKind::Remote(RemoteFile::new(reader, length)))
    }
}

impl From<File> for Source {
    fn from(file: File) -> Self {
        Self(SourceKind::File(file))
    }
}

impl From<Vec<u8>> for Source {
    fn from(bytes: Vec<u8>) -> Self {
        Self(SourceKind::Memory(bytes.into()))
    }
}

pub(crate) struct BoundedFile {
    source: Source,
    /// The maximum size of a page, or 0 while the footer is read.
    max_page_bytes: AtomicU64,
}

impl BoundedFile {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, max_page_bytes: AtomicU64::new(0) }
    }

    /// Ends the reading of the footer and begins the reading of pages.
    pub(crate) fn begin_pages(&self, max_bytes: u64) {
        self.max_page_bytes.store(max_bytes, Ordering::Relaxed);
    }

    pub(crate) fn max_page_bytes(&self) -> u64 {
        self.max_page_bytes.load(Ordering::Relaxed)
    }

    fn read(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let length = length.min(self.len().saturating_sub(start));
        let length = usize::try_from(length).map_err(io::Error::other)?;
        match &self.source.0 {
            SourceKind::File(file) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, start)?;
                Ok(bytes.into())
            }
            SourceKind::Memory(bytes) => {
                // If the length is 0, the start may be beyond the end.
                let start = usize::try_from(start).map_err(io::Error::other)?.min(bytes.len());
                Ok(bytes.slice(start..start + length))
            }
            SourceKind::Remote(file) => file.read(start, length),
        }
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        match &self.source.0 {
            SourceKind::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
            SourceKind::Memory(bytes) => bytes.len() as u64,
            SourceKind::Remote(file) => file.length(),
        }
    }
}

impl ChunkReader for BoundedFile {
    type T = PageStart;

    fn get_read(&self, start: u64) -> Result<PageStart> {
        let bytes = io::Cursor::new(self.read(start, MAX_HEADER_BYTES)?);
        let is_page = start + FOOTER_END_BYTES != self.len();
        Ok(PageStart { bytes, unchecked: is_page.then(|| self.max_page_bytes()) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let max_page_bytes = self.max_page_bytes();
        let is_footer = max_page_bytes == 0;
        let max_bytes = if is_footer { MAX_FOOTER_BYTES } else { max_page_bytes };
        let length = length as u64;
        if length > max_bytes {
            return Err(ParquetError::General(too_large(length, max_bytes)));
        }
        let bytes = self.read(start, length)?;
        if bytes.len() as u64 != length {
            return Err(ParquetError::EOF("the file is truncated".to_owned()));
        }
        if is_footer && !has_usual_depth(&bytes) {
            return Err(ParquetError::General("its schema is damaged or too deep".to_owned()));
        }
        Ok(bytes)
    }
}

/// The start of a page, which is checked when the library begins to read the header of the page.
pub(crate) struct PageStart {
    bytes: io::Cursor<Bytes>,
    /// The maximum size of the page, until the page has been checked.
    unchecked: Option<u64>,
}

impl Read for PageStart {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some(max_bytes) = self.unchecked.take() {
            let unpacked = unpacked_page_bytes(self.bytes.get_ref());
            let unpacked = unpacked.ok_or_else(|| io::Error::other("a damaged page header"))?;
            if unpacked > max_bytes {
                return Err(io::Error::other(too_large(unpacked, max_bytes)));
            }
        }
        self.bytes.read(out)
    }
}

pub(crate) fn too_large(bytes: u64, max_bytes: u64) -> String {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    format!("a part of {} MiB is larger than {} MiB", mib(bytes), mib(max_bytes))
}

/// The minimum number of bytes per read, which is enough for the header of a page and for a small page.
const READ_AHEAD: u64 = 256 << 10;

/// A reader that can seek.
pub trait SeekableReader: Read + Seek + Send {}

impl<R: Read + Seek + Send> SeekableReader for R {}

/// Keeps the bytes that were read last, because a page is read right after its header. If the underlying reader has a
/// request open, the bytes that follow are read without another request.
pub(crate) struct RemoteFile {
    length: u64,
    state: Mutex<ReadState>,
}

struct ReadState {
    reader: Box<dyn SeekableReader>,
    /// The position in the file at which `bytes` start.
    start: u64,
    bytes: Bytes,
}

impl RemoteFile {
    pub(crate) fn new(reader: Box<dyn SeekableReader>, length: u64) -> Self {
        Self { length, state: Mutex::new(ReadState { reader, start: 0, bytes: Bytes::new() }) }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads a part that is inside the file.
    pub(crate) fn read(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let mut state = self.state.lock();
        let known = state.known_from(start);
        if known.len() < length {
            let wanted = READ_AHEAD.max(length as u64).min(self.length.saturating_sub(start));
            state.read_on(start, &known, wanted)?;
        }
        let bytes = state.known_from(start);
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes.slice(..length))
    }
}

impl ReadState {
    /// Returns the bytes in memory from a position on.
    fn known_from(&self, start: u64) -> Bytes {
        let skipped = start.checked_sub(self.start).and_then(|skipped| skipped.try_into().ok());
        let skipped = skipped.filter(|skipped| *skipped <= self.bytes.len());
        skipped.map(|skipped: usize| self.bytes.slice(skipped..)).unwrap_or_default()
    }

    /// Reads the bytes after `known`, which starts at `start`, until there are `wanted` bytes in total.
    fn read_on(&mut self, start: u64, known: &Bytes, wanted: u64) -> io::Result<()> {
        let mut bytes = known.to_vec();
        let missing = wanted - known.len() as u64;
        self.reader.seek(SeekFrom::Start(start + known.len() as u64))?;
        (&mut self.reader).take(missing).read_to_end(&mut bytes)?;
        (self.start, self.bytes) = (start, bytes.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Records the positions of reads that do not continue the previous read.
    struct CountedReader {
        bytes: Cursor<Vec<u8>>,
        requests: std::sync::Arc<Mutex<Vec<u64>>>,
    }

    impl Read for CountedReader {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.bytes.read(out)
        }
    }

    impl Seek for CountedReader {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let before = self.bytes.position();
            let position = self.bytes.seek(to)?;
            if position != before {
                self.requests.lock().push(position);
            }
            Ok(position)
        }
    }

    #[test]
    fn parts_are_read_once_and_in_order_without_seeking() {
        let all: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let requests = std::sync::Arc::<Mutex<Vec<u64>>>::default();
        let reader = CountedReader { bytes: Cursor::new(all.clone()), requests: requests.clone() };
        let file = RemoteFile::new(Box::new(reader), all.len() as u64);
        let read = |start: usize, length: usize| {
            assert_eq!(file.read(start as u64, length).unwrap(), all[start..start + length]);
        };
        read(2_999_992, 8);
        read(2_900_000, 99_000);
        assert_eq!(*requests.lock(), [2_999_992, 2_900_000]);
        requests.lock().clear();
        // A page header, its page, and the next header and page.
        read(1_000, 32_768);
        read(1_020, 700_000);
        read(701_020, 32_768);
        read(701_040, 900_000);
        assert_eq!(*requests.lock(), [1_000]);
        read(2_999_000, 0);
        assert!(file.read(2_999_000, 2_000).is_err(), "beyond the end");
    }
}
