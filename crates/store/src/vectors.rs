//! Reads and writes the vectors of media items. The vectors of captions and labels belong to the text space of a
//! dataset. The other vectors are computed from pictures by the user's own model; the pictures are read here as well.

use std::path::PathBuf;

use half::f16;

use super::prelude::*;
use crate::{
    columns::{decode_f16, encode_f16},
    media::{model_labels, read_joined_names, read_region},
    picture_table::{FRAME_PICTURES, PictureTable, StoredPicture, THUMBNAILS},
};
use tessera_model::{Region, is_metadata_label};

/// A table with the columns `media` and `vector`, given by its name.
pub struct VectorTable(&'static str);

/// The vectors of captions and labels.
pub const TEXT_VECTORS: VectorTable = VectorTable("text_vector");

/// The vectors that the user's own model computed from pictures.
pub const MODEL_VECTORS: VectorTable = VectorTable("model_vector");

impl VectorTable {
    /// Stores vectors by the rows of their media items.
    pub fn upsert_all(&self, connection: &Connection, vectors: &[(i64, Vec<f16>)]) -> Result<()> {
        let sql = format!(
            "INSERT INTO {} (media, vector) VALUES (?1, ?2)
             ON CONFLICT (media) DO UPDATE SET vector = excluded.vector",
            self.0
        );
        query::execute_each(connection, &sql, vectors, |(media, vector), run| {
            run(params![media, encode_f16(vector)])
        })
    }

    /// Deletes the vectors of a dataset.
    pub(super) fn delete_all(&self, connection: &Connection, dataset: DatasetId) -> Result<()> {
        let sql = format!(
            "DELETE FROM {} WHERE media IN (SELECT row FROM media WHERE dataset = ?1)",
            self.0
        );
        query::execute(connection, &sql, params![dataset.0]).map(drop)
    }

    /// Returns the dimension of the vectors of a dataset, or 0 if there are none.
    pub fn dimension(&self, connection: &Connection, dataset: DatasetId) -> Result<usize> {
        let sql = format!(
            "SELECT length(vector) FROM {}
             WHERE media IN (SELECT row FROM media WHERE dataset = ?1) LIMIT 1",
            self.0
        );
        let bytes: Option<usize> =
            query::find(connection, &sql, params![dataset.0], |row| row.get(0))?;
        Ok(bytes.unwrap_or_default() / size_of::<f16>())
    }
}

/// Calls `each` with the row and the vector of the user's own model of each media item that has one, in any order.
pub fn for_each_model_vector(
    connection: &Connection,
    dataset: DatasetId,
    mut each: impl FnMut(i64, &[f16]),
) -> Result<()> {
    let sql = "SELECT media, vector, require(model_vector.intact) FROM model_vector
               JOIN media ON media.row = model_vector.media WHERE dataset = ?1";
    query::for_each(connection, sql, params![dataset.0], |row| {
        each(row.get(0)?, &decode_f16(row.get_ref(1)?.as_blob()?));
        Ok(())
    })
}

/// Returns the number of images and frames that have a vector of the user's own model, and of all images and frames.
pub fn model_vector_counts(connection: &Connection, dataset: DatasetId) -> Result<(u64, u64)> {
    let sql =
        "SELECT (SELECT count(*) FROM media JOIN model_vector ON model_vector.media = media.row
                       WHERE dataset = ?1 AND parent IS NULL),
                      (SELECT n_images + n_frames FROM dataset WHERE id = ?1)";
    query::one(connection, sql, params![dataset.0], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the media items of a dataset, or of one of its sources, that have no vector.
pub fn without_model_vector(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
) -> Result<Vec<i64>> {
    const WITHOUT_VECTOR: &str =
        "NOT EXISTS (SELECT 1 FROM model_vector WHERE media = row) ORDER BY row";
    let read = |row: &Row| row.get(0);
    let Some(source) = source else {
        let sql = format!("SELECT row FROM media WHERE dataset = ?1 AND {WITHOUT_VECTOR}");
        return query::all(connection, &sql, params![dataset.0], read);
    };
    let sql =
        format!("SELECT row FROM media WHERE source = ?2 AND dataset = ?1 AND {WITHOUT_VECTOR}");
    query::all(connection, &sql, params![dataset.0, source], read)
}

/// Returns the thumbnails of media items, by row.
pub fn thumbnails(connection: &Connection, media: &[i64]) -> Result<Vec<(i64, StoredPicture)>> {
    let (columns, joins) = (THUMBNAILS.columns(), THUMBNAILS.joins());
    let sql = format!("SELECT {columns}, media.row FROM media {joins} WHERE media.row = ?1");
    let mut thumbnails = StatementBatch::returning(connection, &sql, |row| {
        let picture = PictureTable::read(row, 0)?;
        Ok((row.get(PictureTable::COLUMN_COUNT)?, picture))
    });
    media.iter().try_for_each(|row| thumbnails.add(params![row]))?;
    let found = thumbnails.finish()?.into_iter();
    Ok(found.filter_map(|(row, picture)| Some((row, picture?))).collect())
}

/// The full picture of a media item, or where to find it.
pub struct FullPicture {
    pub row: i64,
    pub source: i64,
    /// The path relative to the source.
    pub path: PathBuf,
    /// The region of an object in its image.
    pub region: Option<Region>,
    /// The picture of a frame, if the item is one.
    pub frame: Option<StoredPicture>,
}

/// Returns the full pictures of media items, in the order of their rows.
pub fn full_pictures(connection: &Connection, media: &[i64]) -> Result<Vec<FullPicture>> {
    let (columns, joins) = (FRAME_PICTURES.columns(), FRAME_PICTURES.joins());
    let sql = format!(
        "SELECT media.row, source, path, region, {columns}, require(media.intact)
         FROM media {joins} WHERE media.row = ?1"
    );
    let mut pictures = StatementBatch::returning(connection, &sql, |row| {
        Ok(FullPicture {
            row: row.get(0)?,
            source: row.get(1)?,
            path: path_from_bytes(row.get(2)?),
            region: read_region(row, 3)?,
            frame: PictureTable::read(row, 4)?,
        })
    });
    media.iter().try_for_each(|row| pictures.add(params![row]))?;
    pictures.finish()
}

pub fn text_space(connection: &Connection, dataset: DatasetId) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes, require(intact) FROM text_space WHERE dataset = ?1";
    query::find(connection, sql, params![dataset.0], |row| row.get(0))
}

/// Replaces the text space of a dataset, and deletes the text vectors of the old one.
pub fn replace_text_space(
    connection: &Connection,
    dataset: DatasetId,
    space: Option<&[u8]>,
) -> Result<()> {
    TEXT_VECTORS.delete_all(connection, dataset)?;
    query::execute(connection, "DELETE FROM text_space WHERE dataset = ?1", params![dataset.0])?;
    if let Some(space) = space {
        let sql = "INSERT INTO text_space VALUES (?1, ?2)";
        query::execute(connection, sql, params![dataset.0, space])?;
    }
    Ok(())
}

/// Returns the captions of a dataset or of one of its sources, in the order of the rows, with the labels that say what
/// a picture shows. Labels of the model are used only if there is no caption. Next to a caption, they would rank
/// pictures of the same kind above the picture that a text describes.
pub fn texts(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
) -> Result<Vec<(i64, String)>> {
    let sql = format!(
        "SELECT row, coalesce(caption, ''), labels,
           CASE WHEN caption IS NULL THEN {} ELSE '[]' END, require(intact)
         FROM media WHERE dataset = ?1 {} ORDER BY row",
        model_labels!(),
        if source.is_some() { "AND source = ?2" } else { "" },
    );
    let read = |row: &Row| {
        let mut text = row.get_ref(1)?.as_str()?.to_owned();
        for label in read_joined_names(row, 2)?.iter().filter(|it| !is_metadata_label(it)) {
            text.push(' ');
            text.push_str(label);
        }
        Ok((row.get(0)?, text))
    };
    let params = params![dataset.0, source];
    query::all(connection, &sql, &params[..=usize::from(source.is_some())], read)
}
