//! Summarizes what media items have, so that an export can say beforehand what its format leaves out.

use std::collections::BTreeSet;

use super::prelude::*;
use super::{
    export::ExportChoices,
    media::{file_name, model_labels, read_frame, user_given},
};
use tessera_model::Annotation;

/// What an image, a frame or an object has.
#[derive(Clone, Debug)]
pub struct MediaContent {
    /// The name of the file. For a frame, the name is generated.
    pub file_name: String,
    /// The label of an object. Images and frames have none.
    pub label: Option<String>,
    pub has_caption: bool,
    /// Whether the image or frame has labels, also of a model.
    pub has_labels: bool,
    /// Whether there are tags, of sidecars or of users.
    pub has_tags: bool,
    /// The rating that users have given, or 0.
    pub rating: u8,
    /// The number of rows with columns of the user's own: 1 or 0.
    pub extra_columns: u64,
    /// The annotation of an object.
    pub annotation: Annotation,
}

const COLUMNS: &str = concat!(
    "media.path, media.frame, media.seconds, media.parent IS NOT NULL, media.caption IS NOT NULL,
     media.labels, media.tags, media.annotation, ",
    model_labels!(),
    ", (SELECT count(*) FROM extra_columns WHERE extra_columns.media = media.row),
     require(media.intact), ",
    user_given!("tags", "'[]'"),
    ", ",
    user_given!("rating", "0"),
);

/// The number of pictures whose content is in memory at a time.
const PICTURES_AT_A_TIME: usize = 1_000;

/// Calls `each` with the images and frames of a dataset and with their objects. If media are selected, only the
/// selected pictures are read, and the pictures of selected objects.
pub fn for_each_content<E: From<QueryError>>(
    connection: &Connection,
    dataset: DatasetId,
    selected: Option<&ExportChoices>,
    mut each: impl FnMut(MediaContent) -> Result<(), E>,
) -> Result<(), E> {
    let Some(selected) = selected else {
        let sql = format!("SELECT {COLUMNS} FROM media WHERE dataset = ?1");
        return query::for_each(connection, &sql, params![dataset.0], |row| {
            each(read_content(row)?)
        });
    };
    let pictures = "SELECT coalesce(parent, row) FROM media WHERE row = ?1 AND dataset = ?2";
    let mut batch = StatementBatch::returning(connection, pictures, |row| row.get::<i64>(0));
    selected.keys().try_for_each(|row| batch.add(params![row, dataset.0]))?;
    let pictures: Vec<i64> = BTreeSet::from_iter(batch.finish()?).into_iter().collect();
    let sql = format!("SELECT {COLUMNS} FROM media WHERE row = ?1 OR parent = ?1");
    for pictures in pictures.chunks(PICTURES_AT_A_TIME) {
        let mut batch = StatementBatch::returning(connection, &sql, read_content);
        pictures.iter().try_for_each(|row| batch.add(params![row]))?;
        batch.finish()?.into_iter().try_for_each(&mut each)?;
    }
    Ok(())
}

fn read_content(row: &Row) -> Result<MediaContent> {
    let is_object: bool = row.get(3)?;
    let [labels, tags, model_labels, given_tags]: [Vec<String>; 4] =
        [from_json(row, 5)?, from_json(row, 6)?, from_json(row, 8)?, from_json(row, 11)?];
    Ok(MediaContent {
        file_name: file_name(&path_from_bytes(row.get(0)?), read_frame(row, 1)?),
        has_caption: row.get(4)?,
        has_labels: !is_object && labels.len() + model_labels.len() > 0,
        has_tags: tags.len() + given_tags.len() > 0,
        rating: row.get(12)?,
        extra_columns: row.get(9)?,
        label: is_object.then(|| labels.into_iter().next().unwrap_or_default()),
        annotation: from_json::<Option<_>>(row, 7)?.unwrap_or_default(),
    })
}
