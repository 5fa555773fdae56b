//! The location of a picture: a link of the service, a local file, or an entry of a local archive.

use std::{fmt, path::PathBuf};

use crate::{Link, SafeText};

/// Prints safely, without the signature of a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSource {
    Link(Link),
    File(PathBuf),
    Entry(PathBuf, String),
}

impl fmt::Display for PictureSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => link.fmt(f),
            Self::File(path) => SafeText::file_name(&path.display().to_string()).fmt(f),
            Self::Entry(_, name) => SafeText::file_name(name).fmt(f),
        }
    }
}
