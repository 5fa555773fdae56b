//! Limits the time of a decoder, which cannot be interrupted: reading fails when the time is over.

use std::{
    cell::Cell,
    io::{self, BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom},
    rc::Rc,
    time::{Duration, Instant},
};

use crate::error::DecodeError;

/// How long a picture may be decoded. One of 100 million pixels takes a few seconds, in JPEG XL up to half of this.
const MAX_DECODE_TIME: Duration = Duration::from_mins(1);
/// Some decoders read single bytes, which takes less time than asking for the time.
const READS_PER_CHECK: u8 = 64;

/// When a decoder is stopped. Clones are the same deadline.
#[derive(Clone)]
pub struct Deadline(Rc<Cell<Instant>>);

impl Deadline {
    /// The end of the time of a decoder that starts now.
    pub fn new() -> Self {
        Self(Rc::new(Cell::new(Instant::now() + MAX_DECODE_TIME)))
    }

    /// The decoder starts only now: it had to wait for others.
    pub fn restart(&self) {
        self.0.set(Instant::now() + MAX_DECODE_TIME);
    }

    /// # Errors
    /// The time is over.
    pub fn check(&self) -> Result<(), DecodeError> {
        if Instant::now() < self.0.get() {
            return Ok(());
        }
        Err(DecodeError(format!("opening it takes more than {} s", MAX_DECODE_TIME.as_secs())))
    }
}

/// Bytes that can be read until a deadline.
pub struct TimedReader<T> {
    bytes: Cursor<T>,
    deadline: Deadline,
    reads: u8,
}

impl<T: AsRef<[u8]>> TimedReader<T> {
    pub fn new(bytes: T, deadline: Deadline) -> Self {
        Self { bytes: Cursor::new(bytes), deadline, reads: 0 }
    }

    fn check(&mut self) -> io::Result<()> {
        self.reads = (self.reads + 1) % READS_PER_CHECK;
        if self.reads == 1 {
            self.deadline.check().map_err(|error| io::Error::new(ErrorKind::TimedOut, error))?;
        }
        Ok(())
    }
}

impl<T: AsRef<[u8]>> Read for TimedReader<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.bytes.read(buffer)
    }
}

impl<T: AsRef<[u8]>> BufRead for TimedReader<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        self.bytes.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.consume(amount);
    }
}

impl<T: AsRef<[u8]>> Seek for TimedReader<T> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past() -> Deadline {
        Deadline(Rc::new(Cell::new(Instant::now())))
    }

    #[test]
    fn reading_fails_when_the_time_is_over() {
        let read = |deadline| {
            let mut all = Vec::new();
            TimedReader::new(b"bytes", deadline).read_to_end(&mut all).map(|_| all)
        };
        assert_eq!(read(Deadline::new()).unwrap(), b"bytes");
        let error = read(past()).unwrap_err();
        assert_eq!(error.to_string(), "opening it takes more than 60 s");
        let waited = past();
        waited.restart();
        assert_eq!(read(waited).unwrap(), b"bytes");
    }

    #[test]
    fn a_decoder_that_reads_single_bytes_is_stopped_soon() {
        let bytes = vec![0; 1000];
        let mut reader = TimedReader::new(&bytes, Deadline::new());
        assert_eq!(reader.read(&mut [0]).unwrap(), 1);
        reader.deadline = past();
        let read = (0..1000).take_while(|_| reader.read(&mut [0]).is_ok()).count();
        assert!(read < usize::from(READS_PER_CHECK), "{read}");
    }
}
