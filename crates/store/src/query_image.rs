//! Query images, with which searches compare media. A query image is kept for one day, unless newer ones replace it.

use super::prelude::*;
use super::{columns::encode_f16, now_micros, picture_features::PictureFeatures};
use tessera_model::Granularity;

/// The time for which a query image can be used, in microseconds.
const LIFETIME_MICROS: i64 = 24 * 3600 * 1_000_000;

#[derive(Clone, Debug)]
pub struct StoredQueryImage {
    /// The entity type that searches must repeat, or `None` if any is allowed.
    pub entity: Option<EntityType>,
    /// The granularity that searches must repeat, or `None` if any is allowed.
    pub level: Option<Granularity>,
    pub features: PictureFeatures,
    /// The thumbnail as a JPEG. Empty if there is none.
    pub thumbnail: Vec<u8>,
}

/// Registers a query image, and deletes expired ones. Of the others, only the newest `max_images` are kept.
pub fn put(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
    upload: &StoredQueryImage,
    max_images: u32,
) -> Result<()> {
    let now = now_micros();
    let sql = "DELETE FROM anchor WHERE created_at < ?1";
    query::execute(connection, sql, params![now - LIFETIME_MICROS])?;
    // The new image is one of those that are kept.
    let sql = "DELETE FROM anchor WHERE id NOT IN
               (SELECT id FROM anchor ORDER BY created_at DESC, id LIMIT ?1)";
    query::execute(connection, sql, params![max_images.saturating_sub(1)])?;
    let StoredQueryImage { entity, level, features, thumbnail } = upload;
    let PictureFeatures { descriptor, keypoints, model_vector } = features;
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
    let sql = "INSERT INTO anchor_picture (anchor, keypoints, thumbnail) VALUES (?1, ?2, ?3)";
    query::execute(connection, sql, params![id.0, keypoints.as_bytes(), thumbnail])?;
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
    // Query images that an earlier version registered have no picture.
    let sql = "SELECT entity, level, descriptor, keypoints, vector, thumbnail,
                      require(anchor.intact),
                      require(coalesce(anchor_picture.intact, keypoints IS NULL)),
                      require(coalesce(anchor_model_vector.intact, vector IS NULL))
               FROM anchor LEFT JOIN anchor_picture ON anchor_picture.anchor = anchor.id
               LEFT JOIN anchor_model_vector ON anchor_model_vector.anchor = anchor.id
               WHERE id = ?1 AND dataset = ?2";
    query::find(connection, sql, params![id.0, dataset.0], |row| {
        Ok(StoredQueryImage {
            entity: row.get_ref(0)?.as_str_or_null()?.and_then(|name| name.parse().ok()),
            level: row.get::<Option<u8>>(1)?.and_then(Granularity::new),
            features: PictureFeatures::read(row, 2)?,
            thumbnail: row.get::<Option<_>>(5)?.unwrap_or_default(),
        })
    })
}
