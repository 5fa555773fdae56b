//! Reports every request to a listener, without headers and with masked values in signed links, and writes the trace of
//! a run (`--trace FILE`): JSON lines in bounded, private files.

use std::{
    fmt, io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use reqwest::{StatusCode, Url};
use serde_json::{Value, json};

use crate::{errors::AttemptError, request::ApiRequest};
use tessera_files::RotatingFile;
use tessera_model::{Link, RequestOutcome, RequestRecord, SafeText, text::escape_json};

/// Receives a record of every request of a client. The default does nothing.
#[derive(Clone, Default)]
pub struct RequestRecorder(Option<Arc<dyn Fn(RequestRecord) + Send + Sync>>);

impl RequestRecorder {
    /// Creates a recorder that reports to `listener`, which must not block.
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

    /// Describes a failed attempt. `pause` is the time until the next attempt, if there is one.
    pub(super) fn failed(&self, error: &AttemptError, pause: Option<Duration>) -> RequestRecord {
        let outcome = match error {
            AttemptError::Rejected(rejection) => RequestOutcome::Rejected {
                status: rejection.status.as_u16(),
                message: rejection.detail.clone(),
            },
            error => RequestOutcome::Failed(SafeText::detail(&error.reason())),
        };
        self.record(outcome, pause)
    }

    fn record(&self, outcome: RequestOutcome, retry_in: Option<Duration>) -> RequestRecord {
        RequestRecord {
            purpose: self.request.endpoint.retry_rule().purpose,
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

/// Returns the address for display. Only the names of a link's parameters are shown, because the query may grant
/// access.
fn printable_target(url: &Url, link: bool) -> SafeText {
    let location = if link { Link::new(url.as_str()).to_string() } else { url.path().to_owned() };
    let pairs = url
        .query_pairs()
        .map(|(name, value)| if link { format!("{name}=…") } else { format!("{name}={value}") });
    let query = pairs.collect::<Vec<_>>().join("&");
    SafeText::detail(&if query.is_empty() { location } else { format!("{location}?{query}") })
}

/// A trace, which may be disabled. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace(Option<Arc<Mutex<TraceWriter>>>);

#[derive(Debug)]
struct TraceWriter {
    file: RotatingFile,
    started: Instant,
    /// The error after which nothing more is written.
    write_error: Option<io::Error>,
}

impl Trace {
    pub fn disabled() -> Self {
        Self(None)
    }

    pub fn create(path: &Path) -> io::Result<Self> {
        let file = RotatingFile::create(path)?;
        let writer = TraceWriter { file, started: Instant::now(), write_error: None };
        Ok(Self(Some(Arc::new(Mutex::new(writer)))))
    }

    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a record. Writes are not buffered, because the program may be killed. The first failed write ends the
    /// trace.
    pub fn write(&self, record: impl FnOnce() -> Value) {
        let Some(writer) = &self.0 else { return };
        let mut writer = writer.lock();
        if writer.write_error.is_some() {
            return;
        }
        let mut record = record();
        record["at_us"] = micros(writer.started.elapsed()).into();
        writer.write_error = writer.file.write_line(&escape_json(&format!("{record}\n"))).err();
    }

    pub fn finish(&self) -> io::Result<()> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let mut writer = writer.lock();
        writer.write_error.take().map_or(Ok(()), Err)
    }
}

pub fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_trace_contains_nothing_that_a_terminal_interprets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let trace = Trace::create(&path).unwrap();
        trace.write(|| json!({ "name": "\u{9b}2J\u{1b}\u{202e}" }));
        trace.finish().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["name"], "\u{9b}2J\u{1b}\u{202e}");
    }
}
