//! The language of the captions of a dataset, which is chosen by the user or detected in the captions.

use super::{
    engine::{Connection, QueryError, Result, params},
    query,
};
use tessera_model::DatasetId;
use tessera_search::text::language::Language;

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
        let language = |code: &str| {
            Language::from_code(code).ok_or_else(|| QueryError::value("a language is unknown"))
        };
        Ok(Self {
            indexed: indexed.map(language).transpose()?.unwrap_or_default(),
            chosen: chosen.map(language).transpose()?,
        })
    }
}

pub fn find(connection: &Connection, dataset: DatasetId) -> Result<CaptionLanguage> {
    let sql = "SELECT indexed, chosen, require(intact) FROM caption_language WHERE dataset = ?1";
    let codes: Option<(String, Option<String>)> =
        query::find(connection, sql, params![dataset.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (indexed, chosen) = codes.map_or((None, None), |(indexed, chosen)| (Some(indexed), chosen));
    CaptionLanguage::from_codes(indexed.as_deref(), chosen.as_deref())
}

/// Stores which language the user chose, or, for `None`, that the language is detected. The next indexing task rebuilds
/// the index.
pub fn choose(connection: &Connection, dataset: DatasetId, chosen: Option<Language>) -> Result<()> {
    let indexed = find(connection, dataset)?.indexed;
    upsert(connection, dataset, CaptionLanguage { indexed, chosen })
}

/// Stores the language of the full-text indexes. This must run in the transaction that begins a generation and replaces
/// the indexes of a server.
pub fn set_indexed(connection: &Connection, dataset: DatasetId, indexed: Language) -> Result<()> {
    let chosen = find(connection, dataset)?.chosen;
    upsert(connection, dataset, CaptionLanguage { indexed, chosen })
}

fn upsert(connection: &Connection, dataset: DatasetId, language: CaptionLanguage) -> Result<()> {
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
