//! Query images: the descriptor to compare with, kept for one day.

use half::f16;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    media::{decode_f16, encode_f16},
    now_micros,
};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId};

/// How long a query image can be used, in microseconds.
const LIFETIME_MICROS: i64 = 24 * 3600 * 1_000_000;

/// A registered query image.
#[derive(Clone, Debug)]
pub struct StoredQueryImage {
    /// The entity type it was registered for.
    pub entity: EntityType,
    /// The granularity that explore requests must repeat.
    pub level: Granularity,
    pub descriptor: Vec<f16>,
}

/// Registers a query image and deletes expired ones.
pub fn put(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
    upload: &StoredQueryImage,
) -> rusqlite::Result<()> {
    connection
        .execute("DELETE FROM anchor WHERE created_at < ?1", [now_micros() - LIFETIME_MICROS])?;
    connection.execute(
        "INSERT INTO anchor VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            id.0,
            dataset.0,
            upload.entity.as_str(),
            upload.level.level(),
            encode_f16(&upload.descriptor),
            now_micros()
        ],
    )?;
    Ok(())
}

/// Finds a query image of a dataset.
pub fn find(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
) -> rusqlite::Result<Option<StoredQueryImage>> {
    connection
        .prepare_cached(
            "SELECT entity, level, descriptor FROM anchor WHERE id = ?1 AND dataset = ?2",
        )?
        .query_row([id.0, dataset.0], |row| {
            let entity: String = row.get(0)?;
            Ok(StoredQueryImage {
                entity: EntityType::parse(&entity).unwrap_or_default(),
                level: Granularity::new(row.get(1)?).unwrap_or_default(),
                descriptor: decode_f16(row.get_ref(2)?.as_blob()?),
            })
        })
        .optional()
}
