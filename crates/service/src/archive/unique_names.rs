//! Names inside `images/`: safe to unpack anywhere, and unique even ignoring case.

use std::collections::HashSet;

#[derive(Debug, Default)]
pub struct UniqueNames {
    used: HashSet<String>,
}

impl UniqueNames {
    /// The same calls in the same order return the same names.
    pub fn unique(&mut self, file_name: &str) -> String {
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
