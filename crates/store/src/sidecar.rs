//! Reads and writes the text metadata of media items, and which sidecars have been read. The texts in picture files are
//! stored separately from the texts in use, because sidecars take precedence and may change.

use std::path::{Path, PathBuf};

use super::prelude::*;
use crate::{captions, extra_columns, indexed_files};
use tessera_media::ingest::{FileStat, embedded_text::EmbeddedText};
use tessera_model::vql::ExtraColumns;

#[derive(Clone, Debug)]
pub struct DescribedMedia {
    pub row: i64,
    /// The path relative to the source.
    pub path: PathBuf,
    pub is_frame: bool,
    /// Whether the item is clustered, so that searches find it.
    pub is_clustered: bool,
    pub width: u32,
    pub height: u32,
    pub text: TextMetadata,
    /// The texts in the picture file.
    pub embedded: EmbeddedText,
}

/// The caption, labels and user tags of a media item, not sanitized.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextMetadata {
    pub caption: Option<String>,
    pub labels: Vec<String>,
    pub tags: Vec<String>,
    /// The columns of the user's own.
    pub extra_columns: ExtraColumns,
}

/// Returns all images and frames of a source, in the order of their paths.
pub fn all_media(connection: &Connection, source: i64) -> Result<Vec<DescribedMedia>> {
    let sql =
        "SELECT row, path, width, height, media.caption, media.labels, tags, frame IS NOT NULL,
                      embedded_text.caption, coalesce(embedded_text.labels, '[]'),
                      EXISTS (SELECT 1 FROM place WHERE place.media = media.row),
                      coalesce(extra_columns.columns, '{}'),
                      require(media.intact),
                      require(coalesce(embedded_text.intact, embedded_text.media IS NULL)),
                      require(coalesce(extra_columns.intact, extra_columns.media IS NULL))
               FROM media LEFT JOIN embedded_text ON embedded_text.media = media.row
               LEFT JOIN extra_columns ON extra_columns.media = media.row
               WHERE source = ?1 AND parent IS NULL ORDER BY path";
    query::all(connection, sql, params![source], |row| {
        let (caption, labels, tags) = (row.get(4)?, from_json(row, 5)?, from_json(row, 6)?);
        Ok(DescribedMedia {
            row: row.get(0)?,
            path: path_from_bytes(row.get(1)?),
            is_frame: row.get(7)?,
            is_clustered: row.get(10)?,
            width: row.get(2)?,
            height: row.get(3)?,
            text: TextMetadata { caption, labels, tags, extra_columns: from_json(row, 11)? },
            embedded: EmbeddedText { caption: row.get(8)?, labels: from_json(row, 9)? },
        })
    })
}

/// Replaces the texts of media items of a dataset, which are given by their rows.
pub fn set_texts(
    connection: &Connection,
    dataset: DatasetId,
    texts: &[(i64, TextMetadata)],
) -> Result<()> {
    let sql = "UPDATE media SET caption = ?2, labels = ?3, tags = ?4 WHERE row = ?1";
    query::execute_each(connection, sql, texts, |(media, text), run| {
        let (labels, tags) = (to_json(&text.labels)?, to_json(&text.tags)?);
        run(params![media, text.caption, labels, tags])
    })?;
    extra_columns::set(connection, texts)?;
    captions::index_captions(
        connection,
        dataset,
        texts.iter().map(|(media, text)| (*media, text.caption.as_deref())),
    )
}

/// Returns the sidecars of a source that have been read.
pub fn read_files(connection: &Connection, source: i64) -> Result<Vec<PathBuf>> {
    let sql = "SELECT path, require(intact) FROM sidecar WHERE source = ?1 ORDER BY path";
    query::all(connection, sql, params![source], |row| Ok(path_from_bytes(row.get(0)?)))
}

/// Records which sidecars have been read.
pub fn mark_read<'a>(
    connection: &Connection,
    source: i64,
    files: impl Iterator<Item = (&'a Path, FileStat)> + Clone,
) -> Result<()> {
    indexed_files::remove_files(connection, source, files.clone().map(|(path, _)| path))?;
    let sql = "INSERT INTO sidecar VALUES (?1, ?2, ?3, ?4)";
    query::execute_each(connection, sql, files, |(path, stat), run| {
        run(params![source, path_to_bytes(path), stat.size, stat.modified])
    })
}

/// Replaces the texts of media items, which are given by their rows.
pub fn replace_embedded_texts<'a>(
    connection: &Connection,
    texts: impl Iterator<Item = (i64, &'a EmbeddedText)> + Clone,
) -> Result<()> {
    let delete = "DELETE FROM embedded_text WHERE media = ?1";
    query::execute_each(connection, delete, texts.clone(), |(media, _), run| run(params![media]))?;
    let texts = texts.filter(|(_, text)| **text != EmbeddedText::default());
    let insert = "INSERT INTO embedded_text VALUES (?1, ?2, ?3)";
    query::execute_each(connection, insert, texts, |(media, text), run| {
        run(params![media, text.caption, to_json(&text.labels)?])
    })
}
