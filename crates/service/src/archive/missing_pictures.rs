//! Collects the pictures that an archive lacks, and describes them to the client of the export.

use std::collections::{BTreeMap, HashSet};

use tessera_model::{SafeText, text::count_with_noun};
use tessera_store::media::MediaRecord;

/// The pictures that an archive lacks.
#[derive(Debug, Default)]
pub(crate) struct MissingPictures {
    /// The rows of pictures that could not be read.
    pub unreadable: HashSet<i64>,
    /// The pictures whose files have changed since they were indexed, by row.
    pub changed: BTreeMap<i64, MediaRecord>,
}

/// The maximum number of changed files that a message names.
const MAX_NAMED: usize = 10;

impl MissingPictures {
    pub fn contains(&self, row: i64) -> bool {
        self.unreadable.contains(&row) || self.changed.contains_key(&row)
    }

    /// Describes what is missing, or returns `None` if nothing is.
    pub fn message(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.unreadable.is_empty() {
            parts.push(format!("{} pictures could not be read", self.unreadable.len()));
        }
        if !self.changed.is_empty() {
            let first = self.changed.values().take(MAX_NAMED);
            let mut names: Vec<String> =
                first.map(|media| SafeText::name(&media.file_path()).to_string()).collect();
            let further = self.changed.len().saturating_sub(MAX_NAMED);
            if further > 0 {
                names.push(format!("and {further} more"));
            }
            let count = count_with_noun(self.changed.len() as u64, "picture", "pictures");
            parts.push(format!(
                "{count} changed after indexing and {} left out: {}. Rescan the dataset, and export again",
                if self.changed.len() == 1 { "was" } else { "were" },
                names.join(", ")
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
