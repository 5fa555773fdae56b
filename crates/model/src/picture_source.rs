//! Where a picture is, when it may be elsewhere than behind the service.

use std::{fmt, path::PathBuf};

use crate::{Link, SafeText};

/// Where a picture is. Printed, it is safe and without the signature of a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSource {
    /// Behind a link of the service.
    Link(Link),
    /// A file of this machine.
    File(PathBuf),
    /// An entry of a ZIP archive of this machine, by its name in there.
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
