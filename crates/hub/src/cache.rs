//! The cache of the hub's own tools: `models--ORG--NAME` with `blobs`, the contents of files under their hashes,
//! `snapshots`, one folder of links for each commit, and `refs`, the commit of each branch.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tessera_files::{create_private_dir_durably, if_exists, parent_dir, sync_dir};

use crate::{HubError, HubFile, RepositoryName, listing::FileHash};

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
