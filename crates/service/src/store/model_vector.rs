//! The vectors of media items by the user's own model, and which model a dataset has.

use half::f16;

use super::{
    engine::{Connection, QueryError, Result, StatementBatch, params},
    now_micros, query,
    vector_table::VectorTable,
};
use tessera_model::DatasetId;

const TABLE: VectorTable = VectorTable("model_vector");

/// The fingerprint of the model that the vectors of a dataset are from.
pub fn applied_model(connection: &Connection, dataset: DatasetId) -> Result<Option<[u8; 32]>> {
    let sql = "SELECT fingerprint, require(intact) FROM applied_model WHERE dataset = ?1";
    let found: Option<Vec<u8>> =
        query::find(connection, sql, params![dataset.0], |row| row.get(0))?;
    let fixed = |bytes: Vec<u8>| bytes.try_into().map_err(|_| QueryError::value("a fingerprint"));
    found.map(fixed).transpose()
}

/// Deletes the vectors of a dataset, and records the model of the next ones, if there will be any.
pub fn replace_model(
    connection: &Connection,
    dataset: DatasetId,
    fingerprint: Option<[u8; 32]>,
) -> Result<()> {
    TABLE.delete_all(connection, dataset)?;
    let applied = "DELETE FROM applied_model WHERE dataset = ?1";
    query::execute(connection, applied, params![dataset.0])?;
    if let Some(fingerprint) = fingerprint {
        let sql =
            "INSERT INTO applied_model (dataset, fingerprint, applied_at) VALUES (?1, ?2, ?3)";
        query::execute(connection, sql, params![dataset.0, fingerprint.to_vec(), now_micros()])?;
    }
    Ok(())
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
    query::all(
        connection,
        "SELECT row FROM media WHERE dataset = ?1 AND (source = ?2 OR ?2 IS NULL)
         AND NOT EXISTS (SELECT 1 FROM model_vector WHERE media = row) ORDER BY row",
        params![dataset.0, source],
        |row| row.get(0),
    )
}

/// The thumbnails of media, by row.
pub fn thumbnails(connection: &Connection, media: &[i64]) -> Result<Vec<(i64, Vec<u8>)>> {
    let sql = "SELECT media, jpeg, require(intact) FROM thumbnail WHERE media = ?1";
    let mut thumbnails =
        StatementBatch::returning(connection, sql, |row| Ok((row.get(0)?, row.get(1)?)));
    media.iter().try_for_each(|row| thumbnails.add(params![row]))?;
    thumbnails.finish()
}
