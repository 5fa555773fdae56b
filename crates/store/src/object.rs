//! Objects, which are labeled regions of an image. Objects are stored, clustered and searched like images.

use std::collections::HashMap;

use uuid::Uuid;

use super::{
    columns::{from_json, to_json},
    engine::{Connection, QueryError, Result, Row, StatementBatch, params},
    indexed_files::put_features,
    media::region_to_array,
    picture_pack::PackedPictures,
};
use tessera_model::Region;
use tessera_search::index::Features;

const INSERT_OBJECT: &str =
    "INSERT INTO media (id, dataset, source, kind, parent, region, path, size, modified,
                        content, width, height, hash, sharpness, brightness, labels)
     SELECT ?1, dataset, source, 'OBJECT', row, ?2, path, size, modified,
            content, width, height, ?3, ?4, ?5, ?6
     FROM media WHERE row = ?7 RETURNING id, row";

pub struct DetectedObject<'a> {
    /// The label, not sanitized.
    pub label: &'a str,
    pub region: Region,
    pub features: &'a Features,
}

/// Replaces the objects in pictures, which are given by their rows.
pub fn replace_all(
    connection: &Connection,
    pictures: &[(i64, Vec<DetectedObject>)],
    packed: &PackedPictures,
) -> Result<()> {
    let mut deletes = StatementBatch::new(connection, "DELETE FROM media WHERE parent = ?1");
    let read = |row: &Row| Ok((row.get(0)?, row.get(1)?));
    let mut ids =
        StatementBatch::returning(connection, "SELECT row, id FROM media WHERE row = ?1", read);
    for (picture, _) in pictures {
        deletes.add(params![picture])?;
        ids.add(params![picture])?;
    }
    deletes.finish()?;
    let ids: HashMap<i64, Uuid> = ids.finish()?.into_iter().collect();
    let read = |row: &Row| Ok((row.get(0)?, row.get(1)?));
    let mut inserts = StatementBatch::returning(connection, INSERT_OBJECT, read);
    let mut features = HashMap::new();
    for (picture, objects) in pictures {
        let parent = ids.get(picture).ok_or(QueryError::NoRow)?;
        for (number, object) in objects.iter().enumerate() {
            let region = to_json(&region_to_array(object.region))?;
            let name = format!("{number} {} {region}", object.label);
            let id = Uuid::new_v5(parent, name.as_bytes());
            features.insert(id, object.features);
            let DetectedObject { label, features, .. } = object;
            inserts.add(params![
                id,
                region,
                features.hash.cast_signed(),
                features.sharpness,
                features.brightness,
                to_json(&[label])?,
                picture,
            ])?;
        }
    }
    let rows: Vec<(Uuid, i64)> = inserts.finish()?;
    let features = rows.iter().filter_map(|(id, row)| Some((*row, *features.get(id)?)));
    put_features(connection, features, packed)
}

/// The parts of an object that are compared: its label and its region.
type StoredObject = ([String; 1], [f64; 4]);

/// Returns for each picture whether its objects differ from the given ones, in label or region. Pictures are given by
/// their rows.
pub fn changed(
    connection: &Connection,
    pictures: &[(i64, Vec<(String, Region)>)],
) -> Result<Vec<bool>> {
    let sql = "SELECT parent, labels, region, require(intact) FROM media WHERE parent = ?1
               ORDER BY row";
    let read = |row: &Row| Ok((row.get(0)?, (from_json(row, 1)?, from_json(row, 2)?)));
    let mut objects = StatementBatch::returning(connection, sql, read);
    pictures.iter().try_for_each(|(picture, _)| objects.add(params![picture]))?;
    let mut stored: HashMap<i64, Vec<StoredObject>> = HashMap::new();
    for (picture, object) in objects.finish()? {
        stored.entry(picture).or_default().push(object);
    }
    let stored = |picture| stored.get(picture).map(Vec::as_slice).unwrap_or_default();
    Ok(pictures.iter().map(|(picture, objects)| !are_same(stored(picture), objects)).collect())
}

fn are_same(stored: &[StoredObject], objects: &[(String, Region)]) -> bool {
    let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    stored.len() == objects.len()
        && stored.iter().zip(objects).all(|(([label], sides), (other, region))| {
            label == other && near(*sides, region_to_array(*region))
        })
}
