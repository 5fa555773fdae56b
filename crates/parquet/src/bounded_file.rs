//! A file of which no larger part is read than allowed, and no larger page unpacked.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt as _,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use parquet::{
    errors::{ParquetError, Result},
    file::reader::{ChunkReader, Length},
};

use crate::{
    page_header::unpacked_page_bytes,
    remote_file::{RemoteFile, SeekableReader},
    schema_depth::has_usual_depth,
};

/// The description of the file at its end.
const MAX_FOOTER_BYTES: u64 = 4 << 20;
/// The length of the description and the last four letters.
const FOOTER_END_BYTES: u64 = 8;
/// Statistics are the longest part of a header; writers omit or shorten them at 4 KiB.
const MAX_HEADER_BYTES: u64 = 32 << 10;

/// Where the bytes of a file are.
pub struct Source(SourceKind);

enum SourceKind {
    File(File),
    Memory(Bytes),
    Remote(RemoteFile),
}

impl Source {
    /// A file of this length that is read by seeking, each time waiting for it.
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
    /// The limit of a page; 0 while the description is read.
    max_page_bytes: AtomicU64,
}

impl BoundedFile {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, max_page_bytes: AtomicU64::new(0) }
    }

    /// Ends the description and begins the pages.
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
                // Without a length the start may be beyond the end.
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

/// The start of a page, which is checked when the library begins to read its header.
pub(crate) struct PageStart {
    bytes: io::Cursor<Bytes>,
    /// The limit of the page, until it was checked.
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
