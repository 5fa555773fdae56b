//! Uploads in a bucket: `uploads/ID/` with the files, and `uploads/ID.json`, which accepts them.

use std::{
    collections::HashSet,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use walkdir::WalkDir;

use super::bucket_unpack_target::BucketUnpackTarget;
use crate::{
    ingest::{
        SourceFile,
        staging::ARCHIVE_FILE_NAME,
        unpack::{ArchiveKind, UnpackError, UnpackLimits, UnpackReport, unpack_into},
    },
    object_storage::{BlockingStorage, BucketFolder, ObjectReader, StorageError},
    store::upload::UploadRecord,
};
use tessera_model::DatasetId;

const FOLDER: &str = "uploads";
const CONCURRENT_UPLOADS: usize = 8;
/// Younger objects without a record may be of an upload that another process is receiving.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

#[derive(Debug)]
pub struct BucketUploads {
    pub(super) storage: Arc<BlockingStorage>,
    pub(super) folder: Arc<BucketFolder>,
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
        let record_name = record_name(&id);
        self.run(async move {
            let put = |(name, path): (String, PathBuf)| {
                let folder = folder.clone();
                async move { folder.put_file(&name, File::open(path)?).await }
            };
            let puts = stream::iter(files).map(put).buffer_unordered(CONCURRENT_UPLOADS);
            puts.try_collect::<()>().await?;
            folder.put(&record_name, json).await
        })?;
        Ok(record.origin.media_folder(&self.base.join(id)))
    }

    /// Removes the record; the files stay until they count as abandoned.
    pub(super) fn withdraw(&self, staging: &Path) {
        let (folder, name) = (self.folder.clone(), record_name(&name_of(staging)));
        // With its record it would be added if the database were lost.
        let _ = self.run(async move { folder.delete(&name).await });
    }

    pub(super) fn read_record(&self, upload: &Path) -> io::Result<Option<UploadRecord>> {
        match self.read_record_of(&name_of(upload)) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            record => record.map(Some),
        }
    }

    fn read_record_of(&self, id: &str) -> io::Result<UploadRecord> {
        let (folder, name) = (self.folder.clone(), record_name(id));
        let json = self.run(async move { folder.read(&name).await })?;
        Ok(serde_json::from_slice(&json)?)
    }

    pub(super) fn locations_of_dataset(&self, dataset: DatasetId) -> io::Result<Vec<PathBuf>> {
        let folder = self.folder.clone();
        let all = self.run(async move { folder.children(FOLDER).await })?;
        let mut accepted = Vec::new();
        for (name, accepted_at) in all.objects {
            let Some(id) = name.strip_suffix(".json") else { continue };
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
    ) -> Result<Option<UnpackReport>, UnpackError> {
        let id = location.parent().map(name_of).unwrap_or_default();
        let name = format!("{FOLDER}/{id}/{ARCHIVE_FILE_NAME}");
        let open = || -> io::Result<Box<dyn SourceFile>> {
            let archive = ObjectReader::open(&self.storage, &self.folder.entry(&name))?;
            Ok(Box::new(archive))
        };
        let is_gone = || open().is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound);
        if is_gone() {
            // The process was killed after unpacking, before the end of the operation.
            return Ok(None);
        }
        let prefix = format!("{FOLDER}/{id}/{}", name_of(location));
        let mut target = BucketUnpackTarget::new(self, prefix, scratch);
        let report = match unpack_into(&open, kind, &mut target, limits, stop) {
            // A worker that this one has taken over from went on, and has written the same objects.
            Err(UnpackError::Io(_)) if is_gone() => return Ok(None),
            report => report?,
        };
        let folder = self.folder.clone();
        self.run(async move { folder.delete(&name).await }).map_err(UnpackError::Io)?;
        Ok(Some(report))
    }

    /// Deletes uploads without a record that no dataset has.
    pub(super) fn remove_abandoned(&self, needed: &[PathBuf]) -> io::Result<()> {
        let needed: HashSet<String> = needed
            .iter()
            .filter_map(|location| location.strip_prefix(&self.base).ok()?.iter().next())
            .map(|id| id.to_string_lossy().into_owned())
            .collect();
        let folder = self.folder.clone();
        let limit = SystemTime::now() - ABANDONED_AFTER;
        self.run(async move {
            let all = folder.children(FOLDER).await?;
            let recorded: HashSet<&str> =
                all.objects.iter().filter_map(|(name, _)| name.strip_suffix(".json")).collect();
            for id in &all.folders {
                if !needed.contains(id) && !recorded.contains(id.as_str()) {
                    folder.delete_below(&format!("{FOLDER}/{id}"), limit).await?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn run<T: Send + 'static>(
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
