//! A failed request as data: the kind decides how the program reacts, and the message and the remedy are shown to the
//! user.

use std::{fmt, time::Duration};

use crate::SafeText;

/// The kind of a failure, which decides what happens next: retry, log in, refresh, or give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No connection could be made, so nothing was sent.
    Unreachable,
    /// The request was sent but no response arrived, so a write may have taken effect.
    NoResponse,
    /// 5xx.
    Server,
    /// 429.
    RateLimited,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// The status of the dataset forbids the request (409).
    Conflict,
    /// 400, 413, 415, 422.
    Invalid,
    /// The response reports an error, even if its status code does not.
    Rejected,
    /// The response does not show whether a write was accepted, so the write may have taken effect.
    Unconfirmed,
    /// The response could not be parsed.
    Unexpected,
    /// The cause is on this machine (the disk, permissions, or an unreadable file), or the disk of the service is full.
    Local,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: SafeText,
    pub remedy: Option<SafeText>,
    pub detail: Option<SafeText>,
    /// A machine-readable code for known messages of the service.
    pub code: Option<&'static str>,
    pub status: Option<u16>,
    /// The pause that the service requests before the next request.
    pub retry_after: Option<Duration>,
    /// The request that failed: `GET /api/v1/datasets`.
    pub request: Option<SafeText>,
}

impl Failure {
    pub fn new(kind: FailureKind, sentence: impl AsRef<str>) -> Self {
        Self {
            kind,
            message: SafeText::detail(sentence.as_ref()),
            remedy: None,
            detail: None,
            code: None,
            status: None,
            retry_after: None,
            request: None,
        }
    }

    pub fn local(sentence: impl AsRef<str>) -> Self {
        Self::new(FailureKind::Local, sentence)
    }

    /// The failure of a worker thread that panicked.
    pub fn internal_error() -> Self {
        Self::local("internal error").with_remedy("Please report this bug")
    }

    /// Returns what the failure is, with its remedy, as it is shown.
    pub fn to_safe_text(&self) -> SafeText {
        SafeText::detail(&self.to_string())
    }

    pub fn with_remedy(mut self, remedy: impl AsRef<str>) -> Self {
        self.remedy = Some(SafeText::detail(remedy.as_ref()));
        self
    }

    pub fn with_detail(mut self, detail: Option<SafeText>) -> Self {
        self.detail = detail.filter(|detail| !detail.is_empty());
        self
    }

    pub fn may_have_taken_effect(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::NoResponse | FailureKind::Server | FailureKind::Unconfirmed
        )
    }

    /// Whether the same request may succeed later. A request with wrong parameters fails every time.
    pub fn may_succeed_later(&self) -> bool {
        self.kind != FailureKind::Invalid
    }

    /// Whether the response shows that the service accepted the login. A service checks the login first, so it accepted
    /// the login of a request that it refuses for another reason. A response that is not from the API shows nothing,
    /// because it may be from a proxy or a login page.
    pub fn shows_accepted_login(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::Forbidden
                | FailureKind::NotFound
                | FailureKind::Conflict
                | FailureKind::Invalid
        )
    }

    /// Whether the response, if there is one, says nothing about what was requested, so that a later retry may succeed.
    /// A page of a proxy, a redirect and an unreadable body are no responses of the API.
    pub fn is_inconclusive(&self) -> bool {
        self.is_connection_failure()
            || matches!(self.kind, FailureKind::Rejected | FailureKind::Unexpected)
    }

    /// Whether the connection failed, so that a later retry may succeed.
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
            write!(f, " (service: {detail})")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(f, ". {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The code of a failure that occurs because the secret of the login is missing.
pub const NO_SECRET: &str = "no_secret";

/// Explains what the HTTP status of a login check says about the login. Returns `None` if the status says nothing.
/// `by_dataset` is true if the check read a dataset, and false if it read the list of datasets.
pub fn login_check_text(http_status: u16, by_dataset: bool) -> Option<&'static str> {
    Some(match http_status {
        401 => "401: the key has expired or is wrong, or the secret does not match",
        403 if by_dataset => "403: the login works, but has no permission for this dataset",
        403 => "403: the login works, but has no permission to list datasets",
        404 if by_dataset => "404: no such dataset, or no access to it",
        _ => return None,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// What the request does, as the table of endpoints says.
    pub purpose: &'static str,
    pub method: &'static str,
    /// Path and query, preceded by the host if the host is not that of the service.
    pub target: SafeText,
    /// Counted from 1.
    pub attempt: u32,
    pub duration: Duration,
    pub bytes_sent: u64,
    pub outcome: RequestOutcome,
    pub retry_in: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    Succeeded {
        status: u16,
        /// Size of the decoded body.
        bytes: u64,
    },
    Rejected {
        status: u16,
        message: Option<SafeText>,
    },
    Failed(SafeText),
}
