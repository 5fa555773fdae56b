//! A reader that counts what was taken of it and can be told how much may be taken.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// What a metered reader counts; shared with whoever set it up.
#[derive(Debug)]
pub struct ReadMeter {
    /// Bytes taken so far.
    pub bytes_read: Cell<u64>,
    /// Bytes that may be taken from now on.
    pub bytes_allowed: Cell<u64>,
}

/// A reader with a meter.
pub struct MeteredReader<R> {
    inner: R,
    meter: Rc<ReadMeter>,
}

impl<R> MeteredReader<R> {
    /// `inner` with a meter, nothing taken and no bound.
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
            return Err(io::Error::other("more than may be taken"));
        }
        let most = buffer.len().min(left);
        let length = self.inner.read(&mut buffer[..most])?;
        self.meter.bytes_read.set(self.meter.bytes_read.get() + length as u64);
        self.meter.bytes_allowed.set(self.meter.bytes_allowed.get() - length as u64);
        Ok(length)
    }
}
