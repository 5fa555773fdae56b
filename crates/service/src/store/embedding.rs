//! The vectors of captions and labels, and the text space of each dataset.

use half::f16;

use super::{
    columns::{encode_f16, from_json},
    engine::{Connection, Result, StatementBatch, params},
    query,
};
use tessera_model::{DatasetId, is_metadata_label};

pub fn text_space(connection: &Connection, dataset: DatasetId) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT bytes, require(intact) FROM space WHERE dataset = ?1";
    query::find(connection, sql, params![dataset.0], |row| row.get(0))
}

/// Replaces the text space of a dataset and deletes the embeddings of the old one.
pub fn replace_text_space(
    connection: &Connection,
    dataset: DatasetId,
    space: Option<&[u8]>,
) -> Result<()> {
    let embeddings =
        "DELETE FROM meaning WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    for sql in [embeddings, "DELETE FROM space WHERE dataset = ?1"] {
        query::execute(connection, sql, params![dataset.0])?;
    }
    if let Some(space) = space {
        let sql = "INSERT INTO space VALUES (?1, ?2)";
        query::execute(connection, sql, params![dataset.0, space])?;
    }
    Ok(())
}

/// Stores embeddings by the row of their media item.
pub fn upsert_all(connection: &Connection, vectors: &[(i64, Vec<f16>)]) -> Result<()> {
    let sql = "INSERT INTO meaning VALUES (?1, ?2)
               ON CONFLICT (media) DO UPDATE SET vector = excluded.vector";
    let mut upserts = StatementBatch::new(connection, sql);
    for (media, vector) in vectors {
        upserts.add(params![media, encode_f16(vector)])?;
    }
    upserts.finish().map(drop)
}

/// The number of halves of the embeddings of a dataset; 0 if there are none.
pub fn dimension(connection: &Connection, dataset: DatasetId) -> Result<usize> {
    let sql = "SELECT length(vector) FROM meaning
               WHERE media IN (SELECT row FROM media WHERE dataset = ?1) LIMIT 1";
    let bytes: Option<usize> = query::find(connection, sql, params![dataset.0], |row| row.get(0))?;
    Ok(bytes.unwrap_or_default() / size_of::<f16>())
}

/// Captions of a dataset and the labels that say what a picture shows, or of one of its sources, in order of row.
pub fn texts(
    connection: &Connection,
    dataset: DatasetId,
    source: Option<i64>,
) -> Result<Vec<(i64, String)>> {
    query::all(
        connection,
        "SELECT row, coalesce(caption, ''), labels, require(intact) FROM media
         WHERE dataset = ?1 AND (source = ?2 OR ?2 IS NULL) ORDER BY row",
        params![dataset.0, source],
        |row| {
            let caption = row.get_ref(1)?.as_str()?;
            let mut labels: Vec<String> = from_json(row, 2)?;
            labels.retain(|label| !is_metadata_label(label));
            Ok((row.get(0)?, format!("{caption} {}", labels.join(" "))))
        },
    )
}
