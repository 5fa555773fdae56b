//! Rules that both engines follow, as parts of SQL.

/// The states and transitions of the interface document, and two of our own: a folder that changed is indexed
/// again from any state of rest, and so is a dataset in ERROR.
macro_rules! allowed_transitions {
    () => {
        "
  'READY > READ ONLY', 'READ ONLY > PARTIAL INDEX', 'PARTIAL INDEX > READ ONLY',
  'READ ONLY > INDEXING', 'INDEXING > READY',
  'READ ONLY > ERROR', 'INDEXING > ERROR',
  'READY > INDEXING', 'PARTIAL INDEX > INDEXING', 'ERROR > INDEXING'
"
    };
}

/// How stemmed captions become words, inside a quoted text of SQL: without diacritics, and with the combining marks
/// of scripts such as Devanagari, at which `SQLite` would otherwise split words.
macro_rules! caption_tokenizer {
    () => {
        "unicode61 remove_diacritics 2 categories ''L* N* Co M*''"
    };
}

pub(super) use allowed_transitions;
pub(super) use caption_tokenizer;
