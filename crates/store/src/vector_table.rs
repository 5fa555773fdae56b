//! What all tables of vectors have in common. A table has one row for each media item that has a vector.

use half::f16;

use super::{
    columns::encode_f16,
    engine::{Connection, Result, StatementBatch, params},
    query,
};
use tessera_model::DatasetId;

/// A table with the columns `media` and `vector`, given by its name.
pub(super) struct VectorTable(pub(super) &'static str);

impl VectorTable {
    /// Stores vectors by the rows of their media items.
    pub(super) fn upsert_all(
        &self,
        connection: &Connection,
        vectors: &[(i64, Vec<f16>)],
    ) -> Result<()> {
        let sql = format!(
            "INSERT INTO {} (media, vector) VALUES (?1, ?2)
             ON CONFLICT (media) DO UPDATE SET vector = excluded.vector",
            self.0
        );
        let mut upserts = StatementBatch::new(connection, &sql);
        for (media, vector) in vectors {
            upserts.add(params![media, encode_f16(vector)])?;
        }
        upserts.finish().map(drop)
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
    pub(super) fn dimension(&self, connection: &Connection, dataset: DatasetId) -> Result<usize> {
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
