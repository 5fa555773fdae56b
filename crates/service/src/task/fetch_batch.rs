//! Brings the files of a batch into its folder. Can be repeated after an interruption.

use std::{fs, path::PathBuf};

use super::{TaskContext, progress::fraction};
use crate::{
    ingest::{
        staging::{ARCHIVE_FILE_NAME, sync_tree},
        unpack::{ArchiveKind, UnpackError, UnpackLimits, unpack},
    },
    object_storage::{ObjectEntry, ObjectStorage, StorageError},
    store::{operation::BatchOrigin, source::SourceFolder, upload::UploadRecord},
    task_error::TaskError,
};

/// Share of the progress of an addition.
const FETCH_SHARE: f64 = 0.3;

pub type MissingFiles = Vec<(PathBuf, String)>;

/// Brings the files into the folder unless they are there. Returns those that are missing.
pub fn fetch_batch(
    context: &TaskContext,
    source: &SourceFolder,
    origin: &BatchOrigin,
) -> Result<MissingFiles, TaskError> {
    match origin {
        BatchOrigin::InPlace => Ok(MissingFiles::new()),
        BatchOrigin::Archive(extension) => unpack_batch(context, source, extension),
        BatchOrigin::ObjectStorage(uri) => download_batch(context, source, uri),
    }
}

/// Unpacks the archive of an upload if that was not done before the database was lost or the addition failed.
pub fn finish_unpacking(
    context: &TaskContext,
    source: &SourceFolder,
) -> Result<MissingFiles, TaskError> {
    match source.folder.parent().and_then(UploadRecord::read).map(|record| record.origin) {
        Some(BatchOrigin::Archive(extension)) => unpack_batch(context, source, &extension),
        _ => Ok(MissingFiles::new()),
    }
}

/// Unpacks the archive next to the folder and removes it.
fn unpack_batch(
    context: &TaskContext,
    source: &SourceFolder,
    extension: &str,
) -> Result<MissingFiles, TaskError> {
    let lost = || TaskError::Failed("the uploaded archive is gone from the data folder".to_owned());
    let archive = source.folder.parent().ok_or_else(lost)?.join(ARCHIVE_FILE_NAME);
    if !archive.exists() && source.folder.exists() {
        // The process was killed after unpacking, before the end of the operation.
        return Ok(MissingFiles::new());
    }
    let kind =
        ArchiveKind::from_name(&format!("{ARCHIVE_FILE_NAME}{extension}")).ok_or_else(lost)?;
    let limits = UnpackLimits { disk: context.settings.disk.clone(), ..UnpackLimits::default() };
    let unpacked = unpack(&archive, kind, &source.folder, limits, &context.stop);
    let unpacked = unpacked.map_err(|unfinished| match unfinished {
        UnpackError::Cancelled => TaskError::Stopped,
        UnpackError::Io(cause) => TaskError::io("the archive could not be unpacked", &cause),
    })?;
    let skipped = unpacked.skipped.into_iter();
    let mut missing: MissingFiles =
        skipped.map(|(name, reason)| (PathBuf::from(name.as_str()), reason.to_owned())).collect();
    let whole = PathBuf::from(format!("{ARCHIVE_FILE_NAME}{extension}"));
    if let Some(damage) = unpacked.damage_reason {
        missing.push((whole, damage.to_owned()));
    } else if unpacked.unreported > 0 {
        missing.push((whole, format!("{} more members were passed over", unpacked.unreported)));
    }
    sync_tree(&source.folder)
        .map_err(|cause| TaskError::io("the archive could not be unpacked", &cause))?;
    fs::remove_file(&archive)
        .map_err(|cause| TaskError::io("the unpacked archive could not be removed", &cause))?;
    Ok(missing)
}

fn download_batch(
    context: &TaskContext,
    source: &SourceFolder,
    uri: &str,
) -> Result<MissingFiles, TaskError> {
    let runtime = TaskContext::storage_runtime()?;
    let settings = &context.settings;
    let storage = ObjectStorage::new(settings.storage.clone(), settings.disk.clone());
    let storage = storage.map_err(|error| storage_failed(&error))?;
    let mut parts = storage.parts(uri, usize::MAX).map_err(TaskError::Failed)?;
    let mut progress = DownloadProgress::default();
    let mut missing = MissingFiles::new();
    while let Some(part) = runtime.block_on(parts.next()).map_err(TaskError::Failed)? {
        progress.listed += part.entries.len();
        progress.has_more = parts.has_more();
        if part.truncated {
            let limit = format!("only its first {} objects were added", part.entries.len());
            missing.push((PathBuf::from(uri.rsplit('/').next().unwrap_or(uri)), limit));
        }
        let mut result = Ok(());
        let on_result = |entry: &ObjectEntry, outcome| {
            result = progress.add(context, source, entry, outcome, &mut missing);
            result.is_ok()
        };
        runtime.block_on(storage.download_all(&part.entries, &source.folder, on_result));
        result?;
    }
    sync_tree(&source.folder)
        .map_err(|cause| TaskError::io("the media could not be stored", &cause))?;
    Ok(missing)
}

/// How much of a listing in parts is downloaded.
#[derive(Default)]
struct DownloadProgress {
    done: usize,
    listed: usize,
    has_more: bool,
    reported: f64,
}

impl DownloadProgress {
    /// Counts an object, and lists it in `missing` if it is not available.
    fn add(
        &mut self,
        context: &TaskContext,
        source: &SourceFolder,
        entry: &ObjectEntry,
        outcome: Result<u64, StorageError>,
        missing: &mut MissingFiles,
    ) -> Result<(), TaskError> {
        self.done += 1;
        match outcome {
            Ok(_) => {}
            Err(StorageError::Object(reason)) => missing.push((entry.staging_path(), reason)),
            Err(error) => return Err(storage_failed(&error)),
        }
        context.check_cancelled()?;
        if self.done.is_multiple_of(64) {
            // At least as many as until now are yet to be listed.
            let all = if self.has_more { 2 * self.listed } else { self.listed };
            self.reported = self.reported.max(fraction(self.done, all));
            context.report_progress(source.dataset, FETCH_SHARE * self.reported)?;
        }
        Ok(())
    }
}

fn storage_failed(error: &StorageError) -> TaskError {
    TaskError::Failed(format!("object storage failed: {error}"))
}
