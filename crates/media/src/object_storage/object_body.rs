//! The bytes of an object as they arrive, from any position on. What breaks off is resumed there.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::BoxStream};
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta};

use super::{
    ObjectStorage, StorageError,
    error::{StorageAttemptError, ensure},
    object_uri::BucketUri,
};

pub struct ObjectBody {
    storage: ObjectStorage,
    bucket: Arc<BucketUri>,
    key: String,
    meta: ObjectMeta,
    position: u64,
    /// The rest of the current response.
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

    /// Where the next bytes are from.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn seek(&mut self, position: u64) {
        if position != self.position {
            (self.position, self.chunks) = (position, None);
        }
    }

    /// Returns the next bytes, at least one; `None` at the end.
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

    /// Of `&mut self`, because the rest of a response cannot be shared between threads.
    async fn request_rest(&mut self) -> Result<GetResult, StorageAttemptError> {
        let range = (self.position > 0).then_some(GetRange::Offset(self.position));
        // A weak tag never matches.
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
