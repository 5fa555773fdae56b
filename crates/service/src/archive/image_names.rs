//! Chooses the names of pictures inside `images/`. Start here to see why a picture in an archive is not named like its
//! original, or why an archive has a dataset card.

use std::collections::HashSet;

use tessera_model::ExportFormat::{self, Voc, WebDataset, Yolo, YoloPose, YoloSegment};

/// Names inside `images/` that are safe to unpack anywhere, and that are unique even if case is ignored. If each picture
/// has a file of its own in the format, names are unique even without their extensions.
#[derive(Debug)]
pub(super) struct UniqueNames {
    used: HashSet<String>,
    format: ExportFormat,
}

impl UniqueNames {
    pub(super) fn of(format: ExportFormat) -> Self {
        Self { used: HashSet::new(), format }
    }

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
        // The members of a shard of WebDataset belong together up to their first dot.
        let in_shard = self.format == WebDataset;
        let stem = if in_shard { stem.replace('.', "_") } else { stem.to_owned() };
        let with_files = [Voc, WebDataset, Yolo, YoloPose, YoloSegment].contains(&self.format);
        let compared = |stem: &str| {
            let extension = if with_files { "" } else { &extension };
            format!("{stem}{extension}").to_lowercase()
        };
        let mut unique = stem.clone();
        let mut number = 2;
        while self.used.contains(&compared(&unique)) {
            unique = format!("{stem}_{number}");
            number += 1;
        }
        self.used.insert(compared(&unique));
        format!("{unique}{extension}")
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
