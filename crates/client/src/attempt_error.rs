//! What can end one attempt without a result, and how the errors of `reqwest` are sorted into it.
//!
//! Nothing here keeps a URL with its query: signed links are credentials, and those errors would
//! name them.

use std::error::Error as _;

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

use tessera_model::{Failure, FailureKind, SafeText};

/// Why one attempt gave no result.
#[derive(Debug)]
pub(super) enum AttemptError {
    /// No connection: nothing of the request was sent. With the cause in words.
    NoConnection(String),
    /// The request, or part of it, was sent and no whole answer came back. With the cause.
    NoResponse(String),
    /// The service answered with something other than success.
    Rejected(Box<ErrorResponse>),
    /// Trying again would not change anything.
    Fatal(Failure),
}

/// An answer that is no success.
#[derive(Debug)]
pub(super) struct ErrorResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first bytes of the body.
    pub body: Bytes,
    /// The service's own words.
    pub detail: Option<SafeText>,
}

impl ErrorResponse {
    /// The header `Retry-After`, as it came.
    pub(super) fn retry_after(&self) -> Option<&str> {
        self.headers.get(RETRY_AFTER)?.to_str().ok()
    }
}

impl From<reqwest::Error> for AttemptError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let cause = root_cause(&error);
        if error.is_redirect() {
            let sentence = format!("a link leads where this program does not follow: {cause}");
            Self::Fatal(Failure::new(FailureKind::Unexpected, sentence))
        } else if error.is_builder() {
            let sentence = format!("the request cannot be made: {cause}");
            Self::Fatal(Failure::new(FailureKind::Local, sentence))
        } else if is_certificate_error(&error) {
            let sentence = format!("the service cannot be trusted: {cause}");
            Self::Fatal(
                Failure::new(FailureKind::Unreachable, sentence).with_remedy(
                    "Check the address, the clock and the certificates of this machine",
                ),
            )
        } else if error.is_connect() {
            Self::NoConnection(cause)
        } else {
            Self::NoResponse(cause)
        }
    }
}

/// The innermost cause: `connection refused` rather than `error sending request`.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() && error.is_connect() {
        return "connecting took too long".to_owned();
    }
    let mut cause = error.source();
    let mut words = error.to_string();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}

/// A handshake that failed by its content is fatal; one that was cut off is not.
fn is_certificate_error(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let io = inner.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::InvalidData) {
            return error.is_connect();
        }
        cause = inner.source();
    }
    false
}
