//! Turns an [`AttemptError`] into a [`Failure`] for the user: one match and one table of statuses.

use reqwest::header::LOCATION;

use crate::{
    attempt_error::{AttemptError, ErrorResponse, PROXY_LOGIN, PROXY_LOGIN_REMEDY},
    known_errors,
    request::ApiRequest,
};
use tessera_model::{Failure, FailureKind, Link};

#[derive(Clone, Copy)]
pub(super) struct FailureContext<'a> {
    pub request: &'a ApiRequest,
    pub hosted: bool,
    /// Whether it was sent with the session of a browser.
    pub by_session: bool,
}

impl FailureContext<'_> {
    pub(super) fn explain(&self, error: AttemptError) -> Failure {
        let status = match &error {
            AttemptError::Rejected(rejection) => Some(rejection.status.as_u16()),
            _ => None,
        };
        let failure = self.describe(error);
        let request = Some(self.request.method_and_path());
        let failure = Failure { status: status.or(failure.status), request, ..failure };
        known_errors::add_known_remedy(self.request.operation, failure)
    }

    fn describe(&self, error: AttemptError) -> Failure {
        let rule = self.request.operation.retry_rule();
        let (purpose, origin) = (rule.purpose, self.request.origin());
        match error {
            AttemptError::Fatal(failure) => failure,
            AttemptError::NoConnection(cause) => Failure::new(
                FailureKind::Unreachable,
                format!("cannot {purpose}: no connection to {origin} ({cause})"),
            )
            .with_remedy("Check that the service is running and that its address is correct"),
            AttemptError::NoResponse(cause) if rule.has_side_effect() => Failure::new(
                FailureKind::NoResponse,
                format!(
                    "it is unknown whether {origin} received the request to {purpose}: {cause}"
                ),
            )
            .with_remedy("It may have started; sending it again would start another one"),
            AttemptError::NoResponse(cause) => Failure::new(
                FailureKind::NoResponse,
                format!("cannot {purpose}: {origin} did not respond ({cause})"),
            ),
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
            format!("cannot {}: {reason} ({status})", self.request.operation.retry_rule().purpose);
        let failure = Failure::new(kind, sentence).with_detail(rejection.detail);
        match remedy {
            Some(remedy) => failure.with_remedy(remedy),
            None => failure,
        }
    }

    /// What a status means and what to do about it (interface document, "Errors").
    fn describe_status(&self, status: u16) -> (FailureKind, &'static str, Option<&'static str>) {
        let operation = self.request.operation;
        let rule = operation.retry_rule();
        match status {
            401 | 403 if operation.follows_link() => {
                (FailureKind::Forbidden, "the link was rejected", Some("It may have expired"))
            }
            401 if self.by_session => (
                FailureKind::Unauthorized,
                "the session was not accepted",
                Some("Sign in again in the browser, and copy the SESSION cookie again"),
            ),
            401 if self.hosted => (
                FailureKind::Unauthorized,
                "the credentials were rejected",
                Some("Check the API key and its secret"),
            ),
            401 => (
                FailureKind::Unauthorized,
                "this service requires a login",
                Some("A hosted deployment needs an API key and its secret"),
            ),
            403 if self.hosted => {
                (FailureKind::Forbidden, "the login is valid, but lacks permission", None)
            }
            403 => (FailureKind::Forbidden, "the service does not allow it", None),
            404 | 410 => (FailureKind::NotFound, rule.not_found_text, None),
            407 => (FailureKind::Unreachable, PROXY_LOGIN, Some(PROXY_LOGIN_REMEDY)),
            409 => {
                (FailureKind::Conflict, "not possible in the current state of the dataset", None)
            }
            429 => (
                FailureKind::RateLimited,
                "the service is limiting requests",
                Some("Try again later"),
            ),
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
            self.request.operation.retry_rule().purpose,
            self.request.origin(),
            rejection.status.as_u16()
        );
        Failure::new(FailureKind::Unexpected, sentence)
            .with_remedy("Requests are not redirected; correct the base URL")
    }
}
