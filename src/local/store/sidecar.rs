//! What the sidecar of a folder tells of its media, and which sidecar was read.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use rusqlite::{Connection, params};

use super::{
    intake::{self, Stamp},
    to_json,
};
use crate::{local::ingest::Description, model::DatasetId};

/// Forgets all captions and labels of a dataset.
///
/// # Errors
/// The store failed.
pub fn forget(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE media SET caption = NULL, labels = '[]'
         WHERE dataset = ?1 AND (caption IS NOT NULL OR labels <> '[]')",
        [dataset.0],
    )?;
    Ok(())
}

/// Gives a media its caption and labels. `false` if the dataset has no such media.
///
/// # Errors
/// The store failed.
pub fn describe(
    connection: &Connection,
    dataset: DatasetId,
    description: &Description,
) -> rusqlite::Result<bool> {
    let changed = connection
        .prepare_cached(
            "UPDATE media SET caption = ?3, labels = ?4 WHERE dataset = ?1 AND path = ?2",
        )?
        .execute(params![
            dataset.0,
            description.file.as_os_str().as_bytes(),
            description.caption,
            to_json(&description.labels)?,
        ])?;
    Ok(changed > 0)
}

/// Notes a sidecar as read to its end without fault.
///
/// # Errors
/// The store failed.
pub fn read(
    connection: &Connection,
    dataset: DatasetId,
    file: &Path,
    stamp: Stamp,
) -> rusqlite::Result<()> {
    intake::remove(connection, dataset, file)?;
    connection.prepare_cached("INSERT INTO sidecar VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        dataset.0,
        file.as_os_str().as_bytes(),
        stamp.size,
        stamp.modified
    ])?;
    Ok(())
}
