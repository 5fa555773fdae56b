//! Where a picture is, when it may be elsewhere than behind the service.

use std::path::PathBuf;

use crate::model::Link;

/// Where a picture is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSource {
    /// Behind a link of the service.
    Link(Link),
    /// A file of this machine.
    File(PathBuf),
}
