//! Text metadata of media items from sidecars, and which sidecars have been read.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params};

use super::{dataset::path_from_bytes, from_json, indexed_files, to_json};
use crate::file_stat::FileStat;

/// An image or video with its text metadata.
#[derive(Clone, Debug)]
pub struct DescribedMedia {
    pub row: i64,
    /// Relative to its source.
    pub path: PathBuf,
    pub width: u32,
    pub height: u32,
    pub text: TextMetadata,
}

/// Caption, labels and user tags of a media item, not sanitized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextMetadata {
    pub caption: Option<String>,
    pub labels: Vec<String>,
    pub tags: Vec<String>,
}

/// All images and videos of a source, ordered by path.
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

/// Sets the text metadata of a media item.
pub fn set_text(connection: &Connection, media: i64, words: &TextMetadata) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE media SET caption = ?2, labels = ?3, tags = ?4 WHERE row = ?1")?
        .execute(params![media, words.caption, to_json(&words.labels)?, to_json(&words.tags)?])?;
    Ok(())
}

/// Records that a sidecar was read without errors.
pub fn mark_read(
    connection: &Connection,
    source: i64,
    file: &Path,
    stat: FileStat,
) -> rusqlite::Result<()> {
    indexed_files::remove_file(connection, source, file)?;
    connection.prepare_cached("INSERT INTO sidecar VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        source,
        file.as_os_str().as_bytes(),
        stat.size,
        stat.modified
    ])?;
    Ok(())
}
