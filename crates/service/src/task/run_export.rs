//! Writes the archive of an export. The export goes from INIT to `IN_PROGRESS`, and then to COMPLETED, or to FAILED
//! with the reason.
//!
//! The archive gets its final name when it is complete and on disk, so that an interruption leaves nothing that looks
//! finished. The export is then started again. If there is a bucket, the archive is uploaded instead, and becomes
//! visible there when all of it has arrived.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Seek as _,
    path::Path,
};

use uuid::Uuid;

use super::{TaskContext, WorkerContext};
use crate::{
    archive::{
        self, ArchiveContent, LinkSigning, MissingPictures, SourceFolders, counted_duplicates,
    },
    links::content_disposition,
    originals::Originals,
    settings::{DeploymentSettings, InjectedFailure},
    task_error::{TaskError, UnfinishedRun},
};
use tessera_files::{parent_dir, private_file, sync_dir, synced};
use tessera_media::{
    ingest::disk_quota::ClaimedFile,
    object_storage::{BucketFolder, ObjectUri, StorageError, archive_name},
};
use tessera_model::{ExportTaskId, Status};
use tessera_store::{
    Connection, Store, StoreError,
    dataset::{self, DatasetRecord},
    export::{self, ExportRecord, ExportTaskState},
    indexed_files, indexing_task,
    lease::LeasedTask,
    source,
};

/// Runs the oldest export that no worker is running. Returns whether there was one.
pub(crate) fn run_next_export(worker: &WorkerContext) -> bool {
    worker.run_next(
        |tx| {
            let found = export::next_unleased(tx)?;
            Ok(found.map(|export| (LeasedTask::Export(export.id), export)))
        },
        |tx, export| export::find_unfinished(tx, export.id),
        run_export,
    )
}

/// Runs an export. Fails if the export is postponed, or if the store cannot even record the failure.
fn run_export(context: &TaskContext, export: &ExportRecord) -> Result<(), UnfinishedRun> {
    let id = export.id;
    // The file has a name of its own, because a worker that lost the task may still be writing its file.
    let archive = context.store.export_archive_path(id.0);
    let partial = |attempt: i64| archive.with_extension(format!("{attempt}.part"));
    for earlier in 1..context.fence() {
        // An error is ignored, because only an attempt that was killed leaves its file.
        let _ = fs::remove_file(partial(earlier));
    }
    let partial = partial(context.fence());
    let Err(cause) = context.run(|| create_archive(context, export, &partial)) else {
        return Ok(());
    };
    // An error is ignored, because the file may not exist and the state of the export decides.
    let _ = fs::remove_file(&partial);
    if let Some(reason) = context.rerun_reason(&cause) {
        let waiting = format!("waiting, because {reason}");
        context.write(|tx| {
            export::update_progress(tx, id, ExportTaskState::InProgress, 0.0, Some(&waiting))
        })?;
    }
    context.end(cause, |tx, reason| {
        export::update_progress(tx, id, ExportTaskState::Failed, 0.0, Some(reason))
    })
}

/// Deletes exports that ended longer ago than they are kept, the archives of exports whose dataset was removed, and
/// archives on disk whose exports no longer exist. An export whose archive cannot be deleted from the bucket now is
/// deleted at a later check.
pub(crate) fn delete_expired_exports(context: &WorkerContext) -> Result<(), StoreError> {
    let (store, retention) = (&context.store, context.settings.export_retention);
    let unneeded = store
        .read(|c| Ok([export::expired(c, retention)?, export::without_dataset(c)?].concat()))?;
    let deleted = delete_archives(context, unneeded);
    if !deleted.is_empty() {
        store.write(|tx| export::delete_all(tx, &deleted))?;
    }
    remove_orphaned_files(store)
}

/// Removes the archives of exports that this process or another one deleted, and unfinished archives that a killed
/// process left.
fn remove_orphaned_files(store: &Store) -> Result<(), StoreError> {
    // Whatever cannot be read or removed now is removed at the next check.
    let Ok(entries) = fs::read_dir(store.exports_dir()) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.split_once('.'));
        let Some((Ok(id), extension)) = name.map(|(id, end)| (Uuid::try_parse(id), end)) else {
            continue;
        };
        let id = ExportTaskId(id);
        let is_needed = store
            .read(|c| export::find(c, id))?
            .is_some_and(|export| extension == "zip" || !export.state.has_ended());
        if !is_needed {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

/// Deletes archives from the bucket, if there is one. Returns the exports whose archives are gone.
fn delete_archives(context: &WorkerContext, mut exports: Vec<ExportTaskId>) -> Vec<ExportTaskId> {
    let Some(bucket) = context.settings.bucket.as_ref().filter(|_| !exports.is_empty()) else {
        return exports;
    };
    let opened = TaskContext::storage_runtime()
        .and_then(|runtime| Ok((runtime, open_bucket(&context.settings, bucket)?)));
    let Ok((runtime, folder)) = opened else { return Vec::new() };
    exports.retain(|export| {
        // Deleting succeeds even if the archive was never written.
        !context.is_stopped() && runtime.block_on(folder.delete(&archive_name(*export))).is_ok()
    });
    exports
}

fn open_bucket(
    settings: &DeploymentSettings,
    bucket: &ObjectUri,
) -> Result<BucketFolder, TaskError> {
    BucketFolder::new(&settings.storage, bucket).map_err(bucket_error)
}

/// Uploads a complete archive.
fn upload_archive(
    context: &TaskContext,
    bucket: &ObjectUri,
    export: &ExportRecord,
    archive: &mut File,
) -> Result<(), TaskError> {
    let runtime = TaskContext::storage_runtime()?;
    let folder = open_bucket(&context.settings, bucket)?;
    archive.rewind().map_err(TaskError::archive)?;
    let disposition = content_disposition("attachment", export.spec.file_name.as_str());
    let name = archive_name(export.id);
    let proceed = |_| context.check_cancelled().is_ok();
    let uploaded = runtime.block_on(folder.upload(&name, archive, &disposition, proceed));
    if uploaded.map_err(bucket_error)? { Ok(()) } else { Err(TaskError::Stopped) }
}

fn bucket_error(error: StorageError) -> TaskError {
    let message = format!("the archive cannot be kept in the bucket: {error}");
    TaskError::in_storage(message, &error.into_io())
}

fn create_archive(
    context: &TaskContext,
    export: &ExportRecord,
    partial: &Path,
) -> Result<(), TaskError> {
    let store = &context.store;
    let advance = |stage, progress, message: Option<&str>| {
        context.write(|tx| export::update_progress(tx, export.id, stage, progress, message))
    };
    context.simulate(Some(InjectedFailure::Export), |part| {
        Ok(advance(ExportTaskState::InProgress, part, None)?)
    })?;
    let file = private_file().read(true).create(true).truncate(true).open(partial);
    let disk = context.settings.disk_of_exports(export.spec.include_images);
    let claim = disk.claim_in(&store.exports_dir());
    let mut file = ClaimedFile::new(file.map_err(TaskError::archive)?, claim);
    let mut reported = -1.0;
    let report = |progress: f64| {
        context.check_cancelled()?;
        // Each percent is written only once, because a write syncs the disk. On a network file system, nothing is
        // written, because the write would wait for the end of the snapshot.
        if progress - reported >= 0.01 && store.network_file_system().is_none() {
            reported = progress;
            advance(ExportTaskState::InProgress, progress, None)?;
        }
        Ok(())
    };
    let links = LinkSigning::new(store, &context.settings)?;
    let (entities, missing) = store
        .read(|c| Ok(write_snapshot(&context.originals, c, export, &links, &mut file, report)))??;
    synced(file.file.sync_all()).map_err(TaskError::archive)?;
    match &context.settings.bucket {
        Some(bucket) => {
            upload_archive(context, bucket, export, &mut file.file)?;
            fs::remove_file(partial).map_err(TaskError::archive)?;
        }
        None => keep_archive(partial, &store.export_archive_path(export.id.0))
            .map_err(TaskError::archive)?,
    }
    let message = missing.message();
    let ended = context.write_end(|tx| {
        for media in missing.changed.values() {
            indexed_files::forget_modified(tx, media.source, &media.path)?;
        }
        export::set_media_count(tx, export.id, entities)?;
        export::update_progress(tx, export.id, ExportTaskState::Completed, 1.0, message.as_deref())
    });
    // Another worker may have deleted the export, and its archive, before this worker uploaded the archive.
    if ended.is_err() && store.read(|c| export::find(c, export.id))?.is_none() {
        delete_archives(context, vec![export.id]);
    }
    Ok(ended?)
}

fn keep_archive(partial: &Path, target: &Path) -> std::io::Result<()> {
    fs::rename(partial, target)?;
    sync_dir(parent_dir(target))
}

/// Writes the archive from one snapshot of the store, because media may be added meanwhile. Returns the number of media
/// items, and the pictures that the archive lacks.
fn write_snapshot(
    originals: &Originals,
    connection: &Connection,
    export: &ExportRecord,
    links: &LinkSigning,
    file: &mut ClaimedFile,
    report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<(u64, MissingPictures), TaskError> {
    let dataset = dataset::find(connection, export.dataset)?;
    let dataset = dataset.ok_or_else(|| TaskError::Failed("its dataset is gone".to_owned()))?;
    require_indexed(connection, &dataset)?;
    let folders = if export.spec.include_images {
        SourceFolders::open(originals, &source::of_dataset(connection, dataset.id)?)?
    } else {
        SourceFolders::default()
    };
    let selected = export.media_count;
    let export =
        ExportRecord { media_count: export::count_media(connection, export)?, ..export.clone() };
    let (dataset, export, folders) = (&dataset, &export, &folders);
    let pictures = &originals.pictures;
    let groups = &counted_duplicates(connection, dataset.id)?;
    let content = ArchiveContent { connection, dataset, export, folders, pictures, links, groups };
    let mut missing = archive::write(&content, file, report)?;
    missing.require_some()?;
    if export.selective {
        missing.removed = selected.saturating_sub(export.media_count);
    }
    Ok((export.media_count, missing))
}

/// Fails if the dataset is only partly indexed, which it may be since the export was requested.
fn require_indexed(connection: &Connection, dataset: &DatasetRecord) -> Result<(), TaskError> {
    if indexing_task::find_running(connection, dataset.id)?.is_some() {
        // The indexing began after the export was taken. The export is taken again after it.
        return Err(TaskError::Stopped);
    }
    // Media that were added meanwhile lack only their clusters.
    if matches!(dataset.status, Status::Ready | Status::PartialIndex) {
        return Ok(());
    }
    let status = dataset.status.as_str();
    Err(TaskError::Failed(format!("its dataset is {status}. Resolve the error, and export again")))
}
