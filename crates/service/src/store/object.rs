//! Objects: labeled regions of an image, stored as media items with their own features, so that
//! they are clustered, searched and counted like images.

use rusqlite::{Connection, params};
use uuid::Uuid;

use super::{from_json, indexed_files::put_features, media::region_to_array, to_json};
use crate::index::Features;
use tessera_model::Region;

/// A new object.
pub struct DetectedObject<'a> {
    /// Not sanitized.
    pub label: &'a str,
    /// The region in its image.
    pub region: Region,
    pub features: &'a Features,
}

/// Replaces the objects of an image.
pub fn replace_all(
    connection: &Connection,
    picture: i64,
    parts: &[DetectedObject],
) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM media WHERE parent = ?1")?.execute([picture])?;
    let parent: Uuid = connection
        .prepare_cached("SELECT id FROM media WHERE row = ?1")?
        .query_row([picture], |row| row.get(0))?;
    for (number, DetectedObject { label, region, features }) in parts.iter().enumerate() {
        let region = to_json(&region_to_array(*region))?;
        let row: i64 = connection
            .prepare_cached(
                "INSERT INTO media (id, dataset, source, kind, parent, region, path, size, modified,
                                    content, width, height, hash, sharpness, brightness, labels)
                 SELECT ?1, dataset, source, 'OBJECT', row, ?2, path, size, modified,
                        content, width, height, ?3, ?4, ?5, ?6
                 FROM media WHERE row = ?7 RETURNING row",
            )?
            .query_row(
                params![
                    Uuid::new_v5(&parent, format!("{number} {label} {region}").as_bytes()),
                    region,
                    features.hash.cast_signed(),
                    features.sharpness,
                    features.brightness,
                    to_json(&[label])?,
                    picture,
                ],
                |row| row.get(0),
            )?;
        put_features(connection, row, features)?;
    }
    Ok(())
}

/// Whether an image has exactly these objects, by label and region.
pub fn matches_stored(
    connection: &Connection,
    picture: i64,
    objects: &[(String, Region)],
) -> rusqlite::Result<bool> {
    let mut query = connection
        .prepare_cached("SELECT labels ->> 0, region FROM media WHERE parent = ?1 ORDER BY row")?;
    let kept: Vec<(String, [f64; 4])> = query
        .query_map([picture], |row| Ok((row.get(0)?, from_json(row, 1)?)))?
        .collect::<Result<_, _>>()?;
    let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let same = |((label, region), (wanted, at)): (&(String, [f64; 4]), &(String, Region))| {
        label == wanted && near(*region, region_to_array(*at))
    };
    Ok(kept.len() == objects.len() && kept.iter().zip(objects).all(same))
}
