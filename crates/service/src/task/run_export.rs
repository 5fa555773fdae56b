//! Writes the archive of an export: INIT, `IN_PROGRESS`, then COMPLETED, or FAILED with the reason.
//!
//! The archive is renamed to its final name when it is complete and on disk, so an interruption
//! leaves nothing that looks finished; the export is then started again.

use std::{fs, path::Path};

use super::TaskContext;
use crate::{
    archive::{self, ArchiveContent, SourceFolders},
    ingest::{
        disk_quota::ClaimedFile,
        staging::{private_file, sync_dir},
    },
    settings::InjectedFailure,
    store::{
        Connection, StoreError, dataset,
        export::{self, ExportRecord, ExportTaskState},
        source,
    },
    task_error::TaskError,
};
use tessera_model::ExportTaskId;

/// Runs an export that is not finished. Fails only if the store cannot even record the failure.
pub fn run_export(context: &TaskContext, id: ExportTaskId) -> Result<(), StoreError> {
    let store = &context.store;
    let Some(export) = store.read(|c| export::find(c, id))? else {
        return Ok(());
    };
    let partial = store.export_archive_path(id.0).with_extension("part");
    let Err(cause) = context.run(|| create_archive(context, &export, &partial)) else {
        return Ok(());
    };
    // The file may not exist; the state of the export decides.
    let _ = fs::remove_file(&partial);
    match cause {
        TaskError::Stopped => Ok(()),
        TaskError::Failed(reason) => store.write(|tx| {
            export::update_progress(tx, id, ExportTaskState::Failed, 0.0, Some(&reason))
        }),
    }
}

/// Deletes exports that ended longer ago than they are kept.
pub fn delete_expired_exports(context: &TaskContext) -> Result<(), StoreError> {
    let (store, retention) = (&context.store, context.settings.export_retention);
    for old in store.write(|tx| export::delete_expired(tx, retention))? {
        // The archive may never have been written.
        let _ = fs::remove_file(store.export_archive_path(old.0));
    }
    Ok(())
}

fn create_archive(
    context: &TaskContext,
    export: &ExportRecord,
    partial: &Path,
) -> Result<(), TaskError> {
    let store = &context.store;
    let advance = |stage, progress, message: Option<&str>| {
        store.write(|tx| export::update_progress(tx, export.id, stage, progress, message))
    };
    context.simulate(Some(InjectedFailure::Export), |part| {
        Ok(advance(ExportTaskState::InProgress, part, None)?)
    })?;
    let file = private_file().create(true).truncate(true).open(partial);
    let claim = context.settings.disk.claim_in(&store.exports_dir());
    let mut file = ClaimedFile::new(file.map_err(TaskError::archive)?, claim);
    let mut reported = -1.0;
    let report = |progress: f64| {
        context.check_cancelled()?;
        // Each percent is written once: a write is a sync of the disk. On a network file system it
        // would wait for the end of the snapshot.
        if progress - reported >= 0.01 && store.network_file_system().is_none() {
            reported = progress;
            advance(ExportTaskState::InProgress, progress, None)?;
        }
        Ok(())
    };
    let link_key = store.link_key();
    let (entities, missing) =
        store.read(|c| Ok(write_snapshot(c, export, link_key, &mut file, report)))??;
    file.file.sync_all().map_err(TaskError::archive)?;
    let target = store.export_archive_path(export.id.0);
    fs::rename(partial, &target).map_err(TaskError::archive)?;
    target.parent().map_or(Ok(()), sync_dir).map_err(TaskError::archive)?;
    let message = (missing > 0).then(|| format!("{missing} pictures could not be read"));
    store.write(|tx| {
        export::set_media_count(tx, export.id, entities)?;
        export::update_progress(tx, export.id, ExportTaskState::Completed, 1.0, message.as_deref())
    })?;
    Ok(())
}

/// Writes the archive from one snapshot of the store, because media may be added meanwhile. Returns
/// the number of media items, and of pictures that could not be read.
fn write_snapshot(
    connection: &Connection,
    export: &ExportRecord,
    link_key: &[u8; 32],
    file: &mut ClaimedFile,
    report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<(u64, usize), TaskError> {
    let dataset = dataset::find(connection, export.dataset)?;
    let dataset = dataset.ok_or_else(|| TaskError::Failed("its dataset is gone".to_owned()))?;
    let folders = SourceFolders::open(&source::all(connection, dataset.id)?).map_err(|cause| {
        TaskError::Failed(format!("its folder cannot be opened ({})", cause.kind()))
    })?;
    let export =
        ExportRecord { media_count: export::count_media(connection, export)?, ..export.clone() };
    let (dataset, export, folders) = (&dataset, &export, &folders);
    let content = ArchiveContent { connection, dataset, export, folders, link_key };
    Ok((export.media_count, archive::write(&content, file, report)?))
}
