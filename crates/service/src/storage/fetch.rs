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
    Storage,
    entry::Entry,
    fault::{Fault, Setback, lost},
};
use crate::ingest::stage::{private, room};

/// Objects fetched at a time.
const AT_ONCE: usize = 8;

impl Storage {
    /// Fetches `entry` to its path below the folder `into`. Returns its bytes.
    ///
    /// # Errors
    /// The object or the storage does not give it, or the disk does not take it.
    pub async fn fetch(&self, entry: &Entry, into: &Path) -> Result<u64, Fault> {
        let target = into.join(entry.path());
        if let Ok(there) = fs::metadata(&target)
            && there.is_file()
            && entry.size.is_none_or(|size| size == there.len())
        {
            return Ok(there.len());
        }
        let folder = target.parent().unwrap_or(into);
        private(folder).map_err(|cause| match cause.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => taken(),
            _ => Fault::Disk(cause),
        })?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let part = folder.join(format!(".{name}.part"));
        let end = self.s3.retried(|| self.receive(entry, &part)).await;
        let end = end.and_then(|bytes| {
            fs::rename(&part, &target).map(|()| bytes).map_err(|cause| match cause.kind() {
                ErrorKind::IsADirectory => taken(),
                _ => Fault::Disk(cause),
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
    pub async fn fetch_all(
        &self,
        entries: &[Entry],
        into: &Path,
        mut tell: impl FnMut(&Entry, Result<u64, Fault>) -> bool,
    ) {
        let fetches = stream::iter(entries)
            .map(|entry| async move { (entry, self.fetch(entry, into).await) });
        let mut ends = fetches.buffer_unordered(AT_ONCE);
        while let Some((entry, end)) = ends.next().await {
            if !tell(entry, end) {
                return;
            }
        }
    }

    /// One attempt to receive an object into `part`, whatever is there.
    async fn receive(&self, entry: &Entry, part: &Path) -> Result<u64, Setback> {
        let last = |fault| Setback::Final(fault);
        let disk = |cause| last(Fault::Disk(cause));
        let mut answer = self.s3.object(&entry.bucket, &entry.key).await?;
        let largest = entry.kind().largest();
        let too_large = || last(Fault::Object(format!("it is larger than {} MiB", largest >> 20)));
        let said = answer.content_length().or(entry.size).unwrap_or_default();
        if said > largest {
            return Err(too_large());
        }
        let room = room(part.parent().unwrap_or(part)).map_err(disk)?;
        let mut file = File::create(part).await.map_err(disk)?;
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await.map_err(|cause| lost(&cause))? {
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
            return Err(last(Fault::Object("it has changed since it was listed".to_owned())));
        }
        Ok(bytes)
    }
}

fn taken() -> Fault {
    Fault::Object("another object has its place".to_owned())
}
