//! Which language captions are in.

use super::{Language, stop_words};
use crate::text::words::words;

/// Returns the language most of whose stop words occur in the captions; `None` if they contain none. Of several, the
/// first in the order of [`Language::all`].
pub fn detect_language<T: AsRef<str>>(captions: impl IntoIterator<Item = T>) -> Option<Language> {
    let mut counts = [0_u64; stop_words::LANGUAGE_COUNT];
    for caption in captions {
        for word in words(caption.as_ref()) {
            for &language in stop_words::languages_of(&word) {
                counts[language as usize] += 1;
            }
        }
    }
    let most = counts.into_iter().max().filter(|&count| count > 0)?;
    Language::all().find(|&language| counts[language as usize] == most)
}
