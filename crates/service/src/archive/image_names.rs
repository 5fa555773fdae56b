//! Chooses the names of pictures inside `images/`. Start here to see why a picture in an archive is not named like its
//! original, or why an archive has a dataset card.

use std::collections::HashSet;

/// Names inside `images/` that are safe to unpack anywhere, and that are unique even if case is ignored.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    used: HashSet<String>,
}

impl UniqueNames {
    /// Returns a unique name. The same calls in the same order return the same names.
    pub(super) fn unique(&mut self, file_name: &str) -> String {
        let safe: String = file_name
            .chars()
            .map(|c| if c.is_control() || r#"/\<>:"|?*"#.contains(c) { '_' } else { c })
            .collect();
        let (stem, extension) = match safe.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
            _ => (safe.as_str(), String::new()),
        };
        let mut name = safe.clone();
        let mut number = 2;
        while !self.used.insert(name.to_lowercase()) {
            name = format!("{stem}_{number}{extension}");
            number += 1;
        }
        name
    }
}

/// The words in file names by which the library `datasets` of Hugging Face divides a folder into splits.
const SPLIT_WORDS: [&str; 10] = [
    "train",
    "training",
    "validation",
    "valid",
    "dev",
    "val",
    "test",
    "testing",
    "eval",
    "evaluation",
];

/// Whether the library `datasets` of Hugging Face takes the name for the name of a split, as in `test_01.jpg`. From a
/// folder with such a name, the library loads only the files whose names contain a split, unless a dataset card says
/// otherwise.
pub(super) fn names_a_split(file_name: &str) -> bool {
    let is_separator = |c: char| c.is_ascii_digit() || "-._ ".contains(c);
    let words: Vec<&str> = file_name.split(is_separator).collect();
    // The last word has no separator behind it.
    words.split_last().is_some_and(|(_, words)| words.iter().any(|word| SPLIT_WORDS.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_the_word_of_a_split_are_recognized() {
        let splitting = ["test_01.jpg", "train.png", "my dev.jpg", "a-val-2.jpg", "x7eval8.png"];
        assert!(splitting.iter().all(|name| names_a_split(name)));
        let plain = ["Test_01.jpg", "latest.jpg", "trains.png", "a.train", "devil_1.jpg", ""];
        assert!(!plain.iter().any(|name| names_a_split(name)));
    }
}
