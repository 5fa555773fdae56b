//! The vectors of media items by the user's own model, and the pictures that it gets.

use std::path::PathBuf;

use half::f16;

use super::{
    columns::path_from_bytes,
    engine::{Connection, Result, Row, StatementBatch, params},
    media::read_region,
    query,
    vector_table::VectorTable,
};
use tessera_model::{DatasetId, Region};

const TABLE: VectorTable = VectorTable("model_vector");

pub(super) fn delete_all(connection: &Connection, dataset: DatasetId) -> Result<()> {
    TABLE.delete_all(connection, dataset)
}

/// Stores vectors by the row of their media item.
pub fn upsert_all(connection: &Connection, vectors: &[(i64, Vec<f16>)]) -> Result<()> {
    TABLE.upsert_all(connection, vectors)
}

/// The number of halves of the vectors of a dataset; 0 if there are none.
pub fn dimension(connection: &Connection, dataset: DatasetId) -> Result<usize> {
    TABLE.dimension(connection, dataset)
}

/// Returns the media items of a dataset, or of one of its sources, that have no vector.
pub fn missing(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
) -> Result<Vec<i64>> {
    const WITHOUT_VECTOR: &str =
        "NOT EXISTS (SELECT 1 FROM model_vector WHERE media = row) ORDER BY row";
    let read = |row: &Row| row.get(0);
    let Some(source) = source else {
        let sql = format!("SELECT row FROM media WHERE dataset = ?1 AND {WITHOUT_VECTOR}");
        return query::all(connection, &sql, params![dataset.0], read);
    };
    let sql =
        format!("SELECT row FROM media WHERE source = ?2 AND dataset = ?1 AND {WITHOUT_VECTOR}");
    query::all(connection, &sql, params![dataset.0, source], read)
}

/// The thumbnails of media, by row.
pub fn thumbnails(connection: &Connection, media: &[i64]) -> Result<Vec<(i64, Vec<u8>)>> {
    let sql = "SELECT media, jpeg, require(intact) FROM thumbnail WHERE media = ?1";
    let mut thumbnails =
        StatementBatch::returning(connection, sql, |row| Ok((row.get(0)?, row.get(1)?)));
    media.iter().try_for_each(|row| thumbnails.add(params![row]))?;
    thumbnails.finish()
}

/// Where the picture of a media item is in full.
pub struct FullPicture {
    pub row: i64,
    pub source: i64,
    /// Relative to its source.
    pub path: PathBuf,
    /// The region of an object in its image.
    pub region: Option<Region>,
    /// The picture of a frame.
    pub frame: Option<Vec<u8>>,
}

/// The full pictures of media, in the order of their rows.
pub fn full_pictures(connection: &Connection, media: &[i64]) -> Result<Vec<FullPicture>> {
    let sql = "SELECT row, source, path, region, jpeg, require(media.intact),
                 require(coalesce(frame_picture.intact, frame_picture.media IS NULL))
               FROM media LEFT JOIN frame_picture ON frame_picture.media = media.row WHERE row = ?1";
    let mut pictures = StatementBatch::returning(connection, sql, |row| {
        Ok(FullPicture {
            row: row.get(0)?,
            source: row.get(1)?,
            path: path_from_bytes(row.get(2)?),
            region: read_region(row, 3)?,
            frame: row.get(4)?,
        })
    });
    media.iter().try_for_each(|row| pictures.add(params![row]))?;
    pictures.finish()
}
