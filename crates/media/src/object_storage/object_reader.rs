//! An object as a file that is open for reading: read in parts, while they are needed.

use std::{
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    sync::Arc,
};

use bytes::Bytes;

use super::{BlockingStorage, ObjectEntry, StorageError, object_body::ObjectBody};
use crate::ingest::{SourceFile, unavailable};

#[derive(Debug)]
pub struct ObjectReader {
    storage: Arc<BlockingStorage>,
    size: u64,
    position: u64,
    /// `None` after the storage was closed.
    body: Option<ObjectBody>,
    /// The bytes before the position of the body.
    chunk: Bytes,
}

impl ObjectReader {
    pub fn open(storage: &Arc<BlockingStorage>, entry: &ObjectEntry) -> io::Result<Self> {
        let (client, bucket, key) = (storage.client(), entry.bucket.clone(), entry.key.clone());
        let open = async move { ObjectBody::open(&client, &bucket, &key).await };
        let body = storage.run(open)?;
        let (storage, size) = (storage.clone(), body.size());
        Ok(Self { storage, size, position: 0, body: Some(body), chunk: Bytes::new() })
    }

    /// The bytes in memory from the position on.
    fn buffered(&self) -> &[u8] {
        let end = self.body.as_ref().map_or(0, ObjectBody::position);
        let start = end - self.chunk.len() as u64;
        let skipped = self.position.checked_sub(start).and_then(|skipped| skipped.try_into().ok());
        skipped.and_then(|skipped: usize| self.chunk.get(skipped..)).unwrap_or_default()
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        let closed = || unavailable("the deployment is being closed".to_owned());
        let mut body = self.body.take().ok_or_else(closed)?;
        body.seek(self.position);
        let next = async move {
            let chunk = body.next().await;
            (body, chunk)
        };
        let (body, chunk) = self.storage.wait(next).map_err(StorageError::into_io)?;
        self.body = Some(body);
        self.chunk = chunk.map_err(StorageError::into_io)?.unwrap_or_default();
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.size {
            return Ok(0);
        }
        if self.buffered().is_empty() {
            self.read_chunk()?;
        }
        let length = self.buffered().read(buffer)?;
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl SourceFile for ObjectReader {
    fn length(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}
