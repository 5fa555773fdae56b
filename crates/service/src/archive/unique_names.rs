//! Names inside `images/`: a single path component, safe to unpack anywhere, and unique even on
//! case-insensitive file systems.

use std::collections::HashSet;

#[derive(Debug, Default)]
pub struct UniqueNames {
    taken: HashSet<String>,
}

impl UniqueNames {
    /// Returns a new name similar to `wanted`. The same calls in the same order return the same
    /// names.
    pub fn unique(&mut self, wanted: &str) -> String {
        let safe: String = wanted
            .chars()
            .map(|c| if c.is_control() || r#"/\<>:"|?*"#.contains(c) { '_' } else { c })
            .collect();
        let (stem, extension) = match safe.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
            _ => (safe.as_str(), String::new()),
        };
        let mut name = safe.clone();
        let mut number = 2;
        while !self.taken.insert(name.to_lowercase()) {
            name = format!("{stem}_{number}{extension}");
            number += 1;
        }
        name
    }
}
