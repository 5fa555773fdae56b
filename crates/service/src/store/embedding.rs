//! Semantic embeddings of media items, and the text space of each dataset.

use half::f16;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::media::encode_f16;
use tessera_model::DatasetId;

/// Returns the serialized text space of a dataset.
pub fn text_space(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT bytes FROM space WHERE dataset = ?1")?
        .query_row([dataset.0], |row| row.get(0))
        .optional()
}

/// Replaces the text space of a dataset and deletes the embeddings of the old one.
pub fn replace_text_space(
    connection: &Connection,
    dataset: DatasetId,
    space: Option<&[u8]>,
) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM meaning WHERE media IN (SELECT row FROM media WHERE dataset = ?1)",
        [dataset.0],
    )?;
    connection.execute("DELETE FROM space WHERE dataset = ?1", [dataset.0])?;
    if let Some(space) = space {
        connection.execute("INSERT INTO space VALUES (?1, ?2)", params![dataset.0, space])?;
    }
    Ok(())
}

/// Stores the embedding of a media item.
pub fn upsert(connection: &Connection, media: i64, vector: &[f16]) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meaning VALUES (?1, ?2)")?
        .execute(params![media, encode_f16(vector)])?;
    Ok(())
}

/// Calls `each` with the row and text (caption and labels) of every media item of a dataset, or of
/// one of its sources, in order of row.
pub fn for_each_text(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
    mut each: impl FnMut(i64, String),
) -> rusqlite::Result<()> {
    let mut query = connection.prepare_cached(
        "SELECT row, coalesce(caption, ''), labels FROM media
         WHERE dataset = ?1 AND (?2 IS NULL OR source = ?2) ORDER BY row",
    )?;
    let mut rows = query.query(params![dataset.0, source])?;
    while let Some(row) = rows.next()? {
        let caption: String = row.get(1)?;
        let labels: Vec<String> = super::from_json(row, 2)?;
        each(row.get(0)?, format!("{caption} {}", labels.join(" ")));
    }
    Ok(())
}

/// Returns the media items of a dataset, or of one of its sources, that have no embedding.
pub fn missing(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(
            "SELECT row FROM media WHERE dataset = ?1 AND (?2 IS NULL OR source = ?2)
             AND NOT EXISTS (SELECT 1 FROM meaning WHERE media = row) ORDER BY row",
        )?
        .query_map(params![dataset.0, source], |row| row.get(0))?
        .collect()
}

pub fn thumbnail(connection: &Connection, media: i64) -> rusqlite::Result<Vec<u8>> {
    connection
        .prepare_cached("SELECT jpeg FROM thumbnail WHERE media = ?1")?
        .query_row([media], |row| row.get(0))
}
