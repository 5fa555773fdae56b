//! How `SQLite`'s full-text index splits a text into words.

use std::{collections::HashMap, sync::Mutex};

use rusqlite::{Connection, Result, params};

use crate::{QueryError, lock, rules::caption_tokenizer};

/// An index of one text, whose words can be listed.
const TABLES: &str = concat!(
    "CREATE VIRTUAL TABLE caption USING fts5(words, content = '', tokenize = '",
    caption_tokenizer!(),
    "');
     CREATE VIRTUAL TABLE word USING fts5vocab(caption, instance);"
);

/// What becomes of a character.
#[derive(Clone, Copy)]
enum SplitCharacter {
    Separator,
    /// In lower case and without diacritics.
    Letter(char),
    /// A mark that is not part of the word.
    Dropped,
}

/// Returns the words of a stemmed text in order. What consists of marks only is not a word.
pub fn split_words(text: &str) -> Result<Vec<String>, QueryError> {
    static CHARACTERS: Mutex<Option<CharacterTable>> = Mutex::new(None);
    let mut characters = lock(&CHARACTERS);
    let characters = match &mut *characters {
        Some(characters) => characters,
        none => none.insert(CharacterTable::new()?),
    };
    let (mut words, mut word) = (Vec::new(), None);
    for character in text.chars() {
        match characters.find(character)? {
            SplitCharacter::Separator => words.extend(word.take()),
            SplitCharacter::Letter(letter) => word.get_or_insert_with(String::new).push(letter),
            SplitCharacter::Dropped => {}
        }
    }
    words.extend(word);
    Ok(words)
}

/// The characters of the texts so far. Each is looked up in an index once, because many captions are split.
struct CharacterTable {
    index: Connection,
    known: HashMap<char, SplitCharacter>,
}

impl CharacterTable {
    fn new() -> Result<Self> {
        let index = Connection::open_in_memory()?;
        index.execute_batch(TABLES)?;
        Ok(Self { index, known: HashMap::new() })
    }

    fn find(&mut self, character: char) -> Result<SplitCharacter> {
        if let Some(known) = self.known.get(&character) {
            return Ok(*known);
        }
        let words = self.indexed_words(&format!("a{character}a"))?;
        let found = match &words[..] {
            [word] => match word.chars().nth(1) {
                Some(letter) if word.chars().count() == 3 => SplitCharacter::Letter(letter),
                _ => SplitCharacter::Dropped,
            },
            _ => SplitCharacter::Separator,
        };
        self.known.insert(character, found);
        Ok(found)
    }

    fn indexed_words(&self, text: &str) -> Result<Vec<String>> {
        let run = |sql| self.index.prepare_cached(sql);
        run("INSERT INTO caption (caption) VALUES ('delete-all')")?.execute([])?;
        run("INSERT INTO caption (rowid, words) VALUES (1, ?1)")?.execute(params![text])?;
        let mut words = run("SELECT term FROM word ORDER BY offset")?;
        // What consists of marks only is empty, which is NULL here.
        words
            .query_map([], |row| Ok(row.get::<_, Option<String>>(0)?.unwrap_or_default()))?
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_split_as_in_an_index(
            text in prop_oneof![
                "\\PC{0,40}",
                "[a-cA-C0-9 .'éÉàñŁßİıǅ\u{300}-\u{303}\u{345}\u{903}Ⓐ²½Ⅳ漢かक्षि\u{E000}\u{1D400}]{0,24}",
            ],
        ) {
            let mut indexed = CharacterTable::new().unwrap().indexed_words(&text).unwrap();
            indexed.retain(|word| !word.is_empty());
            prop_assert_eq!(split_words(&text).unwrap(), indexed);
        }
    }
}
