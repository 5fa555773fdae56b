//! How a command ends: a contract for scripts, and one line for the person.

use std::io::{self, Write};

use crate::{
    local::LocalError,
    model::{Failure, FailureKind},
};

/// The exit codes (features: exit codes are a contract).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A failure without a code of its own.
    Failed = 1,
    /// Wrong use or configuration.
    Usage = 2,
    /// Network or server trouble; worth trying again.
    Network = 3,
    /// Login or permission.
    Login = 4,
    /// Not found, or no access.
    NotFound = 5,
    /// The state of the dataset forbids it.
    Conflict = 6,
    /// The work at the service ended badly.
    Remote = 7,
    /// Refused as invalid.
    Invalid = 8,
}

/// Why a command ended early.
#[derive(Debug)]
pub struct Ended {
    /// The code for scripts.
    pub exit: Exit,
    /// The sentence for people; empty when nobody listens any more.
    pub sentence: String,
}

impl Ended {
    /// An end with a sentence.
    #[must_use]
    pub fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self { exit, sentence: sentence.into() }
    }

    /// Tells it on standard error and gives the code.
    #[must_use]
    pub fn told(&self) -> i32 {
        if !self.sentence.is_empty() {
            // Nobody is left to be told when standard error is closed.
            let _ = writeln!(io::stderr(), "tessera: {}", self.sentence);
        }
        self.exit as i32
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        let exit = match failure.kind {
            FailureKind::Unreachable
            | FailureKind::NoAnswer
            | FailureKind::Server
            | FailureKind::Busy => Exit::Network,
            FailureKind::Login | FailureKind::Forbidden => Exit::Login,
            FailureKind::NotFound => Exit::NotFound,
            FailureKind::Conflict => Exit::Conflict,
            FailureKind::Invalid => Exit::Invalid,
            FailureKind::Unexpected | FailureKind::Local => Exit::Failed,
        };
        Self::new(exit, failure.to_string())
    }
}

impl From<LocalError> for Ended {
    fn from(error: LocalError) -> Self {
        let exit = if error.is_wrong_use() { Exit::Usage } else { Exit::Failed };
        Self::new(exit, error.to_string())
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        // `| head -1` is no mistake: the reader has what it wanted.
        let heard = error.kind() != io::ErrorKind::BrokenPipe;
        Self::new(Exit::Failed, if heard { error.to_string() } else { String::new() })
    }
}
