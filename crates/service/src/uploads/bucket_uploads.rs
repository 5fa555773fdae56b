//! Uploads in a bucket: `uploads/ID/` contains the files, and `uploads/ID.json` is the record that accepts them.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, ErrorKind, Seek as _},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::SystemTime,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use walkdir::WalkDir;

use tessera_files::{
    create_private_dir,
    staging::{ARCHIVE_FILE_NAME, with_suffix},
};
use tessera_media::{
    ingest::{
        SourceFile,
        archive_readers::{ArchiveKind, UnpackError, UnpackLimits, UnpackTarget, unpack_into},
    },
    object_storage::{
        BlockingStorage, BucketFolder, INTERRUPTED_AFTER, ObjectReader, StorageError,
    },
};
use tessera_model::DatasetId;
use tessera_store::upload::UploadRecord;

use super::{SKIPPED_MEMBERS, skipped_members};

const FOLDER: &str = "uploads";
/// The number of concurrent uploads. Each has a part of a file in memory.
const CONCURRENT_UPLOADS: usize = 4;

#[derive(Debug)]
pub(crate) struct BucketUploads {
    storage: Arc<BlockingStorage>,
    folder: Arc<BucketFolder>,
    /// The address of all uploads.
    base: PathBuf,
}

impl BucketUploads {
    pub fn new(storage: Arc<BlockingStorage>, folder: BucketFolder) -> Self {
        let base = PathBuf::from(folder.address(FOLDER));
        Self { storage, folder: Arc::new(folder), base }
    }

    pub(super) fn contains(&self, location: &Path) -> bool {
        location.starts_with(&self.base)
    }

    /// Copies the files of a staging directory to the bucket, and then accepts them.
    pub(super) fn accept(&self, staging: &Path, record: &UploadRecord) -> io::Result<PathBuf> {
        let id = name_of(staging);
        let mut files = Vec::new();
        for entry in WalkDir::new(staging) {
            let entry = entry?;
            if entry.file_type().is_file() {
                let below = entry.path().strip_prefix(staging).unwrap_or(entry.path());
                let name = format!("{FOLDER}/{id}/{}", below.to_string_lossy());
                files.push((name, entry.into_path()));
            }
        }
        let (folder, json) = (self.folder.clone(), Bytes::from(serde_json::to_vec(record)?));
        let location = record.origin.media_folder(&self.base.join(&id));
        self.run(async move {
            let put = |(name, path): (String, PathBuf)| {
                let folder = folder.clone();
                async move { folder.put_file(&name, File::open(path)?).await }
            };
            folder.begin_upload(&id).await?;
            let puts = stream::iter(files).map(put).buffer_unordered(CONCURRENT_UPLOADS);
            puts.try_collect::<()>().await?;
            folder.put(&record_name(&id), json).await
        })?;
        Ok(location)
    }

    /// Records that a dataset has the upload.
    pub(super) fn settle(&self, staging: &Path) {
        let (folder, id) = (self.folder.clone(), name_of(staging));
        // If this cannot be recorded now, a start after a day records it.
        let _ = self.run(async move { folder.end_upload(&id).await });
    }

    /// Removes the files, and the record, because the record would add the upload if the database were lost.
    pub(super) fn withdraw(&self, staging: &Path) {
        let (folder, id) = (self.folder.clone(), name_of(staging));
        // An error is ignored, because the client already gets the error that caused the withdrawal.
        let _ = self.run(async move {
            folder.delete(&record_name(&id)).await?;
            folder.delete_below(&format!("{FOLDER}/{id}")).await?;
            folder.end_upload(&id).await
        });
    }

    pub(super) fn read_record(&self, upload: &Path) -> io::Result<Option<UploadRecord>> {
        let id = name_of(upload);
        if self.contains_object(record_name(&id))? {
            self.read_record_of(&id).map(Some)
        } else {
            Ok(None)
        }
    }

    fn read_record_of(&self, id: &str) -> io::Result<UploadRecord> {
        let (folder, name) = (self.folder.clone(), record_name(id));
        let json = self.run(async move { folder.read(&name).await })?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// Returns the locations of those uploads of a dataset that are not `known`, the oldest first. Uploads that were
    /// not settled are skipped, because another process may be about to add them.
    pub(super) fn unknown_locations(
        &self,
        dataset: DatasetId,
        known: &[PathBuf],
    ) -> io::Result<Vec<PathBuf>> {
        let folder = self.folder.clone();
        let (all, begun) = self.run(async move {
            Ok((folder.children(FOLDER).await?, folder.begun_uploads().await?))
        })?;
        let mut known: HashSet<String> = known.iter().filter_map(|it| self.id_at(it)).collect();
        known.extend(begun.into_iter().map(|(id, _)| id));
        let mut accepted = Vec::new();
        for (name, accepted_at) in all.objects {
            let id = name.strip_suffix(".json").filter(|id| !known.contains(*id));
            let Some(id) = id else { continue };
            let record = self.read_record_of(id)?;
            if record.dataset == dataset {
                accepted.push((accepted_at, record.origin.media_folder(&self.base.join(id))));
            }
        }
        accepted.sort();
        Ok(accepted.into_iter().map(|(_, location)| location).collect())
    }

    pub(super) fn unpack(
        &self,
        location: &Path,
        (kind, limits): (ArchiveKind, UnpackLimits),
        scratch: &Path,
        stop: &AtomicBool,
    ) -> Result<bool, UnpackError> {
        let id = location.parent().map(name_of).unwrap_or_default();
        let name = format!("{FOLDER}/{id}/{ARCHIVE_FILE_NAME}");
        let open = || -> io::Result<Box<dyn SourceFile>> {
            let archive = ObjectReader::open(&self.storage, &self.folder.entry(&name))?;
            Ok(Box::new(archive))
        };
        let is_there = || self.contains_object(name.clone());
        if !is_there().map_err(UnpackError::Io)? {
            // The process was killed after unpacking, but before the end of the indexing task.
            return Ok(false);
        }
        let prefix = format!("{FOLDER}/{id}/{}", name_of(location));
        let mut target = BucketUnpackTarget::new(&self.storage, &self.folder, prefix, scratch);
        let report = match unpack_into(&open, kind, &mut target, limits, stop) {
            // The previous worker of this task continued, and has already written the same objects.
            Err(UnpackError::Io(_)) if is_there().is_ok_and(|is_there| !is_there) => {
                return Ok(false);
            }
            report => report?,
        };
        let (folder, path) = (self.folder.clone(), skipped_name(location));
        let record = skipped_members(report, kind)?;
        let replaced = async move {
            if let Some(record) = record {
                folder.put(&path, record.into()).await?;
            }
            folder.delete(&name).await
        };
        self.run(replaced).map_err(UnpackError::Io)?;
        Ok(true)
    }

    pub(super) fn read_skipped_members(&self, location: &Path) -> io::Result<Option<Vec<u8>>> {
        let (folder, name) = (self.folder.clone(), skipped_name(location));
        if !self.contains_object(name.clone())? {
            return Ok(None);
        }
        self.run(async move { folder.read(&name).await }).map(Some)
    }

    /// Returns the identifier of the upload at a location, if the location is in the bucket.
    fn id_at(&self, location: &Path) -> Option<String> {
        let below = location.strip_prefix(&self.base).ok()?;
        Some(below.iter().next()?.to_string_lossy().into_owned())
    }

    fn contains_object(&self, name: String) -> io::Result<bool> {
        let folder = self.folder.clone();
        self.run(async move { folder.contains(&name).await })
    }

    /// Deletes what interrupted uploads have left.
    pub(super) fn remove_interrupted(&self, needed: &[PathBuf]) -> io::Result<()> {
        let limit = SystemTime::now() - INTERRUPTED_AFTER;
        let folder = self.folder.clone();
        let interrupted = self.run(async move {
            for incomplete in folder.incomplete_objects(limit).await.unwrap_or_default() {
                folder.abort(&incomplete).await?;
            }
            folder.interrupted_uploads(limit).await
        })?;
        for id in interrupted {
            let base = self.base.join(&id);
            let is_accepted = needed.iter().any(|location| location.starts_with(&base))
                || self.read_record(&base)?.is_some();
            let folder = self.folder.clone();
            self.run(async move {
                if !is_accepted {
                    folder.delete_below(&format!("{FOLDER}/{id}")).await?;
                }
                folder.end_upload(&id).await
            })?;
        }
        Ok(())
    }

    fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, StorageError>> + Send + 'static,
    ) -> io::Result<T> {
        self.storage.run(task)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn record_name(id: &str) -> String {
    format!("{FOLDER}/{id}.json")
}

/// Returns the name of the record beside the files at a location.
fn skipped_name(location: &Path) -> String {
    let id = location.parent().map(name_of).unwrap_or_default();
    format!("{FOLDER}/{id}/{SKIPPED_MEMBERS}")
}

pub(crate) struct BucketUnpackTarget<'a> {
    storage: &'a Arc<BlockingStorage>,
    folder: &'a Arc<BucketFolder>,
    /// The prefix of the names of the objects.
    prefix: String,
    scratch: &'a Path,
    taken: HashSet<PathBuf>,
}

impl<'a> BucketUnpackTarget<'a> {
    pub fn new(
        storage: &'a Arc<BlockingStorage>,
        folder: &'a Arc<BucketFolder>,
        prefix: String,
        scratch: &'a Path,
    ) -> Self {
        Self { storage, folder, prefix, scratch, taken: HashSet::new() }
    }

    fn object_name(&self, path: &Path) -> String {
        format!("{}/{}", self.prefix, path.to_string_lossy())
    }
}

impl UnpackTarget for BucketUnpackTarget<'_> {
    fn disk(&self) -> &Path {
        self.scratch
    }

    /// Nothing is removed, because this run overwrites the objects of an interrupted run.
    fn clear(&mut self) -> io::Result<()> {
        create_private_dir(self.scratch)
    }

    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        let (mut unique, mut number) = (path.to_owned(), 1);
        while !self.taken.insert(unique.clone()) {
            number += 1;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            unique = path.with_file_name(with_suffix(&name, &number.to_string()));
        }
        if self.folder.path(&self.object_name(&unique)).is_err() {
            return Err(ErrorKind::InvalidFilename.into());
        }
        Ok((unique, tempfile::tempfile_in(self.scratch)?))
    }

    fn keep(&mut self, path: &Path, mut file: File) -> io::Result<()> {
        file.rewind()?;
        let (folder, name) = (self.folder.clone(), self.object_name(path));
        self.storage.run(async move { folder.put_file(&name, file).await })
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        let entry = self.folder.entry(&self.object_name(path));
        Ok(Box::new(ObjectReader::open(self.storage, &entry)?))
    }

    fn discard(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
