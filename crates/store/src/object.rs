//! Objects, which are labeled regions of an image. Objects are stored, clustered and searched like images.

use std::collections::HashMap;

use uuid::Uuid;

use super::prelude::*;
use super::{indexed_files::put_features, media::region_to_array, picture_table::PackedPictures};
use tessera_model::{Annotation, LabeledRegion, Region};
use tessera_search::index::Features;

const INSERT_OBJECT: &str =
    "INSERT INTO media (id, dataset, source, kind, parent, region, path, size, modified,
                        content, width, height, hash, sharpness, brightness, labels, annotation)
     SELECT ?1, dataset, source, 'OBJECT', row, ?2, path, size, modified,
            content, width, height, ?3, ?4, ?5, ?6, ?7
     FROM media WHERE row = ?8 RETURNING id, row";

pub struct DetectedObject<'a> {
    /// The object, whose label is not sanitized.
    pub object: &'a LabeledRegion,
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
        for (number, DetectedObject { object, features: of_object }) in objects.iter().enumerate() {
            let LabeledRegion { label, region, annotation } = object;
            let region = to_json(&region_to_array(*region))?;
            let name = format!("{number} {label} {region}");
            let id = Uuid::new_v5(parent, name.as_bytes());
            features.insert(id, *of_object);
            inserts.add(params![
                id,
                region,
                of_object.hash.cast_signed(),
                of_object.sharpness,
                of_object.brightness,
                to_json(&[label])?,
                annotation_json(annotation)?,
                picture,
            ])?;
        }
    }
    let rows: Vec<(Uuid, i64)> = inserts.finish()?;
    let features = rows.iter().filter_map(|(id, row)| Some((*row, *features.get(id)?)));
    put_features(connection, features, packed)
}

fn annotation_json(annotation: &Annotation) -> Result<Option<String>> {
    Some(annotation).filter(|it| **it != Annotation::default()).map(to_json).transpose()
}

/// The parts of an object that are compared: its label, its region and its annotation.
type StoredObject = ([String; 1], [f64; 4], Option<String>);

/// Reads the objects in pictures by the rows of their pictures.
fn stored_objects(
    connection: &Connection,
    pictures: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Vec<StoredObject>>> {
    let sql =
        "SELECT parent, labels, region, annotation, require(intact) FROM media WHERE parent = ?1
               ORDER BY row";
    let read = |row: &Row| Ok((row.get(0)?, (from_json(row, 1)?, from_json(row, 2)?, row.get(3)?)));
    let mut objects = StatementBatch::returning(connection, sql, read);
    for picture in pictures {
        objects.add(params![picture])?;
    }
    let mut stored: HashMap<i64, Vec<StoredObject>> = HashMap::new();
    for (picture, object) in objects.finish()? {
        stored.entry(picture).or_default().push(object);
    }
    Ok(stored)
}

/// Returns the objects in pictures by the rows of their pictures. A picture without objects is omitted.
pub fn of_pictures(
    connection: &Connection,
    pictures: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Vec<LabeledRegion>>> {
    let object = |([label], [x, y, width, height], annotation): StoredObject| {
        let annotation = annotation.and_then(|text| serde_json::from_str(&text).ok());
        let region = Region::new(x, y, width, height)?;
        Some(LabeledRegion { label, region, annotation: annotation.unwrap_or_default() })
    };
    let stored = stored_objects(connection, pictures)?.into_iter();
    Ok(stored
        .map(|(row, objects)| (row, objects.into_iter().filter_map(object).collect()))
        .collect())
}

/// Returns for each picture whether its objects differ from the given ones. Pictures are given by their rows.
pub fn changed(
    connection: &Connection,
    pictures: &[(i64, Vec<LabeledRegion>)],
) -> Result<Vec<bool>> {
    let stored = stored_objects(connection, pictures.iter().map(|(picture, _)| *picture))?;
    let stored = |picture| stored.get(picture).map(Vec::as_slice).unwrap_or_default();
    pictures
        .iter()
        .map(|(picture, objects)| are_same(stored(picture), objects).map(|same| !same))
        .collect()
}

fn are_same(stored: &[StoredObject], objects: &[LabeledRegion]) -> Result<bool> {
    let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    if stored.len() != objects.len() {
        return Ok(false);
    }
    for (([label], sides, annotation), object) in stored.iter().zip(objects) {
        let is_same = *label == object.label
            && near(*sides, region_to_array(object.region))
            && *annotation == annotation_json(&object.annotation)?;
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
