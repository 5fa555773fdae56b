//! One object of a listing, and where it goes in a staging folder.

use std::{path::PathBuf, sync::Arc};

use crate::ingest::{kind::Kind, names::mended};

/// An object to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its bucket.
    pub bucket: Arc<str>,
    /// Its key.
    pub key: String,
    /// Its size in bytes, where the listing tells.
    pub size: Option<u64>,
    /// How it is told apart from the others.
    pub place: Place,
}

/// What of the name of an object is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The key after so many bytes: below the folder that was named.
    Below(usize),
    /// Bucket and key: it is from somewhere else.
    Anywhere,
}

impl Entry {
    /// What it is by its name.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::of(&self.key)
    }

    /// Where it goes below a staging folder: always the same, a safe relative path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self.place {
            Place::Below(start) => mended(self.key.get(start..).unwrap_or(&self.key)),
            Place::Anywhere => mended(&format!("{}/{}", self.bucket, self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e08_objects_go_below_the_folder_whatever_they_are_called() {
        let path = |key: &str, place| {
            let entry = Entry { bucket: "photos".into(), key: key.to_owned(), size: None, place };
            entry.path().to_str().unwrap().to_owned()
        };
        assert_eq!(path("set/cats/1.jpg", Place::Below(4)), "cats/1.jpg");
        assert_eq!(path("set/1.jpg", Place::Anywhere), "photos/set/1.jpg");
        assert!(path("set//etc/1.jpg", Place::Below(4)).starts_with("etc/1_"));
        assert!(path("a\u{1b}\0.jpg", Place::Below(0)).starts_with("a___"));
        assert!(path("C:\\x.jpg", Place::Below(0)).starts_with("C_/x_"));
    }
}
