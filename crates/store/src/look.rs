//! The visual features of media items, without the rest of their data.

use std::ops::RangeInclusive;

use half::f16;

use super::{
    columns::decode_f16,
    engine::{Connection, QueryError, Result, Row, params},
    media::entity_condition,
    query,
};
use tessera_model::{DatasetId, EntityType};

pub struct StoredLook<'a> {
    /// Row number of the media item.
    pub media: i64,
    descriptor: &'a [u8],
    /// The keypoints in encoded form.
    pub keypoints: &'a [u8],
}

impl StoredLook<'_> {
    /// Returns the visual descriptor, which is a unit vector.
    pub fn descriptor(&self) -> Vec<f16> {
        decode_f16(self.descriptor)
    }
}

/// Calls `each` with the features of every image and frame, or of every object, whose row number is in a range. The
/// media belong to a dataset or to one of its sources. The order is arbitrary, because sorting would write all features
/// to a file.
pub fn for_each<E: From<QueryError>>(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    source: Option<i64>,
    rows: RangeInclusive<i64>,
    mut each: impl FnMut(StoredLook) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!(
        "SELECT look.media, descriptor, keypoints, require(look.intact)
         FROM media JOIN look ON look.media = media.row WHERE dataset = ?1
           AND media.row BETWEEN ?2 AND ?3 AND {} {}",
        entity_condition(entity),
        if source.is_some() { "AND source = ?4" } else { "" },
    );
    let (first, last) = rows.into_inner();
    let read = |row: &Row| each(read_look(row)?);
    match source {
        None => query::for_each(connection, &sql, params![dataset.0, first, last], read),
        Some(source) => {
            query::for_each(connection, &sql, params![dataset.0, first, last, source], read)
        }
    }
}

fn read_look<'a>(row: &'a Row) -> Result<StoredLook<'a>> {
    Ok(StoredLook {
        media: row.get(0)?,
        descriptor: row.get_ref(1)?.as_blob()?,
        keypoints: row.get_ref(2)?.as_blob()?,
    })
}
