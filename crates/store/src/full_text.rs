//! Full text of captions, by the row of their media items. A server has an index of the captions of all datasets, for
//! searches of large datasets, which have no index files. A database file has no such index.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    caption_language,
    columns::from_json,
    engine::{Connection, QueryError, Result, params},
    media::entity_condition,
    model_label::{model_labels, with_model_labels},
    postgres, query,
};
use tessera_model::{DatasetId, EntityType};
use tessera_search::text::{full_text_query::FullTextQuery, language::Language};

/// Searches captions on a server, for datasets whose index files would be too large. Returns the rows of the matching
/// media items, with the BM25 score (lower is better) unless the query is negated.
pub fn search(connection: &Connection, query: &FullTextQuery) -> Result<Vec<(i64, f32)>> {
    postgres::search(connection, query)
}

/// Replaces the captions of some media items, given by their rows, in the index of a server.
pub(super) fn index_captions<'a>(
    connection: &Connection,
    dataset: DatasetId,
    captions: impl Iterator<Item = (i64, Option<&'a str>)>,
) -> Result<()> {
    if !connection.is_on_server() {
        return Ok(());
    }
    let language = caption_language::find(connection, dataset)?.indexed;
    postgres::index_captions(connection, language, captions)
}

/// Sets the language of the captions of a dataset, and replaces its captions in the index of a server.
pub fn change_language(
    connection: &Connection,
    dataset: DatasetId,
    language: Language,
) -> Result<()> {
    caption_language::set_indexed(connection, dataset, language)?;
    if !connection.is_on_server() {
        return Ok(());
    }
    let captions = caption_language::captions(connection, dataset)?;
    let captions = captions.iter().map(|(row, caption)| (*row, Some(caption.as_str())));
    index_captions(connection, dataset, captions)
}

/// Merges the pending changes of word counts on a server.
pub fn merge_word_counts(connection: &Connection) -> Result<()> {
    if !connection.is_on_server() {
        return Ok(());
    }
    postgres::merge_word_counts(connection)
}

/// The kinds of text metadata that the images and frames of a dataset have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextCoverage {
    pub has_captions: bool,
    /// Whether there are labels from the dataset.
    pub has_labels: bool,
    /// Whether there are labels from the user's own model.
    pub has_model_labels: bool,
}

pub fn text_coverage(connection: &Connection, dataset: DatasetId) -> Result<TextCoverage> {
    query::one(
        connection,
        "SELECT EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND caption IS NOT NULL),
                EXISTS (SELECT 1 FROM media WHERE dataset = ?1 AND labels <> '[]'
                                              AND parent IS NULL),
                EXISTS (SELECT 1 FROM applied_model WHERE dataset = ?1)
                AND EXISTS (SELECT 1 FROM model_label CROSS JOIN media
                            WHERE media.row = model_label.media AND dataset = ?1
                              AND parent IS NULL)",
        params![dataset.0],
        |row| {
            Ok(TextCoverage {
                has_captions: row.get(0)?,
                has_labels: row.get(1)?,
                has_model_labels: row.get(2)?,
            })
        },
    )
}

/// Returns the labels with their counts, the most frequent first.
pub fn label_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT labels, {} AS by_model, count(*) FROM media
         WHERE dataset = ?1 AND require(intact) AND {} GROUP BY labels, by_model",
        model_labels!(),
        entity_condition(entity)
    );
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    query::for_each(connection, &sql, params![dataset.0], |row| {
        let (labels, by_model): (Vec<String>, Vec<String>) =
            (from_json(row, 0)?, from_json(row, 1)?);
        let count: u64 = row.get(2)?;
        for label in with_model_labels(&labels, &by_model) {
            *counts.entry(label.clone()).or_default() += count;
        }
        Ok::<_, QueryError>(())
    })?;
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| Reverse(count));
    Ok(counts)
}
