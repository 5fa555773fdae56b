//! A reader that counts what was taken of it and can be told how much may be taken.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// What a metered reader counts; shared with whoever set it up.
#[derive(Debug)]
pub struct Meter {
    /// Bytes taken so far.
    pub taken: Cell<u64>,
    /// Bytes that may be taken from now on.
    pub left: Cell<u64>,
}

/// A reader with a meter.
pub struct Metered<R> {
    inner: R,
    meter: Rc<Meter>,
}

impl<R> Metered<R> {
    /// `inner` with a meter, nothing taken and no bound.
    pub fn new(inner: R) -> (Self, Rc<Meter>) {
        let meter = Rc::new(Meter { taken: Cell::new(0), left: Cell::new(u64::MAX) });
        (Self { inner, meter: meter.clone() }, meter)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.meter.left.get()).unwrap_or(usize::MAX);
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other("more than may be taken"));
        }
        let most = buffer.len().min(left);
        let length = self.inner.read(&mut buffer[..most])?;
        self.meter.taken.set(self.meter.taken.get() + length as u64);
        self.meter.left.set(self.meter.left.get() - length as u64);
        Ok(length)
    }
}
