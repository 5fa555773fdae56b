//! The words of a text as they are in the full-text index.

use std::sync::Mutex;

use rusqlite::{Connection, Result, params};

use crate::store::{lock, rules::caption_tokenizer};

/// An index of one text, whose words can be listed.
const TABLES: &str = concat!(
    "CREATE VIRTUAL TABLE caption USING fts5(words, content = '', tokenize = '",
    caption_tokenizer!(),
    "');
     CREATE VIRTUAL TABLE word USING fts5vocab(caption, instance);"
);

/// Returns the words of a stemmed text in order.
pub(in crate::store) fn split_words(text: &str) -> Result<Vec<String>> {
    static INDEX: Mutex<Option<Connection>> = Mutex::new(None);
    let mut index = lock(&INDEX);
    let index = match &mut *index {
        Some(index) => index,
        none => {
            let new = Connection::open_in_memory()?;
            new.execute_batch(TABLES)?;
            none.insert(new)
        }
    };
    index.prepare_cached("INSERT INTO caption (caption) VALUES ('delete-all')")?.execute([])?;
    index
        .prepare_cached("INSERT INTO caption (rowid, words) VALUES (1, ?1)")?
        .execute(params![text])?;
    let mut words = index.prepare_cached("SELECT term FROM word ORDER BY offset")?;
    words.query_map([], |row| row.get(0))?.collect()
}
