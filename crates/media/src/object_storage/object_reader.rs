//! Reads an object as a file, in parts and as needed. An interrupted response is resumed where it ended.

use std::{
    fmt,
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::BoxStream};
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta};

use super::{
    BlockingStorage, ObjectEntry, ObjectStorage, ObjectUri, StorageError,
    error::{StorageAttemptError, ensure},
    listing::version,
    object_uri::BucketUri,
};
use crate::ingest::{OriginalFiles, SourceFile, unavailable};

/// A folder of a bucket, or a manifest, whose objects are presented as files.
#[derive(Debug)]
pub struct BucketOriginals {
    storage: Arc<BlockingStorage>,
    location: ObjectUri,
}

impl BucketOriginals {
    pub fn new(storage: Arc<BlockingStorage>, location: ObjectUri) -> Self {
        Self { storage, location }
    }
}

impl OriginalFiles for BucketOriginals {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let entry = ObjectEntry::at_path(&self.location, relative);
        let entry = entry.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(ObjectReader::open(&self.storage, &entry)?))
    }

    fn is_remote(&self) -> bool {
        true
    }
}

#[derive(Debug)]
pub struct ObjectReader {
    storage: Arc<BlockingStorage>,
    size: u64,
    version: i64,
    position: u64,
    /// The body of the object, or `None` after the storage was closed.
    body: Option<ObjectBody>,
    /// The bytes before the position of the body.
    chunk: Bytes,
}

impl ObjectReader {
    pub fn open(storage: &Arc<BlockingStorage>, entry: &ObjectEntry) -> io::Result<Self> {
        let (client, bucket, key) = (storage.client(), entry.bucket.clone(), entry.key.clone());
        let open = async move { ObjectBody::open(&client, &bucket, &key).await };
        let body = storage.run(open)?;
        let (storage, size, version) = (storage.clone(), body.size(), version(&body.meta));
        Ok(Self { storage, size, version, position: 0, body: Some(body), chunk: Bytes::new() })
    }

    /// Returns the bytes in memory from the position on.
    fn buffered(&self) -> &[u8] {
        let end = self.body.as_ref().map_or(0, ObjectBody::position);
        let start = end - self.chunk.len() as u64;
        let skipped = self.position.checked_sub(start).and_then(|skipped| skipped.try_into().ok());
        skipped.and_then(|skipped: usize| self.chunk.get(skipped..)).unwrap_or_default()
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        let closed = || unavailable("the deployment is being closed".to_owned());
        let mut body = self.body.take().ok_or_else(closed)?;
        // If reading fails, these bytes are not before the new position of the body.
        self.chunk = Bytes::new();
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

    fn version(&self) -> io::Result<Option<i64>> {
        Ok(Some(self.version))
    }
}

pub struct ObjectBody {
    storage: ObjectStorage,
    bucket: Arc<BucketUri>,
    key: String,
    meta: ObjectMeta,
    position: u64,
    /// The chunks of the current response that have not been read.
    chunks: Option<BoxStream<'static, object_store::Result<Bytes>>>,
}

impl ObjectBody {
    /// Requests an object. No byte of it is read before the first call of [`ObjectBody::next`].
    pub async fn open(
        storage: &ObjectStorage,
        bucket: &Arc<BucketUri>,
        key: &str,
    ) -> Result<Self, StorageError> {
        let request = || storage.get_object(bucket, key, GetOptions::default());
        let response = storage.retry_policy.run(request).await?;
        let meta = response.meta.clone();
        let (bucket, key, storage) = (bucket.clone(), key.to_owned(), storage.clone());
        let chunks = Some(response.into_stream());
        Ok(Self { storage, bucket, key, meta, position: 0, chunks })
    }

    /// The size of the whole object, in bytes.
    pub fn size(&self) -> u64 {
        self.meta.size
    }

    /// Returns the position of the next bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn seek(&mut self, position: u64) {
        if position != self.position {
            (self.position, self.chunks) = (position, None);
        }
    }

    /// Returns the next bytes, of which there is at least one. Returns `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StorageError> {
        let mut attempts = self.storage.retry_policy.attempts();
        while self.position < self.size() {
            match self.try_next().await {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => {
                    self.position += bytes.len() as u64;
                    return Ok(Some(bytes));
                }
                Err(failure) => {
                    self.chunks = None;
                    attempts.pause_after(failure).await?;
                }
            }
        }
        Ok(None)
    }

    async fn try_next(&mut self) -> Result<Bytes, StorageAttemptError> {
        let mut chunks = match self.chunks.take() {
            Some(chunks) => chunks,
            None => self.request_rest().await?.into_stream(),
        };
        let Some(bytes) = chunks.next().await else {
            let error = StorageError::service("the connection to the storage broke");
            return Err(StorageAttemptError { error, retryable: true });
        };
        self.chunks = Some(chunks);
        Ok(bytes?)
    }

    /// Requests the bytes from the position on. Takes `&mut self`, because the rest of a response cannot be shared
    /// between threads.
    async fn request_rest(&mut self) -> Result<GetResult, StorageAttemptError> {
        let range = (self.position > 0).then_some(GetRange::Offset(self.position));
        // A weak tag never matches, so it is not sent.
        let if_match = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        let response = self.storage.get_object(&self.bucket, &self.key, options).await?;
        let version = |meta: &ObjectMeta| (meta.size, meta.last_modified, meta.e_tag.clone());
        let changed = || StorageError::object("it has changed while it was read");
        ensure(version(&response.meta) == version(&self.meta), changed)?;
        Ok(response)
    }
}

impl fmt::Debug for ObjectBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectBody").field("position", &self.position).finish_non_exhaustive()
    }
}
