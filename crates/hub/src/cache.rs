//! The cache of the hub's own tools. A repository has the folder `models--ORG--NAME` with `blobs`, the contents of files
//! under their hashes, `snapshots`, one folder of links for each commit, and `refs`, the commit of each branch.

use std::{
    fmt, fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    str::FromStr,
};

use tessera_files::{create_private_dir_durably, if_exists, parent_dir, sync_dir};

use crate::{HubError, HubFile, listing::FileHash};

/// The length of the longest name of a repository.
const MAX_NAME_LENGTH: usize = 96;

/// The name of a repository: `ORGANIZATION/NAME`.
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
        let is_name = text.len() <= MAX_NAME_LENGTH
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

/// Returns the folder with the latest files of a repository that are in the cache.
pub fn cached_snapshot(cache: &Path, repository: &RepositoryName) -> Option<PathBuf> {
    let folder = cache.join(repository.folder_name());
    let commit = fs::read_to_string(folder.join("refs/main")).ok()?;
    let commit = commit.trim();
    let is_name = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let snapshot = folder.join("snapshots").join(commit);
    (is_name && snapshot.is_dir()).then_some(snapshot)
}

/// The folder of a repository in the cache.
pub(crate) struct CachedRepository {
    pub folder: PathBuf,
}

impl CachedRepository {
    pub fn new(cache: &Path, repository: &RepositoryName) -> Self {
        Self { folder: cache.join(repository.folder_name()) }
    }

    /// Returns the path of the content of a file.
    pub fn blob(&self, hash: &FileHash) -> PathBuf {
        self.folder.join("blobs").join(hash.as_str())
    }

    pub fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    /// Links a file of a commit to its content.
    pub fn link(&self, commit: &str, file: &HubFile) -> Result<(), HubError> {
        let link = self.snapshot(commit).join(&file.path);
        let depth = file.path.split('/').count() + 1;
        let target = format!("{}blobs/{}", "../".repeat(depth), file.hash.as_str());
        let write = || {
            create_private_dir_durably(parent_dir(&link))?;
            if fs::read_link(&link).is_ok_and(|found| found == Path::new(&target)) {
                return Ok(());
            }
            if_exists(fs::remove_file(&link))?;
            symlink(&target, &link)?;
            sync_dir(parent_dir(&link))
        };
        write().map_err(|cause: io::Error| HubError::file("link", &link, &cause))
    }

    /// Makes a commit the one that is found by the name of the repository.
    pub fn set_main(&self, commit: &str) -> Result<(), HubError> {
        let path = self.folder.join("refs/main");
        let write = || {
            create_private_dir_durably(parent_dir(&path))?;
            tessera_files::write_durably(&path, commit.as_bytes())
        };
        write().map_err(|cause: io::Error| HubError::file("write", &path, &cause))
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
