//! Objects: labeled regions of an image, stored, clustered and searched like images.

use uuid::Uuid;

use super::{
    columns::{from_json, to_json},
    engine::{Connection, Result, params},
    indexed_files::put_features,
    media::region_to_array,
    query,
};
use crate::index::Features;
use tessera_model::Region;

pub struct DetectedObject<'a> {
    /// Not sanitized.
    pub label: &'a str,
    pub region: Region,
    pub features: &'a Features,
}

pub fn replace_all(
    connection: &Connection,
    picture: i64,
    objects: &[DetectedObject],
) -> Result<()> {
    query::execute(connection, "DELETE FROM media WHERE parent = ?1", params![picture])?;
    let sql = "SELECT id FROM media WHERE row = ?1";
    let parent: Uuid = query::one(connection, sql, params![picture], |row| row.get(0))?;
    for (number, DetectedObject { label, region, features }) in objects.iter().enumerate() {
        let region = to_json(&region_to_array(*region))?;
        let row: i64 = query::one(
            connection,
            "INSERT INTO media (id, dataset, source, kind, parent, region, path, size, modified,
                                content, width, height, hash, sharpness, brightness, labels)
             SELECT ?1, dataset, source, 'OBJECT', row, ?2, path, size, modified,
                    content, width, height, ?3, ?4, ?5, ?6
             FROM media WHERE row = ?7 RETURNING row",
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
) -> Result<bool> {
    let sql = "SELECT labels, region, require(intact) FROM media WHERE parent = ?1 ORDER BY row";
    let stored: Vec<([String; 1], [f64; 4])> =
        query::all(connection, sql, params![picture], |row| {
            Ok((from_json(row, 0)?, from_json(row, 1)?))
        })?;
    let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    Ok(stored.len() == objects.len()
        && stored.iter().zip(objects).all(|(([label], sides), (other, region))| {
            label == other && near(*sides, region_to_array(*region))
        }))
}
