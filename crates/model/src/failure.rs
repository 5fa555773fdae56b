//! What went wrong, as a value: a kind the program can act on, a sentence for people, what to
//! do about it, and the service's own words.

use std::fmt;

use crate::SafeText;

/// The kind decides what happens next: retry, login, refresh, or give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No connection could be made; nothing was sent.
    Unreachable,
    /// Something was sent and no answer came: a write may or may not have happened.
    NoResponse,
    /// The service said it is broken or overloaded (5xx).
    Server,
    /// The service asks to wait (429).
    RateLimited,
    /// The credentials were refused (401).
    Unauthorized,
    /// The credentials are fine, the permission is missing (403).
    Forbidden,
    /// It does not exist, or the caller may not know that it does (404).
    NotFound,
    /// The state of the dataset forbids it (409).
    Conflict,
    /// The request was refused as invalid (400, 413, 415, 422).
    Invalid,
    /// The answer could not be understood.
    Unexpected,
    /// This machine: disk, permissions, a file that is no image.
    Local,
}

/// A failure, ready to be shown and to be acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happens next depends on it.
    pub kind: FailureKind,
    /// What went wrong and where, in our words; printable.
    pub message: SafeText,
    /// What to do about it; printable.
    pub remedy: Option<SafeText>,
    /// The service's own words.
    pub detail: Option<SafeText>,
    /// What the service's own words mean, in a word for programs, where they are known ones.
    pub code: Option<&'static str>,
    /// The HTTP status, when the service answered.
    pub status: Option<u16>,
    /// The request that failed: `GET /api/v1/datasets`.
    pub request: Option<SafeText>,
}

impl Failure {
    /// A failure with a sentence for people.
    pub fn new(kind: FailureKind, sentence: impl AsRef<str>) -> Self {
        Self {
            kind,
            message: SafeText::detail(sentence.as_ref()),
            remedy: None,
            detail: None,
            code: None,
            status: None,
            request: None,
        }
    }

    /// Work on a thread of its own that ended in a panic.
    pub fn internal_error() -> Self {
        Self::new(FailureKind::Local, "this met a fault of the program itself")
            .with_remedy("Please report it")
    }

    /// Adds what to do about it.
    pub fn with_remedy(mut self, remedy: impl AsRef<str>) -> Self {
        self.remedy = Some(SafeText::detail(remedy.as_ref()));
        self
    }

    /// Adds the service's own words.
    pub fn with_detail(mut self, detail: Option<SafeText>) -> Self {
        self.detail = detail.filter(|words| !words.is_empty());
        self
    }

    /// Whether a change that was asked for may have been made all the same: no answer came, or the
    /// service broke over it.
    pub fn may_have_taken_effect(&self) -> bool {
        matches!(self.kind, FailureKind::NoResponse | FailureKind::Server)
    }

    /// Whether the link to the service is what failed, so that trying again later may help.
    pub fn is_connection_failure(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::Unreachable
                | FailureKind::NoResponse
                | FailureKind::Server
                | FailureKind::RateLimited
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some(detail) = &self.detail {
            write!(f, " (the service says: {detail})")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, ". {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
