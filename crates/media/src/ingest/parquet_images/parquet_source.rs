//! A file of a dataset as the source of a Parquet file.

use std::{
    io::{self, Read, Seek, SeekFrom},
    sync::{Arc, OnceLock},
};

use tessera_parquet::{Error, Source};

use crate::ingest::{SourceFile, is_unavailable, unavailable};

/// Why object storage could not be read, which errors of Parquet files do not say.
#[derive(Clone, Debug, Default)]
pub struct ReadFailure(Arc<OnceLock<String>>);

impl ReadFailure {
    pub fn described(&self, cause: Error) -> io::Error {
        match self.0.get() {
            Some(reason) => unavailable(reason.clone()),
            None => io::Error::other(cause),
        }
    }
}

/// Reads a file where it is. One that becomes unavailable is noted in `failure`.
pub fn parquet_source(file: Box<dyn SourceFile>, failure: &ReadFailure) -> io::Result<Source> {
    if let Some(file) = file.on_this_machine() {
        return Ok(file?.into());
    }
    let length = file.length()?;
    let reader = RemoteReader { file, failure: failure.clone() };
    Ok(Source::remote(Box::new(reader), length))
}

struct RemoteReader {
    file: Box<dyn SourceFile>,
    failure: ReadFailure,
}

impl Read for RemoteReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out);
        if let Err(cause) = &read
            && is_unavailable(cause)
        {
            // The first reason counts.
            let _ = self.failure.0.set(cause.to_string());
        }
        read
    }
}

impl Seek for RemoteReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
