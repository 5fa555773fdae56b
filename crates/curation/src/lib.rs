//! Acts on the user's originals: moves, copies, links and trashes files, together with the sidecars of each picture.
//!
//! [`Plan`] decides what happens to each file, without changing anything. [`run()`] carries a plan out and records it
//! in a [`Journal`], from which [`resume()`] continues after a crash and [`undo()`] reverts. No function of this crate
//! replaces a file that it has not created, and none removes the last copy of any bytes.

mod annotation_text;
mod annotations;
pub mod duplicates;
mod file_attributes;
mod file_operations;
mod journal;
mod plan;
mod preview;
mod run;
mod stored_path;
mod trash_can;
mod undo;

pub use annotations::{AnnotationFile, NamedEntry};
pub use file_operations::{FileContent, check_target_folder};
pub use journal::{ActionId, Header, Journal, JournalFolder, Record};
pub use plan::{
    FileAction, FoundOriginals, LinkKind, NameRule, Operation, Original, Plan, Replacement,
    SharedSidecar, Skipped, Step, TargetLayout, name_rule,
};
pub use preview::{FileActionPreview, LastAction, first_skipped};
pub use run::{Outcome, Progress, resume, run};
pub use trash_can::check_trash;
pub use undo::undo;

use std::{fmt, io};

/// Why an action cannot start, or cannot go on.
#[derive(Debug)]
pub enum Error {
    /// Another process carries an action out.
    Busy,
    /// The last action was interrupted, and has to be resumed or undone first.
    Interrupted { done: usize, all: usize },
    /// There is no action to undo.
    Nothing,
    /// Another action came after the action that was shown to the user.
    NotLast,
    /// The last action was not interrupted.
    NotInterrupted,
    /// The journal cannot be read or written.
    Journal(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str(
                "another process of this program is acting on files; wait until it has finished",
            ),
            Self::Interrupted { done, all } => write!(
                f,
                "the last action was interrupted after {done} of {all} files; continue it with `tessera media resume`, \
                 or revert it with `tessera media undo`"
            ),
            Self::Nothing => f.write_str("there is no action on files to undo or resume"),
            Self::NotLast => f.write_str(
                "nothing was reverted, because another action on files came after the action that was shown; start the undo \
                 again to see the newest action",
            ),
            Self::NotInterrupted => f.write_str(
                "no action on files was interrupted; `tessera media undo` reverts the last one",
            ),
            Self::Journal(error) => write!(f, "the journal of actions cannot be used: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Journal(error)
    }
}
