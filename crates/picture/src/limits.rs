//! The limits for decoding a picture: its size, and the memory and time of its decoder. A decoder cannot be
//! interrupted, so its input fails once the time is over.

use std::{
    cell::Cell,
    fmt,
    io::{self, BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom},
    rc::Rc,
    time::{Duration, Instant},
};

use image::Limits;
use parking_lot::{Mutex, MutexGuard};

/// The largest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 32_768;
pub const MAX_PIXELS: u64 = 100_000_000;
/// The most pixels of a picture that is decoded at half its size or less.
pub const MAX_REDUCED_PIXELS: u64 = 256_000_000;

/// The reason why a picture cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

pub fn check_size(size: (u32, u32)) -> Result<(), DecodeError> {
    check_size_up_to(MAX_PIXELS, size)
}

/// Like [`check_size`], with another number of pixels.
pub fn check_size_up_to(max_pixels: u64, (width, height): (u32, u32)) -> Result<(), DecodeError> {
    let pixels = u64::from(width) * u64::from(height);
    let refuse = |why: &str| Err(DecodeError(format!("{width}x{height} pixels {why}")));
    if pixels == 0 {
        refuse("are not a picture")
    } else if pixels > max_pixels {
        refuse(&format!("is over the limit of {} million", max_pixels / 1_000_000))
    } else if width.max(height) > MAX_SIDE {
        refuse("is over the limit of 32768 a side")
    } else {
        Ok(())
    }
}

/// The maximum memory for decoding a picture. It has room for 100 million pixels of three bytes.
pub const MAX_DECODE_BYTES: u64 = 384 << 20;
/// Pictures that need more memory than this are decoded one at a time.
const LARGE_PICTURE_BYTES: u64 = 64 << 20;
/// The maximum memory that a decoder may use for anything except the pixels: profiles, rows, palettes.
pub const MAX_DECODER_BYTES: u64 = 16 << 20;

static LARGE_PICTURE_LOCK: Mutex<()> = Mutex::new(());

/// Refuses to decode a picture that needs more memory than the limit. If the picture is large, waits until no other
/// large picture is being decoded.
pub fn lock_memory(needed: u64) -> Result<Option<MutexGuard<'static, ()>>, DecodeError> {
    if needed > MAX_DECODE_BYTES {
        return Err(DecodeError(format!(
            "opening it needs {} MiB, over the limit of {} MiB",
            needed >> 20,
            MAX_DECODE_BYTES >> 20
        )));
    }
    Ok(lock_if_large(needed))
}

/// Locks the decoding of large pictures if this picture needs that much memory (in bytes). Large pictures are decoded
/// one at a time.
pub fn lock_if_large(needed: u64) -> Option<MutexGuard<'static, ()>> {
    (needed > LARGE_PICTURE_BYTES).then(|| LARGE_PICTURE_LOCK.lock())
}

/// Returns a limit for the memory of a decoder. The size of the picture is not limited here, because [`check_size`]
/// reports a large side more clearly than the decoders do.
pub fn memory_limit(bytes: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(bytes);
    limits
}

/// The maximum time for decoding a picture. A picture of 100 million pixels takes a few seconds, but in JPEG XL up to
/// half of this limit.
const MAX_DECODE_TIME: Duration = Duration::from_mins(1);
/// The number of reads between two checks of the clock. Some decoders read single bytes, which takes less time than
/// reading the clock.
const READS_PER_CHECK: u8 = 64;

/// The time at which a decoder is stopped. Clones share one deadline.
#[derive(Clone)]
pub struct Deadline(Rc<Cell<Instant>>);

impl Deadline {
    /// Returns the deadline for a decoder that starts now.
    pub fn new() -> Self {
        Self(Rc::new(Cell::new(Instant::now() + MAX_DECODE_TIME)))
    }

    /// Restarts the time of a decoder that had to wait for other decoders.
    pub fn restart(&self) {
        self.0.set(Instant::now() + MAX_DECODE_TIME);
    }

    /// # Errors
    /// The deadline has passed.
    pub fn check(&self) -> Result<(), DecodeError> {
        if Instant::now() < self.0.get() {
            return Ok(());
        }
        Err(DecodeError(format!("opening it takes more than {} s", MAX_DECODE_TIME.as_secs())))
    }
}

/// Bytes that can be read until a deadline passes.
pub struct TimedReader<T> {
    bytes: Cursor<T>,
    deadline: Deadline,
    reads: u8,
}

impl<T: AsRef<[u8]>> TimedReader<T> {
    pub fn new(bytes: T, deadline: Deadline) -> Self {
        Self { bytes: Cursor::new(bytes), deadline, reads: 0 }
    }

    /// Returns all bytes.
    pub fn get_ref(&self) -> &[u8] {
        self.bytes.get_ref().as_ref()
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
