//! Why a model could not be had from a hub.

use std::{fmt, io, path::Path};

/// A sentence that says what happened and what to do. It contains neither a token nor the query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubError(String);

impl HubError {
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    pub(crate) fn file(action: &str, path: &Path, cause: &io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free space there, or name another folder with HF_HUB_CACHE, then try again"
            }
            _ => "",
        };
        Self(format!("cannot {action} {}: {cause}{remedy}", path.display()))
    }
}

impl fmt::Display for HubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HubError {}
