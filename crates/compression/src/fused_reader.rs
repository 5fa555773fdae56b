//! A reader that stays at its first error.

use std::io::{self, ErrorKind, Read};

/// After an error, decoders return what follows in the source as if it were content.
pub(crate) struct FusedReader<R> {
    inner: R,
    error: Option<ErrorKind>,
}

impl<R> FusedReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, error: None }
    }
}

impl<R: Read> Read for FusedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.error {
            return Err(kind.into());
        }
        // Decoders take a read of nothing for the end of a part.
        if buffer.is_empty() {
            return Ok(0);
        }
        let result = self.inner.read(buffer);
        self.error = result.as_ref().err().map(io::Error::kind);
        result
    }
}
