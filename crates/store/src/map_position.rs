//! Where the media items of a dataset are on its map, as the latest clustering computed it.

use std::collections::HashMap;

use super::prelude::*;
use super::{
    assignment::{ASSIGNMENT_COLUMNS, ClusterAssignment, read_assignment},
    media::{entity_condition, file_path, model_labels, read_frame, read_joined_names, user_given},
};

/// Number of points that one statement reads.
const POINTS_PER_STATEMENT: usize = 1_024;

/// A media item on the map, with what its color can show.
#[derive(Clone, Debug)]
pub struct StoredMapPoint {
    pub media: MediaId,
    /// The path of the file, see [`MediaRecord::file_path`](super::media::MediaRecord::file_path).
    pub path: String,
    pub position: [f32; 2],
    pub labels: Vec<String>,
    pub tags: Vec<String>,
    pub sharpness: f32,
    pub brightness: f32,
    pub assignment: ClusterAssignment,
}

/// Stores positions by the rows of their media items.
pub fn upsert_all(connection: &Connection, positions: &[(i64, [f32; 2])]) -> Result<()> {
    let sql = "INSERT INTO map_position VALUES (?1, ?2, ?3)
               ON CONFLICT (media) DO UPDATE SET x = excluded.x, y = excluded.y";
    query::execute_each(connection, sql, positions, |(media, [x, y]), run| {
        run(params![media, x, y])
    })
}

/// Returns the largest coordinate in the first direction, or 0.0 without positions.
pub fn width(connection: &Connection, dataset: DatasetId, entity: EntityType) -> Result<f32> {
    let sql = format!(
        "SELECT max(x) FROM map_position JOIN media ON media.row = map_position.media
         WHERE dataset = ?1 AND {} AND require(map_position.intact)",
        entity_condition(entity)
    );
    let width = query::one(connection, &sql, params![dataset.0], |row| row.get::<Option<f32>>(0))?;
    Ok(width.unwrap_or_default())
}

/// Returns the points of some rows of a dataset in the same order. Rows without a position are omitted.
pub fn points_of(
    connection: &Connection,
    dataset: DatasetId,
    rows: &[i64],
) -> Result<Vec<StoredMapPoint>> {
    let sql = format!(
        "SELECT media.row, media.id, media.path, media.frame, media.seconds, media.labels, {},
           media.tags, {}, media.sharpness, media.brightness, map_position.x, map_position.y,
           {ASSIGNMENT_COLUMNS}, require(media.intact), require(map_position.intact)
         FROM media JOIN map_position ON map_position.media = media.row
         JOIN place ON place.media = media.row WHERE media.dataset = ?1 AND media.row IN",
        model_labels!(),
        user_given!("tags", "'[]'"),
    );
    let mut points = Vec::with_capacity(rows.len());
    for rows in rows.chunks(POINTS_PER_STATEMENT) {
        let mut found: HashMap<i64, Option<StoredMapPoint>> =
            query::all_listed(connection, &sql, params![dataset.0], rows, |row| {
                Ok((row.get(0)?, read_point(row)?))
            })?;
        points.extend(rows.iter().filter_map(|row| found.remove(row).flatten()));
    }
    Ok(points)
}

fn read_point(row: &Row) -> Result<Option<StoredMapPoint>> {
    let Some(assignment) = read_assignment(row, 13, row.get(0)?)? else { return Ok(None) };
    Ok(Some(StoredMapPoint {
        media: MediaId(row.get(1)?),
        path: file_path(&path_from_bytes(row.get(2)?), read_frame(row, 3)?),
        labels: read_joined_names(row, 5)?,
        tags: read_joined_names(row, 7)?,
        sharpness: row.get(9)?,
        brightness: row.get(10)?,
        position: [row.get(11)?, row.get(12)?],
        assignment,
    }))
}
