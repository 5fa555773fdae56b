//! One object of a listing, and where it goes in a staging folder.

use std::{path::PathBuf, sync::Arc};

use crate::ingest::{file_kind::FileKind, file_names::sanitized_path};

/// An object to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    /// Its bucket.
    pub bucket: Arc<str>,
    /// Its key.
    pub key: String,
    /// Its size in bytes, where the listing tells.
    pub size: Option<u64>,
    /// How it is told apart from the others.
    pub path_root: PathRoot,
}

/// What of the name of an object is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRoot {
    /// The key after so many bytes: below the folder that was named.
    ListedFolder(usize),
    /// Bucket and key: it is from somewhere else.
    Bucket,
}

impl ObjectEntry {
    /// What it is by its name.
    #[must_use]
    pub fn file_kind(&self) -> FileKind {
        FileKind::from_name(&self.key)
    }

    /// Where it goes below a staging folder: always the same, a safe relative path.
    #[must_use]
    pub fn staging_path(&self) -> PathBuf {
        match self.path_root {
            PathRoot::ListedFolder(start) => {
                sanitized_path(self.key.get(start..).unwrap_or(&self.key))
            }
            PathRoot::Bucket => sanitized_path(&format!("{}/{}", self.bucket, self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_go_below_the_folder_whatever_they_are_called() {
        let path = |key: &str, place| {
            let entry = ObjectEntry {
                bucket: "photos".into(),
                key: key.to_owned(),
                size: None,
                path_root: place,
            };
            entry.staging_path().to_str().unwrap().to_owned()
        };
        assert_eq!(path("set/cats/1.jpg", PathRoot::ListedFolder(4)), "cats/1.jpg");
        assert_eq!(path("set/1.jpg", PathRoot::Bucket), "photos/set/1.jpg");
        assert!(path("set//etc/1.jpg", PathRoot::ListedFolder(4)).starts_with("etc/1_"));
        assert!(path("a\u{1b}\0.jpg", PathRoot::ListedFolder(0)).starts_with("a___"));
        assert!(path("C:\\x.jpg", PathRoot::ListedFolder(0)).starts_with("C_/x_"));
    }
}
