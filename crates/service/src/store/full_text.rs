//! The captions of all datasets as full text. What goes in is kept by triggers on the media.

use rusqlite::Connection;

use super::media::entity_condition;
use tessera_model::{DatasetId, EntityType};

/// The rows of the media whose caption matches an expression of FTS5, with their rank where `ranked`
/// (bm25: lower is better). The expression must be one of `words::query`, which quotes every word.
///
/// # Errors
/// The store failed.
pub fn search(
    connection: &Connection,
    expression: &str,
    ranked: bool,
) -> rusqlite::Result<Vec<(i64, f32)>> {
    let score = if ranked { "bm25(words)" } else { "0.0" };
    connection
        .prepare_cached(&format!("SELECT rowid, {score} FROM words WHERE words MATCH ?1"))?
        .query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// What media of a dataset are told of by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextCoverage {
    /// Some have a caption.
    pub has_captions: bool,
    /// Some have labels.
    pub has_labels: bool,
}

/// What is told of the images and videos of a dataset.
///
/// # Errors
/// The store failed.
pub fn text_coverage(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<TextCoverage> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND caption IS NOT NULL),
                EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND labels <> '[]'
                                              AND parent IS NULL)",
        [dataset.0],
        |row| Ok(TextCoverage { has_captions: row.get(0)?, has_labels: row.get(1)? }),
    )
}

/// The labels of the images and videos, or of the objects, of a dataset with how many have each, most
/// frequent first.
///
/// # Errors
/// The store failed.
pub fn label_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> rusqlite::Result<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT label.value, count(*)
         FROM (SELECT labels FROM media WHERE dataset = ?1 AND {}) AS told,
              json_each(told.labels) AS label
         GROUP BY label.value ORDER BY count(*) DESC, label.value",
        entity_condition(entity)
    );
    connection
        .prepare_cached(&sql)?
        .query_map([dataset.0], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
