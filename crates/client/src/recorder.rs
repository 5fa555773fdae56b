//! Reports every request to a listener, without headers and with masked values in signed links.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{StatusCode, Url};
use serde_json::{Value, json};

use crate::{errors::AttemptError, request::ApiRequest, trace::micros};
use tessera_model::{Link, RequestOutcome, RequestRecord, SafeText};

/// Receives a record of every request of a client; does nothing by default.
#[derive(Clone, Default)]
pub struct RequestRecorder(Option<Arc<dyn Fn(RequestRecord) + Send + Sync>>);

impl RequestRecorder {
    /// Reports to `listener`, which must not block.
    pub fn new(listener: impl Fn(RequestRecord) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub fn exchange_json(record: &RequestRecord) -> Value {
        let outcome = match &record.outcome {
            RequestOutcome::Succeeded { status, bytes } => {
                json!({ "status": status, "bytes": bytes })
            }
            RequestOutcome::Rejected { status, message } => {
                json!({ "status": status, "words": message.as_ref().map(SafeText::as_str) })
            }
            RequestOutcome::Failed(cause) => json!({ "lost": cause.as_str() }),
        };
        json!({
            "exchange": {
                "method": record.method,
                "target": record.target.as_str(),
                "attempt": record.attempt,
                "sent": record.bytes_sent,
                "outcome": outcome,
                "again_in_us": record.retry_in.map(micros),
            },
            "took_us": micros(record.duration),
        })
    }

    pub(super) fn notify(&self, record: impl FnOnce() -> RequestRecord) {
        if let Some(listener) = &self.0 {
            listener(record());
        }
    }
}

impl fmt::Debug for RequestRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestRecorder").field(&self.0.is_some()).finish()
    }
}

pub(super) struct Attempt<'a> {
    request: &'a ApiRequest,
    number: u32,
    started: Instant,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(request: &'a ApiRequest, number: u32) -> Self {
        Self { request, number, started: Instant::now() }
    }

    pub(super) fn succeeded(&self, status: StatusCode, bytes: u64) -> RequestRecord {
        self.record(RequestOutcome::Succeeded { status: status.as_u16(), bytes }, None)
    }

    /// Describes a failed attempt. `pause` is the time until the next one, if there is one.
    pub(super) fn failed(&self, error: &AttemptError, pause: Option<Duration>) -> RequestRecord {
        let failed = |cause: &str| RequestOutcome::Failed(SafeText::detail(cause));
        let outcome = match error {
            AttemptError::NoConnection(cause) => failed(&format!("no connection: {cause}")),
            AttemptError::NoResponse(cause) => failed(cause),
            AttemptError::Fatal(failure) => failed(failure.message.as_str()),
            AttemptError::Rejected(rejection) => RequestOutcome::Rejected {
                status: rejection.status.as_u16(),
                message: rejection.detail.clone(),
            },
        };
        self.record(outcome, pause)
    }

    fn record(&self, outcome: RequestOutcome, retry_in: Option<Duration>) -> RequestRecord {
        RequestRecord {
            method: self.request.method(),
            target: printable_target(&self.request.url, self.request.endpoint.follows_link()),
            attempt: self.number,
            duration: self.started.elapsed(),
            bytes_sent: self.request.body_bytes(),
            outcome,
            retry_in,
        }
    }
}

/// The query of a link may grant access, so only the names of its parameters are shown.
fn printable_target(url: &Url, link: bool) -> SafeText {
    let location = if link { Link::new(url.as_str()).to_string() } else { url.path().to_owned() };
    let pairs = url
        .query_pairs()
        .map(|(name, value)| if link { format!("{name}=…") } else { format!("{name}={value}") });
    let query = pairs.collect::<Vec<_>>().join("&");
    SafeText::detail(&if query.is_empty() { location } else { format!("{location}?{query}") })
}
