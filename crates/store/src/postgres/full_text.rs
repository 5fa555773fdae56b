//! Full-text search on a server. The words, phrases and scores are the same as those of the full-text index of
//! `SQLite`. The server finds the captions that may match, and a [`TextQuery`] decides whether each of them does, and how
//! well.

use crate::prelude::*;
use tessera_search::text::{
    full_text_query::{CaptionTotals, FullTextQuery, PhraseScore, TextExpression},
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

/// A query whose phrases are split into words.
struct TextQuery<'a> {
    pub phrases: Vec<Vec<String>>,
    expression: &'a TextExpression,
}

/// The number of occurrences of each phrase in one text, or 0 if the phrase does not contribute to the match.
type PhraseCounts = Vec<u32>;

impl<'a> TextQuery<'a> {
    /// Creates a query. `split` returns the words of a phrase.
    pub fn new(query: &'a FullTextQuery, split: impl Fn(&str) -> Vec<String>) -> Self {
        let phrases = query.phrases.iter().map(|phrase| split(phrase)).collect();
        Self { phrases, expression: &query.expression }
    }

    /// Returns a condition in the syntax of `tsquery` that all matching texts satisfy, or `None` if no text can match.
    pub fn condition(&self) -> Option<String> {
        self.condition_of(self.expression)
    }

    fn condition_of(&self, expression: &TextExpression) -> Option<String> {
        match expression {
            TextExpression::Phrase(number) => all_of(&self.phrases[*number]),
            TextExpression::And(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.condition_of(part)).collect();
                Some(format!("({})", parts?.join(" & ")))
            }
            TextExpression::Or(parts) => {
                let parts: Vec<_> =
                    parts.iter().filter_map(|part| self.condition_of(part)).collect();
                (!parts.is_empty()).then(|| format!("({})", parts.join(" | ")))
            }
            // The second expression cannot be excluded here, because a text may contain the words of a phrase without
            // containing the phrase.
            TextExpression::Without(first, _) => self.condition_of(first),
        }
    }

    /// Matches the words of a text. Returns `None` if the text does not match.
    pub fn matches(&self, words: &[&str]) -> Option<PhraseCounts> {
        let found: PhraseCounts =
            self.phrases.iter().map(|phrase| occurrences(phrase, words)).collect();
        let mut counts = vec![0; found.len()];
        contribute(self.expression, &found, &mut counts).then_some(counts)
    }
}

/// Returns the condition that a text contains all words of a phrase.
pub(crate) fn all_of(words: &[String]) -> Option<String> {
    let quoted = |word: &String| format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"));
    let quoted: Vec<String> = words.iter().map(quoted).collect();
    (!quoted.is_empty()).then(|| format!("({})", quoted.join(" & ")))
}

/// Returns how often a phrase occurs in a text.
fn occurrences(phrase: &[String], words: &[&str]) -> u32 {
    if phrase.is_empty() {
        return 0;
    }
    let found = words.windows(phrase.len()).filter(|part| *part == phrase).count();
    u32::try_from(found).unwrap_or(u32::MAX)
}

/// Returns whether an expression matches. If so, the counts of the phrases that make it match are added to `counts`.
fn contribute(
    expression: &TextExpression,
    found: &PhraseCounts,
    counts: &mut PhraseCounts,
) -> bool {
    let before = counts.clone();
    let matched = match expression {
        TextExpression::Phrase(number) => {
            counts[*number] = found[*number];
            found[*number] > 0
        }
        TextExpression::And(parts) => parts.iter().all(|part| contribute(part, found, counts)),
        // All parts are evaluated, because every matching part counts.
        TextExpression::Or(parts) => {
            let matching = parts.iter().filter(|part| contribute(part, found, counts));
            matching.count() > 0
        }
        TextExpression::Without(first, second) => {
            let mut ignored = before.clone();
            contribute(first, found, counts) && !contribute(second, found, &mut ignored)
        }
    };
    if !matched {
        *counts = before;
    }
    matched
}

/// The statistics of all texts, on which the score of a text depends.
struct TextStatistics(Vec<PhraseScore>);

impl TextStatistics {
    /// Creates the statistics. `containing` says how many texts contain each phrase.
    pub fn new(totals: CaptionTotals, containing: &[u64]) -> Self {
        Self(containing.iter().map(|&containing| PhraseScore::new(totals, containing)).collect())
    }

    /// Returns the BM25 score of a text of this length. Lower is better.
    pub fn score(&self, counts: &PhraseCounts, length: u32) -> f64 {
        let parts = self.0.iter().zip(counts);
        -parts.map(|(phrase, &count)| phrase.of(count, length)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TextQuery, TextStatistics, occurrences};
    use tessera_search::text::{
        full_text_query::{CaptionTotals, FullTextQuery, parse},
        language::Language,
        words::{indexed_words, stemmed_text},
    };
    use tessera_testing::full_text::{
        captions, captions_with_excluded_words, full_text_matches as indexed, queries,
    };

    type ScoredTexts = Vec<(usize, f64)>;

    fn parsed(text: &str) -> FullTextQuery {
        parse(text, Language::English).unwrap()
    }

    /// Returns the matches that this implementation finds.
    fn matched(captions: &[Vec<&str>], query: &FullTextQuery) -> ScoredTexts {
        let query = TextQuery::new(query, indexed_words);
        let texts: Vec<Vec<String>> = captions
            .iter()
            .map(|caption| indexed_words(&stemmed_text(&caption.join(" "), Language::English)))
            .collect();
        let texts: Vec<Vec<&str>> =
            texts.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
        let containing = |phrase: &Vec<String>| {
            texts.iter().filter(|words| occurrences(phrase, words) > 0).count() as u64
        };
        let containing: Vec<u64> = query.phrases.iter().map(containing).collect();
        let words = texts.iter().map(Vec::len).sum::<usize>() as u64;
        let totals = CaptionTotals { captions: texts.len() as u64, words };
        let statistics = TextStatistics::new(totals, &containing);
        let score = |(number, words): (usize, &Vec<&str>)| {
            let counts = query.matches(words)?;
            let length = u32::try_from(words.len()).unwrap();
            Some((number, statistics.score(&counts, length)))
        };
        texts.iter().enumerate().filter_map(score).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn random_queries_match_as_in_sqlite(captions in captions(), text in queries()) {
            let query = parsed(&text);
            let (found, expected) = (matched(&captions, &query), indexed(&captions, &query));
            let incomparable = captions_with_excluded_words(&captions, &query);
            prop_assert_eq!(found.len(), expected.len(), "{}", text);
            for ((row, score), (expected_row, expected)) in found.into_iter().zip(expected) {
                prop_assert_eq!(row, expected_row, "{}", text);
                let is_close = (score - expected).abs() < 1e-12;
                prop_assert!(is_close || incomparable.contains(&row), "{text}: {score}, {expected}");
            }
        }
    }

    #[test]
    fn a_condition_excludes_no_match() {
        let condition = |text: &str| TextQuery::new(&parsed(text), indexed_words).condition();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(condition(r#""red walls""#), some("('red' & 'wall')"));
        assert_eq!(condition(r#"red -"sea boat""#), some("('red')"));
        assert_eq!(condition("red OR (sea AND Ⓐ)"), some("(('red'))"));
        assert_eq!(condition("red AND Ⓐ"), None);
    }
}
