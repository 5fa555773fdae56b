//! An object of a listing and its path in a staging directory.

use std::{path::PathBuf, sync::Arc};

use crate::ingest::{file_kind::FileKind, file_names::sanitized_path};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    pub bucket: Arc<str>,
    pub key: String,
    /// Size in bytes, if the listing contains it.
    pub size: Option<u64>,
    /// Which part of its name becomes its path.
    pub path_root: PathRoot,
}

/// The part of an object's name that is kept in its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRoot {
    /// The key after this many bytes, that is, relative to the listed folder.
    ListedFolder(usize),
    /// Bucket and key: the object is outside the listed folder.
    Bucket,
}

impl ObjectEntry {
    /// Its kind by extension.
    #[must_use]
    pub fn file_kind(&self) -> FileKind {
        FileKind::from_name(&self.key)
    }

    /// Its path below a staging directory: stable, relative and safe.
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
