//! The error of loading a model. Its message says what is wrong with which file, and what to do.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use tessera_media::ingest::{file_names::printable_path, pointer_reason};
use tessera_model::SafeText;

/// The maximum length of a library message in an error, in characters.
const MAX_REASON_CHARS: usize = 240;

/// The reason why a model cannot be used, as a message for the terminal. The message contains local paths, so it must
/// not be sent to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub(super) String);

impl LoadError {
    /// Creates the message. `what` is the role of the file; `reason` says what is wrong and what to do.
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

/// Refuses a file that `git clone` leaves in the place of a large one.
pub(super) fn check_pointer(what: &str, path: &Path) -> Result<(), LoadError> {
    let mut head = Vec::new();
    // A file that cannot be read is reported when it is loaded.
    let _ = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    match pointer_reason(&head) {
        Some(why) => Err(LoadError::new(what, path, &format!("is {why}"))),
        None => Ok(()),
    }
}

const HEAD_BYTES: u64 = 64;
