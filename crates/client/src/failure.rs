//! From a setback to a [`Failure`] for people: one match, and one table of statuses.

use reqwest::{Url, header::LOCATION};

use crate::{
    cause,
    operation::Operation,
    setback::{Refusal, Setback},
};
use tessera_model::{Failure, FailureKind, Link, SafeText};

/// Where a request went and how, for the sentence about its failure.
#[derive(Clone, Copy)]
pub(super) struct Circumstances<'a> {
    pub operation: Operation,
    pub method: &'static str,
    pub url: &'a Url,
    /// Whether requests carry a login.
    pub hosted: bool,
}

impl Circumstances<'_> {
    fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The failure that people see.
    pub(super) fn explain(&self, setback: Setback) -> Failure {
        let status = match &setback {
            Setback::Refused(refusal) => Some(refusal.status.as_u16()),
            Setback::Final(_) | Setback::Unsent(_) | Setback::NoAnswer(_) => None,
        };
        let failure = self.words(setback);
        // Without the query: a link that was followed may carry a signature there.
        let request = SafeText::file(&format!("{} {}", self.method, self.url.path()));
        let failure =
            Failure { status: status.or(failure.status), request: Some(request), ..failure };
        cause::known(self.operation, failure)
    }

    fn words(&self, setback: Setback) -> Failure {
        let rule = self.operation.rule();
        let (purpose, origin) = (rule.purpose, self.origin());
        match setback {
            Setback::Final(failure) => failure,
            Setback::Unsent(cause) => Failure::new(
                FailureKind::Unreachable,
                format!("cannot {purpose}: no connection to {origin} ({cause})"),
            )
            .remedy("Check that the service runs and that its address is right"),
            Setback::NoAnswer(cause) if rule.has_effect() => Failure::new(
                FailureKind::NoAnswer,
                format!("cannot tell whether {origin} did {purpose}: {cause}"),
            )
            .remedy("It may have started; asking again would start another"),
            Setback::NoAnswer(cause) => Failure::new(
                FailureKind::NoAnswer,
                format!("cannot {purpose}: {origin} did not answer ({cause})"),
            ),
            Setback::Refused(refusal) => self.refused(*refusal),
        }
    }

    fn refused(&self, refusal: Refusal) -> Failure {
        let status = refusal.status.as_u16();
        if refusal.status.is_redirection() {
            return self.redirected(&refusal);
        }
        let (kind, reason, remedy) = self.meaning(status);
        let sentence = format!("cannot {}: {reason} ({status})", self.operation.rule().purpose);
        let failure = Failure::new(kind, sentence).detail(refusal.detail);
        match remedy {
            Some(remedy) => failure.remedy(remedy),
            None => failure,
        }
    }

    /// What a status means, and what to do about it (rule: interface, Errors).
    fn meaning(&self, status: u16) -> (FailureKind, &'static str, Option<&'static str>) {
        use FailureKind as Kind;
        let rule = self.operation.rule();
        match status {
            401 | 403 if self.operation.follows_link() => {
                (Kind::Forbidden, "the link was refused", Some("It may have expired"))
            }
            401 if self.operation == Operation::Credentials => (
                Kind::Login,
                "the session was not accepted",
                Some("Sign in again in the browser, and copy the cookie SESSION anew"),
            ),
            401 if self.hosted => (
                Kind::Login,
                "the credentials were rejected",
                Some("Check the API key and its secret"),
            ),
            401 => (
                Kind::Login,
                "this service asks for a login",
                Some("Is it a hosted deployment? Then it needs an API key and its secret"),
            ),
            403 => (Kind::Forbidden, "the login is fine, but the permission is missing", None),
            404 | 410 => (Kind::NotFound, rule.subject, None),
            409 => (Kind::Conflict, "the state of the dataset forbids it", None),
            429 => (Kind::Busy, "the service asks to wait", Some("Try again in a while")),
            400 | 413 | 415 | 422 => (Kind::Invalid, "the request was refused", None),
            500..=599 => (
                Kind::Server,
                "the service is in trouble",
                rule.has_effect().then_some("It may have started; look before asking again"),
            ),
            _ => (Kind::Unexpected, "the answer was unexpected", None),
        }
    }

    fn redirected(&self, refusal: &Refusal) -> Failure {
        let target = refusal.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let target = Link::new(target.unwrap_or("nowhere"));
        let sentence = format!(
            "cannot {}: {} redirects to {target} ({})",
            self.operation.rule().purpose,
            self.origin(),
            refusal.status.as_u16()
        );
        Failure::new(FailureKind::Unexpected, sentence)
            .remedy("Requests are not redirected; correct the base URL")
    }
}
