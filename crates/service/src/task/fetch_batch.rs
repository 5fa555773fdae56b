//! Brings the files of a batch into its folder; what is in object storage stays there. Can be repeated
//! after an interruption.

use std::{fs, path::PathBuf};

use super::TaskContext;
use crate::{
    ingest::{
        staging::{ARCHIVE_FILE_NAME, sync_tree},
        unpack::{ArchiveKind, UnpackError, UnpackLimits, unpack},
    },
    store::{operation::BatchOrigin, source::SourceFolder, upload::UploadRecord},
    task_error::TaskError,
};

pub type MissingFiles = Vec<(PathBuf, String)>;

/// Brings the files into the folder unless they are there. Returns those that are missing.
pub fn fetch_batch(
    context: &TaskContext,
    source: &SourceFolder,
    origin: &BatchOrigin,
) -> Result<MissingFiles, TaskError> {
    match origin {
        BatchOrigin::InPlace | BatchOrigin::ObjectStorage(_) => Ok(MissingFiles::new()),
        BatchOrigin::Archive(extension) => unpack_batch(context, source, extension),
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
    let unpacked = unpack(&archive, kind, &source.folder, limits, context.stop_flag());
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
