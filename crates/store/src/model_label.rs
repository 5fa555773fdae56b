//! The labels that the user's own model gave to media items. The labels of the model are stored separately from the
//! labels of the dataset, because the labels of the dataset come first, and because the labels of the model are
//! replaced together with the model.

use super::{
    columns::to_json,
    engine::{Connection, Result, StatementBatch, params},
    query,
};
use tessera_model::DatasetId;

/// The SQL expression for the labels of an item in a table called `media`, as JSON.
macro_rules! model_labels {
    () => {
        "coalesce((SELECT labels FROM model_label
           WHERE model_label.media = media.row AND require(intact)), '[]')"
    };
}
pub(super) use model_labels;

/// Returns the labels of the dataset, followed by those labels of the model that are not among them.
pub fn with_model_labels<'a>(
    of_dataset: &'a [String],
    by_model: &'a [String],
) -> impl Iterator<Item = &'a String> {
    of_dataset.iter().chain(by_model.iter().filter(|label| !of_dataset.contains(label)))
}

/// Stores labels by the rows of their media items.
pub fn insert_all(connection: &Connection, labels: &[(i64, Vec<String>)]) -> Result<()> {
    let sql = "INSERT INTO model_label (media, labels) VALUES (?1, ?2)
               ON CONFLICT (media) DO UPDATE SET labels = excluded.labels";
    let mut inserts = StatementBatch::new(connection, sql);
    for (media, labels) in labels {
        inserts.add(params![media, to_json(labels)?])?;
    }
    inserts.finish().map(drop)
}

pub(super) fn delete_all(connection: &Connection, dataset: DatasetId) -> Result<()> {
    let sql = "DELETE FROM model_label WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    query::execute(connection, sql, params![dataset.0]).map(drop)
}
