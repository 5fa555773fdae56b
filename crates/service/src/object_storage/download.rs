//! Fetches objects into a staging folder: each into a part file of its own, which gets its name
//! when it is whole. What is there already is not fetched again.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use futures_util::{StreamExt as _, stream};
use tokio::{fs::File, io::AsyncWriteExt as _};

use super::{
    ObjectStorage,
    error::{StorageAttemptError, StorageError, transport_error},
    object_entry::ObjectEntry,
};
use crate::ingest::staging::{available_space, create_private_dir};

/// Objects fetched at a time.
const MAX_CONCURRENT_DOWNLOADS: usize = 8;

impl ObjectStorage {
    /// Fetches `entry` to its path below the folder `into`. Returns its bytes.
    ///
    /// # Errors
    /// The object or the storage does not give it, or the disk does not take it.
    pub async fn download(&self, entry: &ObjectEntry, into: &Path) -> Result<u64, StorageError> {
        let target = into.join(entry.staging_path());
        if let Ok(there) = fs::metadata(&target)
            && there.is_file()
            && entry.size.is_none_or(|size| size == there.len())
        {
            return Ok(there.len());
        }
        let folder = target.parent().unwrap_or(into);
        create_private_dir(folder).map_err(|cause| match cause.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => name_conflict(),
            _ => StorageError::Io(cause),
        })?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let part = folder.join(format!(".{name}.part"));
        let end = self.s3.with_retries(|| self.try_download(entry, &part)).await;
        let end = end.and_then(|bytes| {
            fs::rename(&part, &target).map(|()| bytes).map_err(|cause| match cause.kind() {
                ErrorKind::IsADirectory => name_conflict(),
                _ => StorageError::Io(cause),
            })
        });
        if end.is_err() {
            // It may never have been begun.
            let _ = fs::remove_file(&part);
        }
        end
    }

    /// Fetches `entries`, several at a time, and tells how each ended as it ends; stops when
    /// `tell` answers no.
    pub async fn download_all(
        &self,
        entries: &[ObjectEntry],
        into: &Path,
        mut tell: impl FnMut(&ObjectEntry, Result<u64, StorageError>) -> bool,
    ) {
        let fetches = stream::iter(entries)
            .map(|entry| async move { (entry, self.download(entry, into).await) });
        let mut ends = fetches.buffer_unordered(MAX_CONCURRENT_DOWNLOADS);
        while let Some((entry, end)) = ends.next().await {
            if !tell(entry, end) {
                return;
            }
        }
    }

    /// One attempt to receive an object into `part`, whatever is there.
    async fn try_download(
        &self,
        entry: &ObjectEntry,
        part: &Path,
    ) -> Result<u64, StorageAttemptError> {
        let last = |fault| StorageAttemptError::Permanent(fault);
        let disk = |cause| last(StorageError::Io(cause));
        let mut answer = self.s3.get_object(&entry.bucket, &entry.key).await?;
        let largest = entry.file_kind().max_size();
        let too_large =
            || last(StorageError::Object(format!("it is larger than {} MiB", largest >> 20)));
        let said = answer.content_length().or(entry.size).unwrap_or_default();
        if said > largest {
            return Err(too_large());
        }
        let room = available_space(part.parent().unwrap_or(part)).map_err(disk)?;
        let mut file = File::create(part).await.map_err(disk)?;
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await.map_err(|cause| transport_error(&cause))? {
            bytes += chunk.len() as u64;
            if bytes > largest {
                return Err(too_large());
            }
            if bytes > room {
                return Err(disk(io::Error::from(ErrorKind::StorageFull)));
            }
            file.write_all(&chunk).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        if entry.size.is_some_and(|size| size != bytes) {
            return Err(last(StorageError::Object(
                "it has changed since it was listed".to_owned(),
            )));
        }
        Ok(bytes)
    }
}

fn name_conflict() -> StorageError {
    StorageError::Object("another object has its place".to_owned())
}
