//! The features of pictures that visual searches compare.

use std::{collections::HashMap, ops::RangeInclusive};

use half::f16;

use super::prelude::*;
use crate::{
    columns::decode_f16,
    media::entity_condition,
    picture_table::{PictureTable, StoredPicture, THUMBNAILS},
};
use tessera_search::index::Keypoints;

/// The features of a picture that a visual search compares.
#[derive(Clone, Debug)]
pub struct PictureFeatures {
    /// The visual descriptor, which is a unit vector.
    pub descriptor: Vec<f16>,
    pub keypoints: Keypoints,
    /// The vector from the user's own model, if there is one. It is a unit vector.
    pub model_vector: Option<Vec<f16>>,
}

impl PictureFeatures {
    /// Reads three columns in the order of the fields. All except the first may be null.
    pub fn read(row: &Row, first_column: usize) -> Result<Self> {
        let bytes =
            |column| -> Result<_> { Ok(row.get_ref(first_column + column)?.as_blob_or_null()?) };
        Ok(Self {
            descriptor: decode_f16(row.get_ref(first_column)?.as_blob()?),
            keypoints: Keypoints::from_bytes(bytes(1)?.unwrap_or_default()),
            model_vector: bytes(2)?.map(decode_f16),
        })
    }
}

/// Returns the features and the thumbnail of a media item.
pub fn find(
    connection: &Connection,
    dataset: DatasetId,
    id: MediaId,
) -> Result<Option<(PictureFeatures, Option<StoredPicture>)>> {
    let (columns, joins) = (THUMBNAILS.columns(), THUMBNAILS.joins());
    let sql = format!(
        "SELECT descriptor, keypoints, vector, {columns}, require(features.intact), require(media.intact),
                require(coalesce(model_vector.intact, vector IS NULL))
         FROM media JOIN picture_features AS features ON features.media = media.row {joins}
         LEFT JOIN model_vector ON model_vector.media = media.row
         WHERE media.id = ?1 AND dataset = ?2"
    );
    query::find(connection, &sql, params![id.0, dataset.0], |row| {
        Ok((PictureFeatures::read(row, 0)?, PictureTable::read(row, 3)?))
    })
}

/// Returns the keypoints of media items, by their rows.
pub fn keypoints_of(connection: &Connection, rows: &[i64]) -> Result<HashMap<i64, Keypoints>> {
    let sql = "SELECT media, keypoints, require(intact) FROM picture_features WHERE media IN";
    query::all_listed(connection, sql, params![], rows, |row| {
        Ok((row.get(0)?, Keypoints::from_bytes(row.get_ref(1)?.as_blob()?)))
    })
}

pub struct StoredFeatures<'a> {
    /// Row number of the media item.
    pub media: i64,
    descriptor: &'a [u8],
    /// The keypoints in encoded form.
    pub keypoints: &'a [u8],
}

impl StoredFeatures<'_> {
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
    mut each: impl FnMut(StoredFeatures) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!(
        "SELECT features.media, descriptor, keypoints, require(features.intact)
         FROM media JOIN picture_features AS features ON features.media = media.row WHERE dataset = ?1
           AND media.row BETWEEN ?2 AND ?3 AND {} {}",
        entity_condition(entity),
        if source.is_some() { "AND source = ?4" } else { "" },
    );
    let (first, last) = rows.into_inner();
    let read = |row: &Row| each(read_features(row)?);
    let params = params![dataset.0, first, last, source];
    query::for_each(connection, &sql, &params[..3 + usize::from(source.is_some())], read)
}

fn read_features<'a>(row: &'a Row) -> Result<StoredFeatures<'a>> {
    Ok(StoredFeatures {
        media: row.get(0)?,
        descriptor: row.get_ref(1)?.as_blob()?,
        keypoints: row.get_ref(2)?.as_blob()?,
    })
}
