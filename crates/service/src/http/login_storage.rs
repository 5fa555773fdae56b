//! Where the login of a service is kept.

use std::{fmt, path::PathBuf, sync::Arc};

use tessera_store::Store;

#[derive(Clone)]
pub(super) enum LoginStorage {
    /// Only in memory.
    None,
    File(PathBuf),
    Store(Arc<Store>),
}

impl fmt::Debug for LoginStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::File(_) => "File",
            Self::Store(_) => "Store",
        })
    }
}
