//! A file that is not on this machine, for example in object storage: each read is waited for.

use std::{
    io::{self, Read, Seek, SeekFrom},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

/// What is read at least: the header of a page and, of a small page, the page.
const READ_AHEAD: u64 = 256 << 10;

/// What bytes are read from.
pub trait SeekableReader: Read + Seek + Send {}

impl<R: Read + Seek + Send> SeekableReader for R {}

/// Keeps the bytes that were read last, because a page is read after its header. What follows them is read without
/// another request, if the reader has one open.
pub(crate) struct RemoteFile {
    length: u64,
    state: Mutex<ReadState>,
}

struct ReadState {
    reader: Box<dyn SeekableReader>,
    /// The position of the first of `bytes`.
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

    /// Reads a part that is in the file.
    pub(crate) fn read(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
    /// The bytes in memory from a position on.
    fn known_from(&self, start: u64) -> Bytes {
        let skipped = start.checked_sub(self.start).and_then(|skipped| skipped.try_into().ok());
        let skipped = skipped.filter(|skipped| *skipped <= self.bytes.len());
        skipped.map(|skipped: usize| self.bytes.slice(skipped..)).unwrap_or_default()
    }

    /// Reads what follows `known`, which is at `start`, up to `wanted` bytes in all.
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

    /// Counts how often it is read from another position than the last one.
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
                self.requests.lock().unwrap().push(position);
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
        assert_eq!(*requests.lock().unwrap(), [2_999_992, 2_900_000]);
        requests.lock().unwrap().clear();
        // The header of a page, the page, and the next ones.
        read(1_000, 32_768);
        read(1_020, 700_000);
        read(701_020, 32_768);
        read(701_040, 900_000);
        assert_eq!(*requests.lock().unwrap(), [1_000]);
        read(2_999_000, 0);
        assert!(file.read(2_999_000, 2_000).is_err(), "beyond the end");
    }
}
