//! Finds media items by the words of their folders and file names: splits paths into words, and scores how many words
//! of a query a path contains.

use super::{
    language::Language,
    words::{content_stems, indexed_words, stemmed_text},
};
use crate::member_search::CAPTION_LIMIT;
use tessera_model::text::{composed, search_form};

/// How much nearer than [`CAPTION_LIMIT`] a name is that contains all words of a query. Such a name is just below 0.4,
/// the bound of a strong match, so that a limit of 0.4 finds it. Captions that match strongly stay before nearly all
/// names, because a caption describes the picture and a name often does not.
const NAME_SHARE: f32 = 0.21;
/// The part of the words of a query that a name must contain, as a divisor.
const MIN_PART: usize = 3;
/// The maximum length of an indexed word, which a database limits.
const MAX_WORD_BYTES: usize = 500;
/// The maximum length of an extension.
const MAX_EXTENSION: usize = 5;

/// Returns the words of a path without its extension, separated by spaces. Words are separated by punctuation, and also
/// where lower case turns into upper case, and between letters and digits.
pub fn name_words(path: &str) -> String {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    split_words(stem(&path[name..]).map_or(path, |stem| &path[..name + stem.len()]))
}

/// Returns a name without its extension, or `None` if it has none.
fn stem(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_extension = extension.len() <= MAX_EXTENSION && !extension.contains(' ');
    (is_extension && !stem.is_empty()).then_some(stem)
}

/// Returns the stems of the words of a path, separated by spaces, as an index of names contains them.
pub fn indexed_name(path: &str, language: Language) -> String {
    let mut words = indexed_words(&stemmed_text(&name_words(path), language));
    words.retain(|word| word.len() <= MAX_WORD_BYTES);
    words.join(" ")
}

fn split_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + text.len() / 4);
    // In NFD, the mark of a letter would be between this letter and a digit.
    let text = composed(text);
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let starts_word = c.is_uppercase()
            && (last.is_lowercase()
                || (last.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase())));
        if starts_word || (c.is_numeric() != last.is_numeric() && last.is_alphanumeric()) {
            words.push(' ');
        }
        words.push(if c.is_alphanumeric() || !c.is_ascii() { c } else { ' ' });
        last = c;
    }
    words
}

/// The words of a query that names are searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameQuery {
    /// The stem of each word.
    pub words: Vec<String>,
    /// The whole query in lower case, if it looks like the name of a file.
    pub file_name: Option<String>,
}

/// The distance of a file whose whole name is the query, which is nearer than every caption.
pub const EXACT_NAME_DISTANCE: f32 = 0.0;

impl NameQuery {
    /// Creates a query from a text. Returns `None` if the text has no words that describe anything.
    pub fn new(text: &str, language: Language) -> Option<Self> {
        let stem = stem(text.trim());
        let is_described = |stem: &str| !content_stems(&split_words(stem), language).is_empty();
        let mut words = match stem.filter(|stem| !is_described(stem)) {
            // All words of the file are omitted from queries, so that they have to be found together.
            Some(stem) => vec![stemmed_text(&split_words(stem), language)],
            None => content_stems(&split_words(text), language),
        };
        words.retain(|word| !indexed_words(word).is_empty());
        words.sort_unstable();
        words.dedup();
        let file_name = stem.map(|_| search_form(text.trim()));
        (!words.is_empty()).then_some(Self { words, file_name })
    }

    /// Returns the distances that names can have.
    pub fn distances(&self) -> Vec<f32> {
        let exact = self.file_name.iter().map(|_| EXACT_NAME_DISTANCE);
        exact.chain((1..=self.words.len()).filter_map(|found| self.distance(found))).collect()
    }

    /// Whether the query is the whole name of a file.
    pub fn is_name(&self, name: &str) -> bool {
        self.file_name.as_ref().is_some_and(|file_name| search_form(name) == *file_name)
    }

    /// Returns the distance of a name that contains `found` of the words, or `None` if that is too few.
    pub fn distance(&self, found: usize) -> Option<f32> {
        if found == 0 || found * MIN_PART < self.words.len() {
            return None;
        }
        let part = u16::try_from(found).ok().zip(u16::try_from(self.words.len()).ok());
        let distance =
            |(found, all)| CAPTION_LIMIT - NAME_SHARE * f32::from(found) / f32::from(all);
        // Rounded, so that 0.39 is exactly the number that is printed and typed.
        part.map(distance).map(|distance: f32| (distance * 1000.0).round() / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str) -> String {
        name_words(path).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths_are_split_into_words() {
        assert_eq!(words("n02099601_golden_retriever.JPEG"), "n 02099601 golden retriever");
        assert_eq!(words("holidays/rome/IMG_0042.jpg"), "holidays rome IMG 0042");
        assert_eq!(words("myDogOnTheBeach.png"), "my Dog On The Beach");
        assert_eq!(words("HTTPServer-2021-07.tar.png"), "HTTP Server 2021 07 tar");
        assert_eq!(words("Zürich/Straßenbahn.webp"), "Zürich Straßenbahn");
        assert_eq!(words("cafe\u{301}2/E\u{301}teMer.png"), words("caf\u{e9}2/\u{c9}teMer.png"));
        assert_eq!(words("a.b/.hidden"), "a b hidden");
        assert_eq!(words("version 1.5 of the boat"), "version 1 5 of the boat");
        assert_eq!(words("दिल्ली/कुत्ता.jpg"), "दिल्ली कुत्ता");
        assert_eq!(words(""), "");
    }

    #[test]
    fn names_are_nearer_with_more_of_the_words_and_all_words_are_a_strong_match() {
        let query = NameQuery::new("a golden retriever on the beach", Language::English).unwrap();
        assert_eq!(query.words.len(), 3);
        let distances: Vec<_> = (0..=3).map(|found| query.distance(found)).collect();
        assert_eq!(distances[0], None);
        assert!(distances[1..].is_sorted_by(|one, other| one > other), "{distances:?}");
        for distance in distances.into_iter().flatten() {
            assert!((0.39..0.6).contains(&distance), "{distance}");
        }
        assert_eq!(query.distance(3), Some(0.39), "a limit of 0.4 finds it");
        let four = NameQuery::new("red green blue yellow", Language::English).unwrap();
        assert_eq!(four.distance(1), None);
        assert!(four.distance(2).is_some());
        assert_eq!(NameQuery::new("the a of", Language::English), None);
    }

    #[test]
    fn a_query_that_is_the_whole_name_of_a_file_is_nearest() {
        let query = NameQuery::new(" Img_0042.JPG", Language::English).unwrap();
        assert!(query.is_name("IMG_0042.jpg") && !query.is_name("IMG_0042.png"));
        assert!(query.distances()[0] < 0.1, "nearer than every other name");
        for (text, word) in [("x.png", "x"), ("a b.jpg", "a b"), ("of the.png", "of the")] {
            let query = NameQuery::new(text, Language::English).unwrap();
            assert!(query.words == [word] && query.is_name(text), "{query:?}");
        }
        assert_eq!(NameQuery::new("-.png", Language::English), None);
        let words = NameQuery::new("a dog at St. Mary", Language::English).unwrap();
        assert!(words.file_name.is_none() && !words.is_name(""));
    }

    #[test]
    fn names_and_queries_have_the_same_stems() {
        let indexed = indexed_name("Hiking/golden_retrievers2.jpg", Language::English);
        let query = NameQuery::new("goldenRetriever hike", Language::English).unwrap();
        for word in query.words {
            assert!(indexed.split(' ').any(|other| other == word), "{word} in {indexed}");
        }
    }
}
