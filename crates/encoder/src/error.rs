//! Errors of loading a model.

use std::{fmt, io, path::Path};

use tessera_media::path_display::printable_path;
use tessera_model::SafeText;

/// Length limit of library messages in errors, in characters.
const MAX_REASON_CHARS: usize = 240;

/// Why a model cannot be used, as a message for the terminal. Contains local paths, so it must not
/// be sent to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub(super) String);

impl LoadError {
    /// `what` is the role of the file; `reason` says what is wrong and what to do.
    pub fn new(what: &str, path: &Path, reason: &str) -> Self {
        Self(format!("the {what} {} {reason}", printable_path(path)))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

pub(super) fn short_reason(reason: &dyn fmt::Display) -> SafeText {
    SafeText::new(&reason.to_string(), MAX_REASON_CHARS)
}

pub(super) fn cannot_read(what: &str, path: &Path, cause: &io::Error) -> LoadError {
    LoadError::new(what, path, &format!("cannot be read ({cause}); check the path"))
}
