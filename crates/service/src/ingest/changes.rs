//! What is different from the last time: by size and time alone, so that an unchanged folder is
//! known to be unchanged without opening a file.

use std::{collections::BTreeMap, path::PathBuf};

use super::walk::{Found, Survey};
use crate::store::intake::Known;

/// The difference between a walk and what is known.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Files that are new or look different, with the content known of them.
    pub fresh: Vec<(Found, Option<[u8; 32]>)>,
    /// Known files that are gone.
    pub vanished: Vec<PathBuf>,
}

impl Changes {
    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.vanished.is_empty()
    }
}

/// Compares a walk with what is known.
#[must_use]
pub fn compare(survey: &Survey, mut known: BTreeMap<PathBuf, Known>) -> Changes {
    let mut changes = Changes::default();
    for found in &survey.files {
        match known.remove(&found.path) {
            Some(old) if old.stamp == found.stamp => {}
            old => changes.fresh.push((found.clone(), old.and_then(|old| old.content))),
        }
    }
    changes.vanished = known.into_keys().collect();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::intake::Stamp;

    #[test]
    fn new_changed_and_vanished_files_are_told_apart() {
        let found =
            |path: &str, size| Found { path: path.into(), stamp: Stamp { size, modified: 7 } };
        let survey = Survey {
            files: vec![found("changed", 2), found("new", 1), found("same", 1)],
            passed_over: Vec::new(),
        };
        let known = ["changed", "gone", "same"].map(|path| {
            let stamp = Stamp { size: 1, modified: 7 };
            (PathBuf::from(path), Known { stamp, content: Some([3; 32]) })
        });
        let changes = compare(&survey, BTreeMap::from(known));
        let expected = vec![(found("changed", 2), Some([3; 32])), (found("new", 1), None)];
        assert_eq!(changes.fresh, expected);
        assert_eq!(changes.vanished, [PathBuf::from("gone")]);
        assert!(!changes.is_empty());
    }
}
