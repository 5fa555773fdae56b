//! Writes the archive of an export: INIT, `IN_PROGRESS`, then COMPLETED, or FAILED with the reason.
//!
//! The archive grows under another name and gets its own when it is complete and on disk, so a
//! kill leaves nothing that looks finished; the export is begun again then.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use rusqlite::Connection;

use super::{End, Workshop, goal};
use crate::{
    archive::{self, Content, Folders},
    settings::Failing,
    store::{
        StoreError, dataset,
        export::{self, Export, Stage},
        source,
    },
};
use tessera_model::ExportTaskId;

impl From<io::Error> for End {
    fn from(cause: io::Error) -> Self {
        Self::Failed(format!("the archive could not be written ({})", cause.kind()))
    }
}

/// Performs an export that is not over.
///
/// # Errors
/// The store takes not even the reason of a failure; the export stays unfinished.
pub fn export(shop: &Workshop, id: ExportTaskId) -> Result<(), StoreError> {
    let store = shop.store;
    let Some(export) = store.read(|c| export::find(c, id))? else {
        return Ok(());
    };
    let growing = store.archive(id.0).with_extension("part");
    let Err(end) = goal(shop.stop, || run(shop, &export, &growing)) else {
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

fn run(shop: &Workshop, export: &Export, growing: &Path) -> Result<(), End> {
    let store = shop.store;
    let advance = |stage, progress, message: Option<&str>| {
        store.write(|tx| export::advance(tx, export.id, stage, progress, message))
    };
    shop.rehearse(Some(Failing::Export), |part| Ok(advance(Stage::InProgress, part, None)?))?;
    let file = File::create(growing)?;
    let mut told = -1.0;
    let tell = |progress: f64| {
        shop.go_on()?;
        // Each percent is told once: a write is a sync.
        if progress - told >= 0.01 {
            told = progress;
            advance(Stage::InProgress, progress, None)?;
        }
        Ok(())
    };
    let (entities, missing) = store.read(|c| Ok(write(c, export, &file, tell)))??;
    file.sync_all()?;
    let target = store.archive(export.id.0);
    fs::rename(growing, &target)?;
    // The rename is durable when its directory is.
    target.parent().map_or(Ok(()), |exports| File::open(exports)?.sync_all())?;
    let message = (missing > 0).then(|| format!("{missing} pictures could not be read"));
    store.write(|tx| {
        export::hold(tx, export.id, entities)?;
        export::advance(tx, export.id, Stage::Completed, 1.0, message.as_deref())
    })?;
    Ok(())
}

/// Writes the archive from one snapshot of the store, for media may come meanwhile. Returns how many media
/// it holds, and how many of their pictures could not be read.
fn write(
    connection: &Connection,
    export: &Export,
    file: &File,
    tell: impl FnMut(f64) -> Result<(), End>,
) -> Result<(u64, usize), End> {
    let dataset = dataset::find(connection, export.dataset)?;
    let dataset = dataset.ok_or_else(|| End::Failed("its dataset is gone".to_owned()))?;
    let folders = Folders::open(&source::all(connection, dataset.id)?)
        .map_err(|cause| End::Failed(format!("its folder cannot be opened ({})", cause.kind())))?;
    let export = Export { entities: export::count(connection, export)?, ..export.clone() };
    let content = Content { connection, dataset: &dataset, export: &export, folders: &folders };
    Ok((export.entities, archive::write(&content, file, tell)?))
}
