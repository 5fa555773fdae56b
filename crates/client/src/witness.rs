//! Who is told of every exchange, and the words it is told in. What is secret is left out here, at
//! the source: headers are never looked at, and the values in a signed link are masked.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{StatusCode, Url};
use serde_json::{Value, json};

use crate::trace::micros;
use crate::{call::Call, setback::Setback};
use tessera_model::{Exchange, Link, Outcome, SafeText};

/// Told of every exchange of a client; by default nobody is.
#[derive(Clone, Default)]
pub struct Witness(Option<Arc<dyn Fn(Exchange) + Send + Sync>>);

impl Witness {
    /// Tells `listener`, which must not wait.
    #[must_use]
    pub fn new(listener: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// What a trace holds of an exchange.
    #[must_use]
    pub fn record(exchange: &Exchange) -> Value {
        let Exchange { method, target, attempt, took, sent, outcome, again_in } = exchange;
        let outcome = match outcome {
            Outcome::Answered { status, bytes } => json!({ "status": status, "bytes": bytes }),
            Outcome::Refused { status, words } => {
                json!({ "status": status, "words": words.as_ref().map(SafeText::as_str) })
            }
            Outcome::Lost(cause) => json!({ "lost": cause.as_str() }),
        };
        json!({
            "exchange": { "method": method, "target": target.as_str(), "attempt": attempt, "sent": sent,
                          "outcome": outcome, "again_in_us": again_in.map(micros) },
            "took_us": micros(*took),
        })
    }

    pub(super) fn tell(&self, exchange: impl FnOnce() -> Exchange) {
        if let Some(listener) = &self.0 {
            listener(exchange());
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Witness").field(&self.0.is_some()).finish()
    }
}

/// One attempt of a request, from its beginning.
pub(super) struct Attempt<'a> {
    call: &'a Call,
    number: u32,
    began: Instant,
}

impl<'a> Attempt<'a> {
    /// Attempt `number` begins now.
    pub(super) fn new(call: &'a Call, number: u32) -> Self {
        Self { call, number, began: Instant::now() }
    }

    /// It was answered with success.
    pub(super) fn answered(&self, status: StatusCode, bytes: u64) -> Exchange {
        self.ended(Outcome::Answered { status: status.as_u16(), bytes }, None)
    }

    /// It was not; `pause` is the time until the next one, if there is one.
    pub(super) fn failed(&self, setback: &Setback, pause: Option<Duration>) -> Exchange {
        let lost = |words: &str| Outcome::Lost(SafeText::detail(words));
        let outcome = match setback {
            Setback::Unsent(cause) => lost(&format!("no connection: {cause}")),
            Setback::NoAnswer(cause) => lost(cause),
            Setback::Final(failure) => lost(failure.sentence.as_str()),
            Setback::Refused(refusal) => {
                Outcome::Refused { status: refusal.status.as_u16(), words: refusal.detail.clone() }
            }
        };
        self.ended(outcome, pause)
    }

    fn ended(&self, outcome: Outcome, again_in: Option<Duration>) -> Exchange {
        Exchange {
            method: self.call.method(),
            target: target(&self.call.url, self.call.operation.follows_link()),
            attempt: self.number,
            took: self.began.elapsed(),
            sent: self.call.payload_bytes(),
            outcome,
            again_in,
        }
    }
}

/// Where a request went, readable. The query of a link may be what lets one in: of it only the names
/// are shown.
fn target(url: &Url, link: bool) -> SafeText {
    let place = if link { Link::new(url.as_str()).to_string() } else { url.path().to_owned() };
    let pairs = url
        .query_pairs()
        .map(|(name, value)| if link { format!("{name}=…") } else { format!("{name}={value}") });
    let query = pairs.collect::<Vec<_>>().join("&");
    SafeText::detail(&if query.is_empty() { place } else { format!("{place}?{query}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s09_the_values_of_a_signed_link_are_masked() {
        let link = "https://me:canary@cdn.example/a.zip?X-Amz-Signature=canary&Expires=canary";
        let shown = target(&Url::parse(link).unwrap(), true);
        assert_eq!(shown.as_str(), "https://cdn.example/a.zip?X-Amz-Signature=…&Expires=…");
        let own = Url::parse("http://h/api/v1/explore/x?caption=a%20van%1b&page_number=0").unwrap();
        assert_eq!(target(&own, false).as_str(), "/api/v1/explore/x?caption=a van␛&page_number=0");
    }
}
