//! The vectors that the user's own model computed for media items, and the pictures that the model is given.

use std::path::PathBuf;

use half::f16;

use super::{
    columns::path_from_bytes,
    engine::{Connection, Result, Row, StatementBatch, params},
    media::read_region,
    picture_table::{FRAME_PICTURES, PictureTable, StoredPicture, THUMBNAILS},
    query,
    vector_table::VectorTable,
};
use tessera_model::{DatasetId, Region};

const TABLE: VectorTable = VectorTable("model_vector");

pub(super) fn delete_all(connection: &Connection, dataset: DatasetId) -> Result<()> {
    TABLE.delete_all(connection, dataset)
}

/// Stores vectors by the rows of their media items.
pub fn upsert_all(connection: &Connection, vectors: &[(i64, Vec<f16>)]) -> Result<()> {
    TABLE.upsert_all(connection, vectors)
}

/// Returns the dimension of the vectors of a dataset, or 0 if there are none.
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

/// Returns the thumbnails of media items, by row.
pub fn thumbnails(connection: &Connection, media: &[i64]) -> Result<Vec<(i64, StoredPicture)>> {
    let (columns, joins) = (THUMBNAILS.columns(), THUMBNAILS.joins());
    let sql = format!("SELECT {columns}, media.row FROM media {joins} WHERE media.row = ?1");
    let mut thumbnails = StatementBatch::returning(connection, &sql, |row| {
        let picture = PictureTable::read(row, 0)?;
        Ok((row.get(PictureTable::COLUMN_COUNT)?, picture))
    });
    media.iter().try_for_each(|row| thumbnails.add(params![row]))?;
    let found = thumbnails.finish()?.into_iter();
    Ok(found.filter_map(|(row, picture)| Some((row, picture?))).collect())
}

/// The full picture of a media item, or where to find it.
pub struct FullPicture {
    pub row: i64,
    pub source: i64,
    /// The path relative to the source.
    pub path: PathBuf,
    /// The region of an object in its image.
    pub region: Option<Region>,
    /// The picture of a frame, if the item is one.
    pub frame: Option<StoredPicture>,
}

/// Returns the full pictures of media items, in the order of their rows.
pub fn full_pictures(connection: &Connection, media: &[i64]) -> Result<Vec<FullPicture>> {
    let (columns, joins) = (FRAME_PICTURES.columns(), FRAME_PICTURES.joins());
    let sql = format!(
        "SELECT media.row, source, path, region, {columns}, require(media.intact)
         FROM media {joins} WHERE media.row = ?1"
    );
    let mut pictures = StatementBatch::returning(connection, &sql, |row| {
        Ok(FullPicture {
            row: row.get(0)?,
            source: row.get(1)?,
            path: path_from_bytes(row.get(2)?),
            region: read_region(row, 3)?,
            frame: PictureTable::read(row, 4)?,
        })
    });
    media.iter().try_for_each(|row| pictures.add(params![row]))?;
    pictures.finish()
}
