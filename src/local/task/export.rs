//! Writes the archive of an export: INIT, `IN_PROGRESS`, then COMPLETED, or FAILED with the reason.
//!
//! The archive grows under another name and gets its own when it is complete and on disk, so a
//! kill leaves nothing that looks finished; the export is begun again then.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{End, goal};
use crate::{
    local::{
        archive::{self, Source},
        ingest::Folder,
        store::{
            Store, StoreError, dataset,
            export::{self, Export, Stage},
        },
    },
    model::ExportTaskId,
};

impl From<io::Error> for End {
    fn from(cause: io::Error) -> Self {
        Self::Failed(format!("the archive could not be written ({})", cause.kind()))
    }
}

/// Performs an export that is not over.
///
/// # Errors
/// The store takes not even the reason of a failure; the export stays unfinished.
pub fn export(store: &Store, id: ExportTaskId, stop: &AtomicBool) -> Result<(), StoreError> {
    let Some(export) = store.read(|c| export::find(c, id))? else {
        return Ok(());
    };
    let growing = store.archive(id.0).with_extension("part");
    let Err(end) = goal(stop, || run(store, &export, &growing, stop)) else {
        return Ok(());
    };
    // The part may not even exist; what matters is told by the export's state.
    let _ = fs::remove_file(&growing);
    match end {
        End::Stopped => Ok(()),
        End::Failed(why) => {
            store.write(|tx| export::advance(tx, id, Stage::Failed, 0.0, Some(&why)))
        }
    }
}

fn run(store: &Store, export: &Export, growing: &Path, stop: &AtomicBool) -> Result<(), End> {
    let advance = |stage, progress, message: Option<&str>| {
        store.write(|tx| export::advance(tx, export.id, stage, progress, message))
    };
    let dataset = store.read(|c| dataset::find(c, export.dataset))?;
    let dataset = dataset.ok_or_else(|| End::Failed("its dataset is gone".to_owned()))?;
    let folder = Folder::open(&dataset.folder)
        .map_err(|cause| End::Failed(format!("its folder cannot be opened ({})", cause.kind())))?;
    let file = File::create(growing)?;
    let mut told = -1.0;
    let tell = |progress: f64| {
        if stop.load(Ordering::Relaxed) {
            return Err(End::Stopped);
        }
        // Each percent is told once: a write is a sync.
        if progress - told >= 0.01 {
            told = progress;
            advance(Stage::InProgress, progress, None)?;
        }
        Ok(())
    };
    let written = store.read(|connection| {
        let source = Source { connection, dataset: &dataset, export, folder: &folder };
        Ok(archive::write(&source, &file, tell))
    })?;
    let missing = written?;
    file.sync_all()?;
    let target = store.archive(export.id.0);
    fs::rename(growing, &target)?;
    // The rename is durable when its directory is.
    target.parent().map_or(Ok(()), |exports| File::open(exports)?.sync_all())?;
    let message = (missing > 0).then(|| format!("{missing} pictures could not be read"));
    advance(Stage::Completed, 1.0, message.as_deref())?;
    Ok(())
}
