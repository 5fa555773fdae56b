//! Turns the error of one attempt into the failure that the user reads. This file classifies errors of `reqwest`,
//! explains each status, and adds a remedy to documented messages.
//!
//! No failure contains the query of a URL, because signed links are credentials and error texts would leak them.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use reqwest::{
    StatusCode, Url,
    header::{HeaderMap, LOCATION},
};

use crate::{
    reach::ForbiddenAddress,
    request::ApiRequest,
    retry::retry_after,
    tls_problem::{TlsProblem, needs_client_certificate},
};
use serde::de::IgnoredAny;
use tessera_crypto::causes;
use tessera_model::{Failure, FailureKind, Link, SafeText, text::format_wait};
use tessera_proxy::{UsedProxy, used_proxy};
use tessera_wire::endpoints::Endpoint;

pub(super) const PROXY_LOGIN: &str = "the proxy requires a login";
pub(super) const PROXY_LOGIN_REMEDY: &str = "Put the user name and password into the variable of the proxy, before the host: USER:PASSWORD@HOST:PORT";

const CONNECTION_REMEDY: &str = "Check that the service is running and that its address is correct";
const LATER: &str = "Try again later";
/// The longest requested pause that an error states. A longer one is a mistake of the service.
const MAX_STATED_PAUSE: Duration = Duration::from_hours(24 * 365);

#[derive(Debug)]
pub(super) enum AttemptError {
    /// No connection could be made, so nothing was sent.
    NoConnection(Cause),
    /// The request was sent at least partly, but no complete response arrived.
    NoResponse(Cause),
    Rejected(Box<ErrorResponse>),
    /// An error for which a retry would not help.
    Fatal(Failure),
}

/// Why an attempt ended without a response.
#[derive(Debug)]
pub(super) struct Cause {
    pub text: String,
    /// The address that failed, if a redirect may have led to another one than that of the request.
    pub peer: Option<Url>,
}

impl<T: Into<String>> From<T> for Cause {
    fn from(text: T) -> Self {
        Self { text: text.into(), peer: None }
    }
}

#[derive(Debug)]
pub(super) struct ErrorResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first bytes of the body.
    pub body: Bytes,
    pub detail: Option<SafeText>,
}

impl AttemptError {
    /// `peer` is the address to which a redirect has led, which the error does not name.
    pub(super) fn of(error: reqwest::Error, peer: Option<Url>) -> Self {
        let url = peer.clone().or_else(|| error.url().cloned());
        let address =
            url.as_ref().map_or_else(String::new, |url| format!(" at {}", origin_of(url)));
        let through_proxy = |failure: Failure| match &url {
            Some(url) => name_proxy(failure, url),
            None => failure,
        };
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
        } else if let Some(problem) = tls_problem(&error) {
            // The error does not show which of the two has presented the certificate.
            let proxy = url.as_ref().and_then(used_proxy).filter(UsedProxy::is_encrypted);
            let or_proxy = proxy.map_or("", |_| " or of the proxy");
            let sentence = format!(
                "cannot verify the identity of the service{address}{or_proxy}: {}",
                problem.cause
            );
            let failure = Failure::new(FailureKind::Unreachable, sentence);
            Self::Fatal(through_proxy(failure.with_remedy(problem.remedy)))
        } else if needs_proxy_login(&error, url.as_ref().and_then(used_proxy)) {
            let sentence = format!("no connection: {PROXY_LOGIN}");
            let failure = Failure::new(FailureKind::Unreachable, sentence);
            Self::Fatal(through_proxy(failure.with_remedy(PROXY_LOGIN_REMEDY)))
        } else if error.is_connect() {
            Self::NoConnection(Cause { text: cause, peer })
        } else {
            Self::NoResponse(Cause { text: cause, peer })
        }
    }

    /// Returns the reason of the error in a few words.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NoConnection(cause) => format!("no connection: {}", cause.text),
            Self::NoResponse(cause) => cause.text.clone(),
            Self::Rejected(rejection) => {
                format!("the service responded with {}", rejection.status.as_u16())
            }
            Self::Fatal(failure) => failure.message.to_string(),
        }
    }
}

pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Returns the innermost cause: `connection refused` instead of `error sending request`.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() && error.is_connect() {
        return "connecting took too long".to_owned();
    }
    causes(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns what is wrong if a handshake failed because of its content, such as the certificate, which is fatal. An
/// interrupted handshake is not fatal. A service reports a missing client certificate only after the handshake.
fn tls_problem(error: &reqwest::Error) -> Option<TlsProblem> {
    let problem = causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>())?;
    (error.is_connect() || needs_client_certificate(problem)).then(|| TlsProblem::of(problem))
}

/// Whether a proxy refused to connect without a valid login. The text is compared, because the type of this error is
/// private. The library reports a SOCKS proxy that requires a login as one that does not support it.
fn needs_proxy_login(error: &reqwest::Error, proxy: Option<UsedProxy>) -> bool {
    let has_login = proxy.is_some_and(|proxy| proxy.has_login());
    let is_refusal = |cause: &(dyn Error + 'static)| {
        let cause = cause.to_string();
        cause.contains("proxy authorization required")
            || cause.contains("credentials not accepted")
            || (!has_login && cause.contains("does not support user/pass authentication"))
    };
    error.is_connect() && causes(error).any(is_refusal)
}

#[derive(Clone, Copy)]
pub(super) struct FailureContext<'a> {
    pub request: &'a ApiRequest,
    pub login: SentLogin,
}

/// What a request was sent with to show who sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentLogin {
    None,
    /// A token that this program signs with a key pair.
    KeyPair,
    /// A token that was given to this program, which cannot renew it.
    Token,
    /// The session of a browser.
    Session,
}

impl FailureContext<'_> {
    pub(super) fn explain(&self, error: AttemptError) -> Failure {
        let rejection = match &error {
            AttemptError::Rejected(rejection) => Some(rejection),
            _ => None,
        };
        let status = rejection.map(|it| it.status.as_u16());
        // The errors of services are JSON, and those of proxies are pages.
        let is_json = |it: &ErrorResponse| serde_json::from_slice::<IgnoredAny>(&it.body).is_ok();
        let may_be_of_proxy = rejection.is_some_and(|it| !is_json(it));
        let failure = self.describe(error);
        let request = Some(self.request.method_and_path());
        let failure = Failure { status: status.or(failure.status), request, ..failure };
        let failure = add_known_remedy(self.request.endpoint, failure);
        if may_be_of_proxy { name_proxy(failure, &self.request.url) } else { failure }
    }

    fn describe(&self, error: AttemptError) -> Failure {
        let rule = self.request.endpoint.retry_rule();
        let purpose = rule.purpose;
        let or_request = |peer: Option<Url>| peer.unwrap_or_else(|| self.request.url.clone());
        match error {
            AttemptError::Fatal(failure) => failure,
            AttemptError::NoConnection(Cause { text, peer }) => {
                let url = or_request(peer);
                let origin = origin_of(&url);
                let failure = Failure::new(
                    FailureKind::Unreachable,
                    format!("cannot {purpose}: no connection to {origin} ({text})"),
                );
                name_proxy(failure.with_remedy(CONNECTION_REMEDY), &url)
            }
            AttemptError::NoResponse(Cause { text, .. }) if rule.has_side_effect() => {
                let origin = self.request.origin();
                let failure = Failure::new(
                    FailureKind::NoResponse,
                    format!(
                        "it is unknown whether {origin} received the request to {purpose}: {text}"
                    ),
                )
                .with_remedy("It may have started; sending it again would start another one");
                name_proxy(failure, &self.request.url)
            }
            AttemptError::NoResponse(Cause { text, peer }) => {
                let url = or_request(peer);
                let origin = origin_of(&url);
                let failure = Failure::new(
                    FailureKind::NoResponse,
                    format!("cannot {purpose}: no complete response came from {origin} ({text})"),
                )
                .with_remedy(match url.scheme() {
                    "http" => "Check the service; if this port is encrypted, use https://",
                    _ => "Check the service and what is between it and this machine",
                });
                name_proxy(failure, &url)
            }
            AttemptError::Rejected(rejection) => self.rejected(*rejection),
        }
    }

    fn rejected(&self, rejection: ErrorResponse) -> Failure {
        let status = rejection.status.as_u16();
        if rejection.status.is_redirection() {
            return self.redirected(&rejection);
        }
        let (kind, reason, remedy) = self.describe_status(status);
        let sentence =
            format!("cannot {}: {reason} ({status})", self.request.endpoint.retry_rule().purpose);
        let is_pause = |pause: &Duration| !pause.is_zero() && *pause <= MAX_STATED_PAUSE;
        let retry_after = retry_after(&rejection).filter(is_pause);
        let failure = Failure::new(kind, sentence).with_detail(rejection.detail);
        let failure = Failure { retry_after, ..failure };
        match (remedy, retry_after) {
            (None | Some(LATER), Some(pause)) => {
                failure.with_remedy(format!("Try again in {}", format_wait(pause)))
            }
            (Some(remedy), _) => failure.with_remedy(remedy),
            (None, _) => failure,
        }
    }

    /// What a status means and what to do about it (API document, "Errors").
    fn describe_status(&self, status: u16) -> (FailureKind, &'static str, Option<&'static str>) {
        let endpoint = self.request.endpoint;
        let rule = endpoint.retry_rule();
        match status {
            401 | 403 if endpoint.follows_link() => {
                (FailureKind::Forbidden, "the link was rejected", Some("It may have expired"))
            }
            401 if self.login == SentLogin::Session => (
                FailureKind::Unauthorized,
                "the session was not accepted",
                Some("Sign in again in the browser, and copy the SESSION cookie again"),
            ),
            401 if self.login == SentLogin::KeyPair => (
                FailureKind::Unauthorized,
                "the credentials were rejected",
                Some("Check the API key and its secret"),
            ),
            401 if self.login == SentLogin::Token => (
                FailureKind::Unauthorized,
                "the token was rejected",
                Some("It may have expired: set TESSERA_TOKEN to a new one, or use a key pair"),
            ),
            401 => (
                FailureKind::Unauthorized,
                "this service requires a login",
                Some("A hosted deployment needs an API key and its secret"),
            ),
            403 => (
                FailureKind::Forbidden,
                "the service does not allow it",
                (self.login != SentLogin::None).then_some("The login may lack permission"),
            ),
            404 | 410 => (FailureKind::NotFound, rule.not_found_text, None),
            407 => (FailureKind::Unreachable, PROXY_LOGIN, Some(PROXY_LOGIN_REMEDY)),
            409 => {
                (FailureKind::Conflict, "not possible in the current state of the dataset", None)
            }
            429 => (FailureKind::RateLimited, "the service is limiting requests", Some(LATER)),
            400 | 413 | 415 | 422 => (FailureKind::Invalid, "the request was rejected", None),
            500..=599 => (
                FailureKind::Server,
                "the service failed",
                rule.has_side_effect()
                    .then_some("It may have started; check before sending it again"),
            ),
            _ => (FailureKind::Unexpected, "unexpected response", None),
        }
    }

    fn redirected(&self, rejection: &ErrorResponse) -> Failure {
        let target = rejection.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let target = Link::new(target.unwrap_or("nowhere"));
        let sentence = format!(
            "cannot {}: {} redirects to {target} ({})",
            self.request.endpoint.retry_rule().purpose,
            self.request.origin(),
            rejection.status.as_u16()
        );
        let failure = Failure::new(FailureKind::Unexpected, sentence);
        if self.request.endpoint.follows_link() {
            return failure.with_remedy("A link is followed only to http and https addresses");
        }
        failure.with_remedy("Requests are not redirected; correct the base URL")
    }
}

/// Adds the proxy through which a request to this address went, because the proxy may have caused the failure.
fn name_proxy(failure: Failure, url: &Url) -> Failure {
    let Some(proxy) = used_proxy(url) else { return failure };
    let remedy = failure.remedy.as_ref().map(|remedy| format!("{remedy}. ")).unwrap_or_default();
    failure.with_remedy(format!("{remedy}The request went through {proxy}; check this proxy, too"))
}

/// The known errors, one a line: the status, a part of the message in lower case, the code, and the remedy.
const KNOWN_ERRORS: &str = include_str!("known_errors.txt");

/// Returns the code and the remedy of a known error.
fn known_error(status: u16, message: &str) -> Option<(&'static str, &'static str)> {
    KNOWN_ERRORS.lines().find_map(|line| {
        let mut fields = line.split(" | ");
        let has_status = fields.next()?.parse() == Ok(status);
        let is_known = message.contains(fields.next()?) && has_status;
        is_known.then_some((fields.next()?, fields.next()?))
    })
}

/// Adds the code and remedy of a documented message.
pub(super) fn add_known_remedy(endpoint: Endpoint, failure: Failure) -> Failure {
    let message = failure.detail.as_ref().map(|detail| detail.as_str().to_lowercase());
    let message = message.unwrap_or_default();
    match failure.status.and_then(|status| known_error(status, &message)) {
        Some((code, remedy)) => {
            // Other errors with this status may have had an effect, or end by themselves.
            let is_refused = failure.status == Some(503) || endpoint.adds_media();
            let kind =
                if code == "disk_full" && is_refused { FailureKind::Local } else { failure.kind };
            Failure { kind, code: Some(code), ..failure.with_remedy(remedy) }
        }
        // A 403 has two meanings, and the message may not distinguish them.
        None if failure.status == Some(403) && endpoint.adds_media() => failure.with_remedy(
            "Either adding media is disabled, or you have no write access to the dataset",
        ),
        None => failure,
    }
}
