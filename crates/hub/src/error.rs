//! Why a model could not be had from a hub.

use std::{fmt, io, path::Path};

/// A sentence that says what happened and what to do. It contains neither a token nor the query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubError {
    sentence: String,
    kind: HubErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubErrorKind {
    /// No hub answered, so what is in the cache may still be used.
    Unreachable,
    /// The hub failed, or cut the download off. Another attempt may succeed.
    Temporary,
    NoAccess,
    NotFound,
    Other,
}

impl HubError {
    pub fn new(sentence: impl Into<String>) -> Self {
        Self::of_kind(HubErrorKind::Other, sentence)
    }

    pub(crate) fn of_kind(kind: HubErrorKind, sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), kind }
    }

    pub(crate) fn unreachable(cause: &str) -> Self {
        let sentence = format!(
            "cannot reach the hub: {cause}; check the connection and HF_ENDPOINT, then try again"
        );
        Self::of_kind(HubErrorKind::Unreachable, sentence)
    }

    pub fn kind(&self) -> HubErrorKind {
        self.kind
    }

    pub(crate) fn file(action: &str, path: &Path, cause: &io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free space there, or name another folder with HF_HUB_CACHE, then try again"
            }
            _ => "",
        };
        Self::new(format!("cannot {action} {}: {cause}{remedy}", path.display()))
    }
}

impl fmt::Display for HubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for HubError {}
