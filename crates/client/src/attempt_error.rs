//! Why one attempt of a request failed, and how `reqwest` errors map to that.
//!
//! Nothing here keeps the query of a URL: signed links are credentials, and error texts would leak
//! them.

use std::{error::Error, io, iter::successors};

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};

use crate::reach::ForbiddenAddress;
use tessera_model::{Failure, FailureKind, SafeText};

pub(super) const PROXY_LOGIN: &str = "the proxy requires a login";
pub(super) const PROXY_LOGIN_REMEDY: &str =
    "Put the user name and password into the variable of the proxy: http://USER:PASSWORD@HOST:PORT";

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
        } else if causes(&error).any(<dyn Error>::is::<ForbiddenAddress>) {
            let sentence = format!("a link leads to a target that is not allowed: {cause}");
            Self::Fatal(Failure::new(FailureKind::Unexpected, sentence))
        } else if is_certificate_error(&error) {
            let sentence = format!("cannot verify the identity of the service: {cause}");
            Self::Fatal(
                Failure::new(FailureKind::Unreachable, sentence).with_remedy(
                    "Check the address, the clock and the certificates of this machine",
                ),
            )
        } else if needs_proxy_login(&error) {
            let sentence = format!("no connection: {PROXY_LOGIN}");
            let failure = Failure::new(FailureKind::Unreachable, sentence);
            Self::Fatal(failure.with_remedy(PROXY_LOGIN_REMEDY))
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
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

/// All causes, outermost first. The source of an I/O error skips the error that it contains.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    successors(error.source(), |&cause| match cause.downcast_ref::<io::Error>() {
        Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => cause.source(),
    })
}

/// A handshake that failed because of its content is fatal; an interrupted one is not.
fn is_certificate_error(error: &reqwest::Error) -> bool {
    let mut io_causes = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    error.is_connect() && io_causes.any(|io| io.kind() == io::ErrorKind::InvalidData)
}

/// Whether a proxy refused to connect to an encrypted service. The type of this error is private.
fn needs_proxy_login(error: &reqwest::Error) -> bool {
    error.is_connect()
        && causes(error).any(|cause| cause.to_string().contains("proxy authorization required"))
}
