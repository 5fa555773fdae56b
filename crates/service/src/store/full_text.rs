//! Full-text index of the captions of all datasets, updated by triggers on the media table.

use rusqlite::{Connection, Result};

use super::{media::entity_condition, query};
use tessera_model::{DatasetId, EntityType};

/// With the bm25 score (lower is better) if `ranked`. The expression must come from
/// `text::full_text_query`, which quotes every word.
pub fn search(connection: &Connection, expression: &str, ranked: bool) -> Result<Vec<(i64, f32)>> {
    let score = if ranked { "bm25(words)" } else { "0.0" };
    let sql = format!("SELECT rowid, {score} FROM words WHERE words MATCH ?1");
    query::all(connection, &sql, [expression], |row| row.try_into())
}

/// Which text metadata the images and frames of a dataset have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextCoverage {
    pub has_captions: bool,
    pub has_labels: bool,
}

pub fn text_coverage(connection: &Connection, dataset: DatasetId) -> Result<TextCoverage> {
    query::one(
        connection,
        "SELECT EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND caption IS NOT NULL),
                EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND labels <> '[]'
                                              AND parent IS NULL)",
        [dataset.0],
        |row| Ok(TextCoverage { has_captions: row.get(0)?, has_labels: row.get(1)? }),
    )
}

/// Most frequent first.
pub fn label_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT label.value, count(*)
         FROM (SELECT labels FROM media WHERE dataset = ?1 AND require(intact) AND {}) AS described,
              json_each(described.labels) AS label
         GROUP BY label.value ORDER BY count(*) DESC, label.value",
        entity_condition(entity)
    );
    query::all(connection, &sql, [dataset.0], |row| row.try_into())
}
