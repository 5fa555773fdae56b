//! How many captions of the store there are, and how many of them contain a word: kept, because counting reads
//! all captions. Each statement that changes captions adds rows with the differences; the sum counts.

use crate::{
    engine::{Connection, Result, params},
    query,
};
use tessera_search::text::bm25::CaptionTotals;

/// Removed media take their captions along one by one, so a difference
/// must not update a row: each of a million updates would read all versions of it.
pub(super) const TABLES: &str = "
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

/// Of the store.
pub fn totals(connection: &Connection) -> Result<CaptionTotals> {
    let sql = "SELECT CAST(coalesce(sum(captions), 0) AS bigint),
                      CAST(coalesce(sum(words), 0) AS bigint) FROM caption_total";
    query::one(connection, sql, params![], |row| {
        Ok(CaptionTotals { captions: row.get(0)?, words: row.get(1)? })
    })
}

/// How many captions contain a word.
pub fn captions_with(connection: &Connection, word: &str) -> Result<u64> {
    let sql = "SELECT CAST(coalesce(sum(captions), 0) AS bigint) FROM word_count WHERE word = ?1";
    query::one(connection, sql, params![word], |row| row.get(0))
}

/// Adds the differences up, so that reading them stays fast. Does nothing while another transaction does, because
/// both would delete the same rows, and could wait for each other.
pub fn merge_word_counts(connection: &Connection) -> Result<()> {
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
