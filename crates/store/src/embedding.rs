//! The vectors of captions and labels, and the text space of each dataset.

use half::f16;

use super::{
    columns::from_json,
    engine::{Connection, Result, Row, params},
    model_label::{model_labels, with_model_labels},
    query,
    vector_table::VectorTable,
};
use tessera_model::{DatasetId, is_metadata_label};

const TABLE: VectorTable = VectorTable("meaning");

pub fn text_space(connection: &Connection, dataset: DatasetId) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes, require(intact) FROM space WHERE dataset = ?1";
    query::find(connection, sql, params![dataset.0], |row| row.get(0))
}

/// Replaces the text space of a dataset, and deletes the embeddings of the old one.
pub fn replace_text_space(
    connection: &Connection,
    dataset: DatasetId,
    space: Option<&[u8]>,
) -> Result<()> {
    TABLE.delete_all(connection, dataset)?;
    query::execute(connection, "DELETE FROM space WHERE dataset = ?1", params![dataset.0])?;
    if let Some(space) = space {
        let sql = "INSERT INTO space VALUES (?1, ?2)";
        query::execute(connection, sql, params![dataset.0, space])?;
    }
    Ok(())
}

/// Stores embeddings by the rows of their media items.
pub fn upsert_all(connection: &Connection, vectors: &[(i64, Vec<f16>)]) -> Result<()> {
    TABLE.upsert_all(connection, vectors)
}

/// Returns the dimension of the embeddings of a dataset, or 0 if there are none.
pub fn dimension(connection: &Connection, dataset: DatasetId) -> Result<usize> {
    TABLE.dimension(connection, dataset)
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
        let (labels, by_model): (Vec<String>, Vec<String>) =
            (from_json(row, 2)?, from_json(row, 3)?);
        for label in with_model_labels(&labels, &by_model).filter(|it| !is_metadata_label(it)) {
            text.push(' ');
            text.push_str(label);
        }
        Ok((row.get(0)?, text))
    };
    match source {
        None => query::all(connection, &sql, params![dataset.0], read),
        Some(source) => query::all(connection, &sql, params![dataset.0, source], read),
    }
}
