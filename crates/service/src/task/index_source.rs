//! Indexes a folder: scans it, extracts new files, removes missing ones, and applies sidecars. The files of an addition
//! are first brought into the folder of their batch. Files in object storage stay there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    TaskContext,
    apply_sidecars::apply_sidecars,
    extract_media::{extract_media, percent},
    several_processes::extract_in_ranges,
};
use crate::{
    originals::{FOLDER_MISSING, is_missing, storage_location},
    task_error::TaskError,
};
use tessera_files::staging::ARCHIVE_FILE_NAME;
use tessera_media::ingest::{
    diff, sidecar,
    unpack::{ArchiveKind, UnpackError, UnpackLimits},
};
use tessera_store::{
    indexed_files::{self, FileWithoutMedia},
    indexing_task::BatchOrigin,
    source::{self as sources, SourceFolder},
};

/// Updates the store to match a folder. The files in `missing` are listed among the skipped files.
pub fn index_source(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    missing: &MissingFiles,
) -> Result<(), TaskError> {
    let store = &context.store;
    let folder = &*context.open_source(source)?;
    let mut scan =
        context.originals.scan(&source.folder, &source.patterns).map_err(TaskError::Failed)?;
    // Other sources inside this folder keep their own files.
    let inside: Vec<PathBuf> = store
        .read(|c| sources::all(c, source.dataset))?
        .iter()
        .filter(|other| other.row != source.row)
        .filter_map(|other| other.folder.strip_prefix(&source.folder).ok().map(Path::to_owned))
        .collect();
    scan.files.retain(|found| !inside.iter().any(|folder| found.path.starts_with(folder)));
    let known = store.read(|c| indexed_files::known_files(c, source.row))?;
    if source.is_dataset_folder
        && !known.is_empty()
        && storage_location(&source.folder).is_none()
        && is_missing(&source.folder)
    {
        // A disk that is not connected must not empty the index.
        return Err(TaskError::Failed(FOLDER_MISSING.to_owned()));
    }
    let mut changes = diff(&scan, known);
    context.write(|tx| {
        indexed_files::clear_skipped_unopened(tx, source.row)?;
        // A file that was indexed before may be skipped now, so its rows are removed first.
        let removed = changes.removed.iter().map(PathBuf::as_path);
        indexed_files::remove_files(tx, source.row, removed)?;
        let skipped = scan.skipped.iter().map(|(path, reason)| (path, &**reason));
        // If a file has several reasons, the last one counts.
        let skipped: BTreeMap<_, _> =
            skipped.chain(missing.iter().map(|(path, reason)| (path, &**reason))).collect();
        let skipped =
            skipped.iter().map(|(path, reason)| FileWithoutMedia { path, stat: None, reason });
        indexed_files::mark_skipped(tx, source.row, skipped)
    })?;
    let reading = sidecar::read(folder, &scan);
    let described: BTreeSet<_> = reading.sidecars.iter().chain(reading.problems.keys()).collect();
    changes.added_or_modified.retain(|(found, _)| !described.contains(&found.path));
    let (files, all) = (&changes.added_or_modified, scan.files.len());
    if store.is_on_server() {
        extract_in_ranges(context, indexing_task, source, files, all)?;
    } else {
        let mut done = all - files.len();
        extract_media(context, source, folder, files, |_, extracted| {
            done += extracted.len();
            Ok(percent(done, all))
        })?;
    }
    apply_sidecars(context, source, folder, &scan, reading)
}

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
