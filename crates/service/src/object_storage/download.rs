//! Downloads objects, each into a part file that is renamed when complete.

use std::{fs, io::ErrorKind, path::Path};

use futures_util::{StreamExt as _, stream};
use tokio::{fs::File, io::AsyncWriteExt as _};

use super::{
    ObjectStorage,
    error::{StorageError, ensure},
    object_body::ObjectBody,
    object_entry::ObjectEntry,
};
use crate::ingest::staging::{create_private_dir, private_file};

const MAX_CONCURRENT_DOWNLOADS: usize = 8;

impl ObjectStorage {
    /// Downloads `entry` to its path below `into`. Returns its size in bytes.
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
        let end = self.try_download(entry, &part).await;
        let end = end.and_then(|bytes| {
            fs::rename(&part, &target).map(|()| bytes).map_err(|cause| match cause.kind() {
                ErrorKind::IsADirectory => name_conflict(),
                _ => StorageError::Io(cause),
            })
        });
        if end.is_err() {
            // The part file may not exist.
            let _ = fs::remove_file(&part);
        }
        end
    }

    /// Calls `on_result` with each result, and stops when that returns false.
    pub async fn download_all(
        &self,
        entries: &[ObjectEntry],
        into: &Path,
        mut on_result: impl FnMut(&ObjectEntry, Result<u64, StorageError>) -> bool,
    ) {
        let fetches = stream::iter(entries)
            .map(|entry| async move { (entry, self.download(entry, into).await) });
        let mut ends = fetches.buffer_unordered(MAX_CONCURRENT_DOWNLOADS);
        while let Some((entry, end)) = ends.next().await {
            if !on_result(entry, end) {
                return;
            }
        }
    }

    async fn try_download(&self, entry: &ObjectEntry, part: &Path) -> Result<u64, StorageError> {
        let mut file = File::from_std(private_file().create(true).truncate(true).open(part)?);
        let length = self.copy_object(entry, &mut file, part.parent().unwrap_or(part)).await?;
        // A file of this name and size counts as complete after a restart.
        file.sync_all().await?;
        Ok(length)
    }

    /// Copies an object into a file in `folder`. Returns its length.
    async fn copy_object(
        &self,
        entry: &ObjectEntry,
        file: &mut File,
        folder: &Path,
    ) -> Result<u64, StorageError> {
        let mut body = ObjectBody::open(self, &entry.bucket, &entry.key).await?;
        let limit = entry.file_kind().max_size();
        let too_large = || StorageError::object(format!("it is larger than {} MiB", limit >> 20));
        ensure(body.size() <= limit, too_large)?;
        let changed = || StorageError::object("it has changed since it was listed");
        ensure(entry.size.is_none_or(|size| size == body.size()), changed)?;
        let mut claim = self.disk.claim_in(folder);
        while let Some(chunk) = body.next().await? {
            claim.take(chunk.len())?;
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
        Ok(body.size())
    }
}

fn name_conflict() -> StorageError {
    StorageError::object("another object has the same path")
}
