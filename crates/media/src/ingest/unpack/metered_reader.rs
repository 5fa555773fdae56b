//! A reader that counts bytes and enforces a limit that can be changed while reading.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

#[derive(Debug)]
pub struct ReadMeter {
    pub bytes_read: Cell<u64>,
    /// Bytes that may still be read.
    pub bytes_allowed: Cell<u64>,
}

pub struct MeteredReader<R> {
    inner: R,
    meter: Rc<ReadMeter>,
}

impl<R> MeteredReader<R> {
    /// A reader without a limit, and its counter.
    pub fn new(inner: R) -> (Self, Rc<ReadMeter>) {
        let meter =
            Rc::new(ReadMeter { bytes_read: Cell::new(0), bytes_allowed: Cell::new(u64::MAX) });
        (Self { inner, meter: meter.clone() }, meter)
    }
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.meter.bytes_allowed.get()).unwrap_or(usize::MAX);
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other("read limit exceeded"));
        }
        let most = buffer.len().min(left);
        let length = self.inner.read(&mut buffer[..most])?;
        self.meter.bytes_read.set(self.meter.bytes_read.get() + length as u64);
        self.meter.bytes_allowed.set(self.meter.bytes_allowed.get() - length as u64);
        Ok(length)
    }
}
