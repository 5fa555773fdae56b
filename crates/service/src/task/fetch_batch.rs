//! Brings the files of a batch into its folder. Files in object storage stay there. After an interruption, this step
//! can be repeated.

use std::path::PathBuf;

use super::TaskContext;
use crate::task_error::TaskError;
use tessera_files::staging::ARCHIVE_FILE_NAME;
use tessera_media::ingest::unpack::{ArchiveKind, UnpackError, UnpackLimits};
use tessera_store::{indexing_task::BatchOrigin, source::SourceFolder};

pub(crate) type MissingFiles = Vec<(PathBuf, String)>;

/// Brings the files into the folder, unless they are already there. Returns the files that are missing.
pub(crate) fn fetch_batch(
    context: &TaskContext,
    source: &SourceFolder,
    origin: &BatchOrigin,
) -> Result<MissingFiles, TaskError> {
    match origin {
        BatchOrigin::InPlace | BatchOrigin::ObjectStorage(_) => Ok(MissingFiles::new()),
        BatchOrigin::Archive(extension) => unpack_batch(context, source, extension),
    }
}

/// Unpacks the archive of an upload, if this was not done before the database was lost or the addition failed.
pub(crate) fn finish_unpacking(
    context: &TaskContext,
    source: &SourceFolder,
) -> Result<MissingFiles, TaskError> {
    let record = context.originals.uploads.record_of_unpacked(&source.folder);
    let record = record.map_err(|cause| TaskError::io("the upload could not be read", &cause))?;
    match record.map(|record| record.origin) {
        Some(BatchOrigin::Archive(extension)) => unpack_batch(context, source, &extension),
        _ => Ok(MissingFiles::new()),
    }
}

/// Unpacks the archive of a batch, and removes the archive.
fn unpack_batch(
    context: &TaskContext,
    source: &SourceFolder,
    extension: &str,
) -> Result<MissingFiles, TaskError> {
    let whole = PathBuf::from(format!("{ARCHIVE_FILE_NAME}{extension}"));
    let unknown = || TaskError::Failed("the format of the uploaded archive is unknown".to_owned());
    let kind = ArchiveKind::from_name(&whole.to_string_lossy()).ok_or_else(unknown)?;
    let limits = UnpackLimits { disk: context.settings.disk.clone(), ..UnpackLimits::default() };
    let uploads = &context.originals.uploads;
    // The folder has a name of its own, because a worker that lost the task may still be writing its folder.
    let own = source.folder.with_extension(context.fence().to_string());
    let unpacked = uploads.unpack(&source.folder, &own, kind, limits, context.stop_flag());
    let unpacked = unpacked.map_err(|unfinished| match unfinished {
        UnpackError::Cancelled => TaskError::Stopped,
        UnpackError::Io(cause) => TaskError::io("the archive could not be unpacked", &cause),
    })?;
    let Some(unpacked) = unpacked else { return Ok(MissingFiles::new()) };
    // Inside this transaction, no other worker can take the task.
    context
        .write(|_| Ok(uploads.publish(&source.folder, &own)))?
        .map_err(|cause| TaskError::io("the archive could not be unpacked", &cause))?;
    let skipped = unpacked.skipped.into_iter();
    let mut missing: MissingFiles =
        skipped.map(|(name, reason)| (PathBuf::from(name.as_str()), reason.to_owned())).collect();
    if let Some(damage) = unpacked.damage_reason {
        missing.push((whole, damage.to_owned()));
    } else if unpacked.unreported > 0 {
        missing.push((whole, format!("{} more members were passed over", unpacked.unreported)));
    }
    Ok(missing)
}
