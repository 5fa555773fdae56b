//! Full-text search on a server. The words, phrases and scores are the same as those of the full-text index of
//! `SQLite`.

use super::text_match::{TextQuery, TextStatistics, all_of, occurrences};
use crate::prelude::*;
use tessera_search::text::{
    bm25::CaptionTotals,
    full_text_query::FullTextQuery,
    language::Language,
    words::{indexed_words, stemmed_text},
};

/// The table with the words of each caption, in their order and separated by spaces.
pub(super) const TABLES: &str = "
CREATE TABLE words (
  media bigint PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  words text NOT NULL,
  count integer NOT NULL
);
CREATE INDEX words_contained ON words USING gin (array_to_tsvector(string_to_array(words, ' ')));
";

/// The length above which a word is represented by its hash, because the index refuses words of 2 KiB.
const MAX_WORD_BYTES: usize = 500;

/// A condition on the words of a caption, which is evaluated with the index.
const CONTAINS: &str =
    "array_to_tsvector(string_to_array(words, ' ')) @@ CAST(CAST(?1 AS text) AS tsquery)";

/// Replaces the words of captions, which are given by the rows of their media items.
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

/// Returns the media whose captions match, with their BM25 score unless the query is negated.
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

/// Reads the statistics of all captions of the store.
fn statistics(connection: &Connection, phrases: &[Vec<String>]) -> Result<TextStatistics> {
    let containing: Vec<u64> =
        phrases.iter().map(|phrase| count_containing(connection, phrase)).collect::<Result<_>>()?;
    Ok(TextStatistics::new(totals(connection)?, &containing))
}

/// Returns how many captions contain a phrase.
fn count_containing(connection: &Connection, phrase: &[String]) -> Result<u64> {
    let Some(condition) = all_of(phrase) else { return Ok(0) };
    if let [word] = phrase {
        return captions_with(connection, word);
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

/// Returns the words of a stemmed text.
fn words_of(text: &str) -> Vec<String> {
    let mut words = indexed_words(text);
    for word in words.iter_mut().filter(|word| word.len() > MAX_WORD_BYTES) {
        *word = blake3::hash(word.as_bytes()).to_string();
    }
    words
}

/// Converts a score to the precision in which both engines return scores.
#[expect(clippy::cast_possible_truncation, reason = "a score needs no more")]
fn single(score: f64) -> f32 {
    score as f32
}

/// The number of captions, and the number of captions that contain each word. Both are stored, because counting would
/// read all captions. A statement that changes captions adds rows with the differences; the sum of these rows is the
/// current number.
///
/// A difference must not update a row. When media are removed, their captions are removed one by one, and each of a
/// million updates of a row would read all earlier versions of it.
pub(super) const WORD_COUNTS: &str = "
CREATE TABLE caption_total (
  captions bigint NOT NULL,
  words    bigint NOT NULL
);
CREATE TABLE word_count (
  word     text NOT NULL,
  captions bigint NOT NULL
);
CREATE INDEX word_count_word ON word_count (word) INCLUDE (captions);

CREATE FUNCTION count_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_ARGV[0] WHEN 'added' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO caption_total
  SELECT sign * count(*), sign * sum(count) FROM changed HAVING count(*) > 0;
  INSERT INTO word_count
  SELECT word, sign * count(*)
  FROM (SELECT DISTINCT media, unnest(string_to_array(words, ' ')) AS word FROM changed) AS contained
  WHERE word <> '' GROUP BY word;
  RETURN NULL;
END $$;
CREATE TRIGGER words_added AFTER INSERT ON words REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_words('added');
CREATE TRIGGER words_removed AFTER DELETE ON words REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_words('removed');
CREATE TRIGGER old_words_removed AFTER UPDATE ON words REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_words('removed');
CREATE TRIGGER new_words_added AFTER UPDATE ON words REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_words('added');
";

/// Returns the number of all captions of the store, and the number of their words.
fn totals(connection: &Connection) -> Result<CaptionTotals> {
    let sql = "SELECT CAST(coalesce(sum(captions), 0) AS bigint),
                      CAST(coalesce(sum(words), 0) AS bigint) FROM caption_total";
    query::one(connection, sql, params![], |row| {
        Ok(CaptionTotals { captions: row.get(0)?, words: row.get(1)? })
    })
}

/// Returns how many captions contain a word.
fn captions_with(connection: &Connection, word: &str) -> Result<u64> {
    let sql = "SELECT CAST(coalesce(sum(captions), 0) AS bigint) FROM word_count WHERE word = ?1";
    query::one(connection, sql, params![word], |row| row.get(0))
}

/// Replaces the differences by their sums, so that reading them stays fast. Does nothing if another transaction is
/// doing so, because both would delete the same rows and could wait for each other.
pub(crate) fn merge_word_counts(connection: &Connection) -> Result<()> {
    let lock = "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), 2)";
    if !query::one(connection, lock, params![], |row| row.get::<bool>(0))? {
        return Ok(());
    }
    for sql in [
        "WITH merged AS (DELETE FROM caption_total RETURNING captions, words)
         INSERT INTO caption_total
         SELECT coalesce(sum(captions), 0), coalesce(sum(words), 0) FROM merged",
        "WITH merged AS (
           DELETE FROM word_count
           WHERE word IN (SELECT word FROM word_count GROUP BY word HAVING count(*) > 1)
           RETURNING word, captions
         )
         INSERT INTO word_count
         SELECT word, sum(captions) FROM merged GROUP BY word HAVING sum(captions) <> 0",
    ] {
        query::execute(connection, sql, params![])?;
    }
    Ok(())
}
