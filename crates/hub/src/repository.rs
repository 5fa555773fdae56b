//! The name of a repository of a hub, which is also the name of its folder in the cache.

use std::{fmt, str::FromStr};

use crate::HubError;

const MAX_LENGTH: usize = 96;

/// `ORGANIZATION/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryName(String);

impl RepositoryName {
    /// Returns the name of the repository's folder in the cache.
    pub fn folder_name(&self) -> String {
        format!("models--{}", self.0.replace('/', "--"))
    }

    /// Returns the repository of a folder in the cache.
    pub fn of_folder(name: &str) -> Option<Self> {
        let (organization, name) = name.strip_prefix("models--")?.split_once("--")?;
        format!("{organization}/{name}").parse().ok()
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RepositoryName {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_part = |part: &str| {
            let begins = part.starts_with(['-', '.']) || part.ends_with(['-', '.']);
            !part.is_empty() && !begins && part.chars().all(fits)
        };
        let is_name = text.len() <= MAX_LENGTH
            && !text.contains("--")
            && !text.contains("..")
            && text.split_once('/').is_some_and(|(one, two)| is_part(one) && is_part(two));
        if is_name {
            return Ok(Self(text.to_owned()));
        }
        let message = format!(
            "{text:?} is not the name of a repository, such as Xenova/clip-vit-base-patch32"
        );
        Err(HubError::new(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_folders_and_cannot_leave_the_cache() {
        let name: RepositoryName = "Xenova/clip-vit-base-patch32".parse().unwrap();
        assert_eq!(name.folder_name(), "models--Xenova--clip-vit-base-patch32");
        assert_eq!(RepositoryName::of_folder(&name.folder_name()), Some(name));
        for text in
            ["", "clip", "../clip", "a/../b", "a/b/c", "a/.b", "/a", "a/", "a--b/c", "a/b?c", "ä/b"]
        {
            assert!(text.parse::<RepositoryName>().is_err(), "{text}");
        }
    }
}
