//! Reads and writes captions: their language, which is chosen or detected, and their full text. On a server, one
//! full-text index contains the captions of all datasets, because index files would be too large for large
//! datasets. In a database file, there is no such index.

use std::{cmp::Reverse, collections::BTreeMap};

use super::prelude::*;
use crate::{
    media::{entity_condition, model_labels, read_joined_names, user_given},
    postgres,
};
use tessera_model::caption_words;
use tessera_search::text::{full_text_query::FullTextQuery, language::Language};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptionLanguage {
    /// The language whose stems the full-text indexes contain.
    pub indexed: Language,
    /// The language that the user chose, or `None` if the language is detected.
    pub chosen: Option<Language>,
}

impl CaptionLanguage {
    /// Reads the language from the codes in the two columns of the table.
    pub(super) fn from_codes(indexed: Option<&str>, chosen: Option<&str>) -> Result<Self> {
        let parse = |code: &str| {
            Language::from_code(code).ok_or_else(|| QueryError::value("a language is unknown"))
        };
        Ok(Self {
            indexed: indexed.map(parse).transpose()?.unwrap_or_default(),
            chosen: chosen.map(parse).transpose()?,
        })
    }
}

pub fn language(connection: &Connection, dataset: DatasetId) -> Result<CaptionLanguage> {
    let sql = "SELECT indexed, chosen, require(intact) FROM caption_language WHERE dataset = ?1";
    let codes: Option<(String, Option<String>)> =
        query::find(connection, sql, params![dataset.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (indexed, chosen) = codes.map_or((None, None), |(indexed, chosen)| (Some(indexed), chosen));
    CaptionLanguage::from_codes(indexed.as_deref(), chosen.as_deref())
}

/// Stores which language the user chose, or, for `None`, that the language is detected. The next indexing task rebuilds
/// the index.
pub fn choose_language(
    connection: &Connection,
    dataset: DatasetId,
    chosen: Option<Language>,
) -> Result<()> {
    let indexed = language(connection, dataset)?.indexed;
    upsert_language(connection, dataset, CaptionLanguage { indexed, chosen })
}

/// Stores the language of the full-text indexes. This must run in the transaction that begins a generation and replaces
/// the indexes of a server.
fn set_indexed_language(
    connection: &Connection,
    dataset: DatasetId,
    indexed: Language,
) -> Result<()> {
    let chosen = language(connection, dataset)?.chosen;
    upsert_language(connection, dataset, CaptionLanguage { indexed, chosen })
}

fn upsert_language(
    connection: &Connection,
    dataset: DatasetId,
    language: CaptionLanguage,
) -> Result<()> {
    let sql = "INSERT INTO caption_language (dataset, indexed, chosen) VALUES (?1, ?2, ?3)
               ON CONFLICT (dataset)
               DO UPDATE SET indexed = excluded.indexed, chosen = excluded.chosen";
    let (indexed, chosen) = (language.indexed.code(), language.chosen.map(Language::code));
    query::execute(connection, sql, params![dataset.0, indexed, chosen])
}

/// Returns the captions of a dataset, in the order of their rows.
pub fn captions(connection: &Connection, dataset: DatasetId) -> Result<Vec<(i64, String)>> {
    let mut captions = Vec::new();
    for_each_caption(connection, dataset, |row, caption| {
        captions.push((row, caption.to_owned()));
        Ok(())
    })?;
    Ok(captions)
}

/// Calls `each` with the row and caption of every media item that has a caption, in the order of the rows.
pub fn for_each_caption(
    connection: &Connection,
    dataset: DatasetId,
    mut each: impl FnMut(i64, &str) -> Result<()>,
) -> Result<()> {
    let sql = "SELECT row, caption, require(intact) FROM media
               WHERE dataset = ?1 AND caption IS NOT NULL ORDER BY row";
    query::for_each(connection, sql, params![dataset.0], |row| {
        each(row.get(0)?, row.get_ref(1)?.as_str()?)
    })
}

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
    let language = self::language(connection, dataset)?.indexed;
    postgres::index_captions(connection, language, captions)
}

/// Sets the language of the captions of a dataset, and replaces its captions in the index of a server.
pub fn change_language(
    connection: &Connection,
    dataset: DatasetId,
    language: Language,
) -> Result<()> {
    set_indexed_language(connection, dataset, language)?;
    if !connection.is_on_server() {
        return Ok(());
    }
    let captions = self::captions(connection, dataset)?;
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

/// Returns the number of images and frames with a caption, and of all images and frames.
pub fn caption_counts(connection: &Connection, dataset: DatasetId) -> Result<(u64, u64)> {
    query::one(
        connection,
        "SELECT (SELECT count(*) FROM media WHERE dataset = ?1 AND caption IS NOT NULL),
                (SELECT n_images + n_frames FROM dataset WHERE id = ?1)",
        params![dataset.0],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Values that occur in a set of media items, each with the number of media items that have it. The most frequent value
/// comes first.
pub type Counts = Vec<(String, u64)>;

pub fn label_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Counts> {
    count_values(connection, dataset, entity, &["labels", model_labels!()], |row| {
        read_joined_names(row, 1)
    })
}

pub fn tag_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Counts> {
    let columns = ["tags", user_given!("tags", "'[]'")];
    count_values(connection, dataset, entity, &columns, |row| read_joined_names(row, 1))
}

const SIDECAR_TAGS: &str =
    "SELECT DISTINCT tags, require(intact) FROM media WHERE dataset = ?1 AND tags <> '[]'";

/// Whether a sidecar gives any media item a tag whose name satisfies `matches`.
pub fn has_sidecar_tag(
    connection: &Connection,
    dataset: DatasetId,
    matches: impl Fn(&str) -> bool,
) -> Result<bool> {
    let mut is_found = false;
    query::for_each(connection, SIDECAR_TAGS, params![dataset.0], |row| {
        is_found = is_found || from_json::<Vec<String>>(row, 0)?.iter().any(|name| matches(name));
        Ok::<_, QueryError>(())
    })?;
    Ok(is_found)
}

/// Counts the words that say something about a picture.
pub fn word_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Counts> {
    count_values(connection, dataset, entity, &["caption"], |row| {
        let caption = row.get_ref(1)?.as_str_or_null()?.unwrap_or_default();
        Ok(caption_words(caption).into_iter().collect())
    })
}

/// Counts in how many media items each value occurs. Media items with equal `columns` are read as one row: column 0 is
/// their number, and the columns follow. `values` returns the distinct values in a row.
pub(crate) fn count_values(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
    columns: &[&str],
    values: impl Fn(&Row) -> Result<Vec<String>>,
) -> Result<Counts> {
    let condition = entity_condition(entity);
    let groups: Vec<String> =
        (2..).take(columns.len()).map(|column: usize| column.to_string()).collect();
    let sql = format!(
        "SELECT count(*), {} FROM media
         WHERE dataset = ?1 AND require(intact) AND {condition} GROUP BY {}",
        columns.join(", "),
        groups.join(", ")
    );
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    query::for_each(connection, &sql, params![dataset.0], |row| {
        let count: u64 = row.get(0)?;
        for value in values(row)? {
            *counts.entry(value).or_default() += count;
        }
        Ok::<_, QueryError>(())
    })?;
    let mut counts: Counts = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| Reverse(count));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn tags_of_sidecars_are_found_without_reading_all_media() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let explained = format!("EXPLAIN QUERY PLAN {SIDECAR_TAGS}");
        let plan: Vec<String> = store
            .read(|c| query::all(c, &explained, params![uuid::Uuid::nil()], |row| row.get(3)))
            .unwrap();
        assert_eq!(plan[0], "SEARCH media USING INDEX media_with_tags (dataset=?)", "{plan:?}");
    }
}
