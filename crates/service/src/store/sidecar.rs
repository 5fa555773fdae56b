//! What the sidecars of a source tell of its media, and which sidecars were read.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params};

use super::{
    dataset::path_from_bytes,
    from_json,
    indexed_files::{self, FileStat},
    to_json,
};

/// A picture or video as far as sidecars are concerned.
#[derive(Clone, Debug)]
pub struct DescribedMedia {
    /// Row number.
    pub row: i64,
    /// Relative to its source.
    pub path: PathBuf,
    /// Pixels, upright.
    pub width: u32,
    /// Pixels, upright.
    pub height: u32,
    /// What is told of it now.
    pub text: TextMetadata,
}

/// What is told of a media, raw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextMetadata {
    /// What it shows, in words.
    pub caption: Option<String>,
    /// What it shows, by name.
    pub labels: Vec<String>,
    /// The user tags, by name.
    pub tags: Vec<String>,
}

/// Every picture and video of a source, in order of path.
///
/// # Errors
/// The store failed.
pub fn all_media(connection: &Connection, source: i64) -> rusqlite::Result<Vec<DescribedMedia>> {
    connection
        .prepare_cached(
            "SELECT row, path, width, height, caption, labels, tags FROM media
             WHERE source = ?1 AND parent IS NULL ORDER BY path",
        )?
        .query_map([source], |row| {
            let (caption, labels, tags) = (row.get(4)?, from_json(row, 5)?, from_json(row, 6)?);
            Ok(DescribedMedia {
                row: row.get(0)?,
                path: path_from_bytes(row.get(1)?),
                width: row.get(2)?,
                height: row.get(3)?,
                text: TextMetadata { caption, labels, tags },
            })
        })?
        .collect()
}

/// Gives a media its words.
///
/// # Errors
/// The store failed.
pub fn set_text(connection: &Connection, media: i64, words: &TextMetadata) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE media SET caption = ?2, labels = ?3, tags = ?4 WHERE row = ?1")?
        .execute(params![media, words.caption, to_json(&words.labels)?, to_json(&words.tags)?])?;
    Ok(())
}

/// Notes a sidecar as read to its end without fault.
///
/// # Errors
/// The store failed.
pub fn mark_read(
    connection: &Connection,
    source: i64,
    file: &Path,
    stamp: FileStat,
) -> rusqlite::Result<()> {
    indexed_files::remove_file(connection, source, file)?;
    connection.prepare_cached("INSERT INTO sidecar VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        source,
        file.as_os_str().as_bytes(),
        stamp.size,
        stamp.modified
    ])?;
    Ok(())
}
