//! Full text on a server, with the results of `SQLite`'s full-text index: its words, its phrases, and its scores.

use super::{
    text_match::{TextQuery, TextStatistics, all_of, occurrences},
    word_counts,
};
use crate::{
    engine::{Connection, QueryError, Result, StatementBatch, params},
    query,
};
use tessera_search::text::{
    full_text_query::FullTextQuery,
    language::Language,
    words::{indexed_words, stemmed_text},
};

/// The words of the captions, in order and separated by spaces.
pub(super) const TABLES: &str = "
CREATE TABLE words (
  media bigint PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  words text NOT NULL,
  count integer NOT NULL
);
CREATE INDEX words_contained ON words USING gin (array_to_tsvector(string_to_array(words, ' ')));
";

/// Longer words are represented by their hash, because the index refuses those of 2 KiB.
const MAX_WORD_BYTES: usize = 500;

/// A condition on the words of a caption, which the index answers.
const CONTAINS: &str =
    "array_to_tsvector(string_to_array(words, ' ')) @@ CAST(CAST(?1 AS text) AS tsquery)";

/// Replaces the words of captions, by the row of the media item.
pub(crate) fn index_captions<'a>(
    connection: &Connection,
    language: Language,
    captions: impl Iterator<Item = (i64, Option<&'a str>)>,
) -> Result<()> {
    let sql = "INSERT INTO words VALUES (?1, ?2, ?3)
               ON CONFLICT (media) DO UPDATE SET words = excluded.words, count = excluded.count";
    let mut upserts = StatementBatch::new(connection, sql);
    let mut deletes = StatementBatch::new(connection, "DELETE FROM words WHERE media = ?1");
    for (media, caption) in captions {
        if let Some(caption) = caption {
            let words = words_of(&stemmed_text(caption, language));
            upserts.add(params![media, words.join(" "), words.len()])?;
        } else {
            deletes.add(params![media])?;
        }
    }
    upserts.finish()?;
    deletes.finish().map(drop)
}

/// Returns the media whose captions match, with their bm25 score unless the query is negated.
pub fn search(connection: &Connection, query: &FullTextQuery) -> Result<Vec<(i64, f32)>> {
    let text_query = TextQuery::new(query, words_of);
    let Some(condition) = text_query.condition() else { return Ok(Vec::new()) };
    let statistics =
        (!query.is_negated).then(|| statistics(connection, &text_query.phrases)).transpose()?;
    let mut found = Vec::new();
    let sql = format!("SELECT media, words, count FROM words WHERE {CONTAINS} ORDER BY media");
    query::for_each(connection, &sql, params![condition], |row| {
        let words: Vec<&str> = row.get_ref(1)?.as_str()?.split(' ').collect();
        if let Some(counts) = text_query.matches(&words) {
            let length = row.get(2)?;
            let score = statistics.as_ref().map_or(0.0, |known| known.score(&counts, length));
            found.push((row.get(0)?, single(score)));
        }
        Ok::<_, QueryError>(())
    })?;
    Ok(found)
}

/// Of all captions of the store.
fn statistics(connection: &Connection, phrases: &[Vec<String>]) -> Result<TextStatistics> {
    let containing: Vec<u64> =
        phrases.iter().map(|phrase| count_containing(connection, phrase)).collect::<Result<_>>()?;
    Ok(TextStatistics::new(word_counts::totals(connection)?, &containing))
}

/// How many captions contain a phrase.
fn count_containing(connection: &Connection, phrase: &[String]) -> Result<u64> {
    let Some(condition) = all_of(phrase) else { return Ok(0) };
    if let [word] = phrase {
        return word_counts::captions_with(connection, word);
    }
    let mut count = 0;
    let sql = format!("SELECT words FROM words WHERE {CONTAINS}");
    query::for_each(connection, &sql, params![condition], |row| {
        let words: Vec<&str> = row.get_ref(0)?.as_str()?.split(' ').collect();
        count += u64::from(occurrences(phrase, &words) > 0);
        Ok::<_, QueryError>(())
    })?;
    Ok(count)
}

/// The words of a stemmed text.
fn words_of(text: &str) -> Vec<String> {
    let mut words = indexed_words(text);
    for word in words.iter_mut().filter(|word| word.len() > MAX_WORD_BYTES) {
        *word = blake3::hash(word.as_bytes()).to_string();
    }
    words
}

/// The precision in which both engines return scores.
#[expect(clippy::cast_possible_truncation, reason = "a score needs no more")]
fn single(score: f64) -> f32 {
    score as f32
}
