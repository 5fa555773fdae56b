//! Why one attempt of a request failed, and how `reqwest` errors map to that.
//!
//! Nothing here keeps the query of a URL: signed links are credentials, and error texts would leak
//! them.

use std::error::Error as _;

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};

use tessera_model::{Failure, FailureKind, SafeText};

#[derive(Debug)]
pub(super) enum AttemptError {
    /// No connection was made, so nothing was sent.
    NoConnection(String),
    /// The request was sent, at least partly, and no complete response arrived.
    NoResponse(String),
    Rejected(Box<ErrorResponse>),
    /// A retry would not help.
    Fatal(Failure),
}

/// A response with an error status.
#[derive(Debug)]
pub(super) struct ErrorResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first bytes of the body.
    pub body: Bytes,
    pub detail: Option<SafeText>,
}

impl From<reqwest::Error> for AttemptError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let cause = root_cause(&error);
        if error.is_redirect() {
            let sentence = format!("a link redirects to a target that is not allowed: {cause}");
            Self::Fatal(Failure::new(FailureKind::Unexpected, sentence))
        } else if error.is_builder() {
            let sentence = format!("cannot build the request: {cause}");
            Self::Fatal(Failure::local(sentence))
        } else if is_certificate_error(&error) {
            let sentence = format!("cannot verify the identity of the service: {cause}");
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

/// Returns the innermost cause: `connection refused` instead of `error sending request`.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() && error.is_connect() {
        return "connecting took too long".to_owned();
    }
    let mut cause = error.source();
    let mut text = error.to_string();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}

/// A handshake that failed because of its content is fatal; an interrupted one is not.
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
