//! The user's own model that a dataset was indexed with, or the embeddings that were imported in its place.

use serde::{Deserialize, Serialize};

use super::prelude::*;
use crate::{media, now_micros, vectors::MODEL_VECTORS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedModel {
    /// Hash of the files of the model. Vectors and labels of a model with another fingerprint are stale.
    pub fingerprint: [u8; 32],
    pub record: ModelRecord,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// The name of the model, which is the name of its folder. Imported embeddings have the name of their file.
    pub name: String,
    /// Whether the vectors were imported, so that no encoder belongs to them.
    #[serde(default)]
    pub is_imported: bool,
    /// Whether texts have vectors that are comparable with those of pictures.
    pub takes_texts: bool,
    pub files: Vec<ModelFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// The path of the file, relative to the folder of the model.
    pub path: String,
    /// The hash of the file in hexadecimal digits.
    pub sha256: String,
}

/// Returns the fingerprint of the model. Imported embeddings have none, because no model is compared with them.
pub fn fingerprint(connection: &Connection, dataset: DatasetId) -> Result<Option<[u8; 32]>> {
    let applied = find(connection, dataset)?.map(|(applied, _)| applied);
    Ok(applied.filter(|it| !it.record.is_imported).map(|it| it.fingerprint))
}

/// Whether the vectors of a dataset were imported.
pub fn is_imported(connection: &Connection, dataset: DatasetId) -> Result<bool> {
    Ok(find(connection, dataset)?.is_some_and(|(applied, _)| applied.record.is_imported))
}

fn read_fingerprint(row: &Row) -> Result<[u8; 32]> {
    row.get::<Vec<u8>>(0)?.try_into().map_err(|_| QueryError::value("a fingerprint"))
}

/// Returns the model with the time when it was applied, in microseconds since 1970.
pub fn find(connection: &Connection, dataset: DatasetId) -> Result<Option<(AppliedModel, i64)>> {
    let sql = "SELECT fingerprint, record, applied_at, require(intact) FROM applied_model
               WHERE dataset = ?1";
    query::find(connection, sql, params![dataset.0], |row| {
        let fingerprint = read_fingerprint(row)?;
        Ok((AppliedModel { fingerprint, record: from_json(row, 1)? }, row.get(2)?))
    })
}

/// Deletes the vectors and labels of a dataset, and records the model of the next ones, if there is one.
pub fn replace(
    connection: &Connection,
    dataset: DatasetId,
    model: Option<&AppliedModel>,
) -> Result<()> {
    MODEL_VECTORS.delete_all(connection, dataset)?;
    media::delete_model_labels(connection, dataset)?;
    let delete = "DELETE FROM applied_model WHERE dataset = ?1";
    query::execute(connection, delete, params![dataset.0])?;
    let Some(AppliedModel { fingerprint, record }) = model else { return Ok(()) };
    let sql = "INSERT INTO applied_model (dataset, fingerprint, record, applied_at)
               VALUES (?1, ?2, ?3, ?4)";
    let record = to_json(record)?;
    let params = params![dataset.0, fingerprint.to_vec(), record, now_micros()];
    query::execute(connection, sql, params)
}
