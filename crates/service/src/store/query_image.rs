//! Query images: the vectors to compare with, kept for one day.

use half::f16;

use super::{
    columns::{decode_f16, encode_f16},
    engine::{Connection, Result, params},
    now_micros, query,
};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId};

/// How long a query image can be used, in microseconds.
const LIFETIME_MICROS: i64 = 24 * 3600 * 1_000_000;

#[derive(Clone, Debug)]
pub struct StoredQueryImage {
    /// The entity type that searches must repeat; `None` if any.
    pub entity: Option<EntityType>,
    /// The granularity that searches must repeat; `None` if any.
    pub level: Option<Granularity>,
    pub descriptor: Vec<f16>,
    /// By the user's own model, if there is one.
    pub model_vector: Option<Vec<f16>>,
}

/// Registers a query image and deletes expired ones.
pub fn put(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
    upload: &StoredQueryImage,
) -> Result<()> {
    let now = now_micros();
    let sql = "DELETE FROM anchor WHERE created_at < ?1";
    query::execute(connection, sql, params![now - LIFETIME_MICROS])?;
    let StoredQueryImage { entity, level, descriptor, model_vector } = upload;
    let descriptor = encode_f16(descriptor);
    query::execute(
        connection,
        "INSERT INTO anchor VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            id.0,
            dataset.0,
            entity.map(EntityType::as_str),
            level.map(Granularity::level),
            descriptor,
            now
        ],
    )?;
    if let Some(vector) = model_vector {
        let sql = "INSERT INTO anchor_model_vector (anchor, vector) VALUES (?1, ?2)";
        query::execute(connection, sql, params![id.0, encode_f16(vector)])?;
    }
    Ok(())
}

pub fn find(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
) -> Result<Option<StoredQueryImage>> {
    let sql = "SELECT entity, level, descriptor, vector, require(anchor.intact),
                      require(coalesce(anchor_model_vector.intact, vector IS NULL))
               FROM anchor LEFT JOIN anchor_model_vector ON anchor_model_vector.anchor = anchor.id
               WHERE id = ?1 AND dataset = ?2";
    query::find(connection, sql, params![id.0, dataset.0], |row| {
        Ok(StoredQueryImage {
            entity: row.get_ref(0)?.as_str_or_null()?.and_then(|name| name.parse().ok()),
            level: row.get::<Option<u8>>(1)?.and_then(Granularity::new),
            descriptor: decode_f16(row.get_ref(2)?.as_blob()?),
            model_vector: row.get_ref(3)?.as_blob_or_null()?.map(decode_f16),
        })
    })
}
