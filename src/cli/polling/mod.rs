//! Polls an operation of the service until it finishes: reports each change, prints a heartbeat,
//! and stops at the timeout.
//!
//! Connection losses do not end it, because the operation continues at the service.

mod operations;

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::cli::{CliError, Connection, Context, Exit, messages::ProgressBar};
use tessera_model::{Dataset, DatasetId, Failure, Status, Timestamp, polling::PollTarget};

/// Longest time without output.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);
const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);
/// Minimum time for the last request.
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Sleep in steps and compare the wall clock, so that time asleep counts after a suspend.
const SLEEP_STEP: Duration = Duration::from_secs(1);

/// Polls one operation.
pub struct Poller<'a> {
    context: &'a Context,
    started: Instant,
    last_output: Instant,
    /// The user's polling interval.
    interval: Option<Duration>,
    /// Total time limit.
    limit: Option<Duration>,
    /// Whether the events are the command's output rather than status messages.
    is_primary_output: bool,
    consecutive_failures: u32,
    snapshot: Option<DatasetSnapshot>,
    last_change: Instant,
    progress_bar: Option<ProgressBar>,
}

/// The reported fields of a dataset.
#[derive(Clone, Debug, PartialEq)]
struct DatasetSnapshot {
    status: Status,
    progress: Option<u8>,
    images: Option<u64>,
    videos: Option<u64>,
}

/// A status change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// `None` at the first observation.
    pub from: Option<Status>,
    pub to: Status,
}

impl<'a> Poller<'a> {
    /// Starts now, and ends after `--timeout` or a day.
    pub fn new(context: &'a Context, interval: Option<Duration>) -> Self {
        let now = Instant::now();
        let limit = Some(context.global.timeout.unwrap_or(DEFAULT_TIMEOUT));
        Self {
            context,
            started: now,
            last_output: now,
            interval,
            limit,
            is_primary_output: false,
            consecutive_failures: 0,
            snapshot: None,
            last_change: now,
            progress_bar: None,
        }
    }

    /// Starts now. The events are the command's output, and only `--timeout` ends them.
    pub fn stream(context: &'a Context, interval: Option<Duration>) -> Self {
        let limit = context.global.timeout;
        Self { limit, is_primary_output: true, ..Self::new(context, interval) }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn is_machine(&self) -> bool {
        let out = &self.context.out;
        out.is_jsonl() || (self.is_primary_output && out.is_machine())
    }

    /// Reports a change: an event for programs, or a message. On standard error, unless the events
    /// are the command's output.
    pub fn emit(&mut self, event: &str, fields: Value, words: &str) -> Result<(), CliError> {
        self.last_output = Instant::now();
        let out = &self.context.out;
        if self.is_machine() {
            return out.print_event(&event_document(event, fields), words);
        }
        if self.is_primary_output {
            let gap = if out.is_terminal() { "  " } else { "\t" };
            return out.print_text(&format!("{}{gap}{event}{gap}{words}\n", now_rfc3339()));
        }
        self.context.messages.info(words);
        Ok(())
    }

    /// Emits the last event: why polling ended, and the exit code.
    pub fn emit_end<T>(&mut self, outcome: &Result<T, CliError>) -> Result<(), CliError> {
        let (reason, exit) = match outcome.as_ref().map_err(|error| error.exit) {
            Ok(_) => ("until", Exit::Done),
            Err(Exit::Remote) => ("error", Exit::Remote),
            Err(Exit::TimedOut) => ("timeout", Exit::TimedOut),
            Err(other) => (other.code(), other),
        };
        self.emit("end", json!({ "reason": reason, "exit_code": exit as i32 }), reason)
    }

    pub fn info(&self, words: &str) {
        self.context.messages.info(words);
    }

    /// Reports what is new in a dataset. Returns a change of its status.
    pub fn observe(&mut self, dataset: &Dataset) -> Result<Option<StatusChange>, CliError> {
        let sight = DatasetSnapshot {
            status: dataset.status.clone(),
            progress: dataset.progress,
            images: dataset.n_images,
            videos: dataset.n_videos,
        };
        let before = self.snapshot.replace(sight.clone());
        if before.as_ref() == Some(&sight) {
            return Ok(None);
        }
        self.last_change = Instant::now();
        let from = before.map(|before| before.status);
        if from.as_ref() == Some(&sight.status) {
            self.emit_progress(dataset)?;
            return Ok(None);
        }
        let mut words = format!("{}: ", dataset.name);
        if let Some(from) = &from {
            words += from.as_str();
            words += " -> ";
        }
        words += sight.status.as_str();
        let fields = json!({
            "dataset_id": dataset.id,
            "from": from.as_ref().map(Status::as_str),
            "to": sight.status.as_str(),
            "progress": dataset.progress,
            "n_images": dataset.n_images,
            "n_videos": dataset.n_videos,
        });
        // A progress bar belongs to one status.
        self.progress_bar = None;
        self.emit("status", fields, &words)?;
        Ok(Some(StatusChange { from, to: sight.status }))
    }

    fn emit_progress(&mut self, dataset: &Dataset) -> Result<(), CliError> {
        let word = dataset.status.as_str();
        if self.is_machine() {
            let fields = json!({
                "dataset_id": dataset.id,
                "status_new": word,
                "progress": dataset.progress,
                "n_images": dataset.n_images,
                "n_videos": dataset.n_videos,
            });
            return self.emit("progress", fields, "");
        }
        if let Some(percent) = dataset.progress.filter(|_| dataset.status.is_busy()) {
            let note = self.context.messages;
            let bar =
                self.progress_bar.get_or_insert_with(|| note.progress_bar(dataset.name.as_str()));
            bar.set_percent(Some(percent), &format!("{word} {percent}%"));
        }
        Ok(())
    }

    pub fn watch(&self) -> PollTarget {
        PollTarget::Dataset(self.last_change.elapsed())
    }

    /// Waits until the next poll.
    pub async fn wait(&mut self, watch: PollTarget) -> Result<(), CliError> {
        let mut wait = match self.interval {
            Some(chosen) if self.consecutive_failures == 0 => chosen,
            _ => {
                let calm = self.context.settings.poll.interval(watch, self.consecutive_failures);
                calm.mul_f64(1.0 - 0.2 * jitter())
            }
        };
        if let Some(limit) = self.limit {
            let left = limit.checked_sub(self.elapsed()).ok_or_else(|| timeout_error(limit))?;
            wait = wait.min(left);
        }
        if self.last_output.elapsed() + wait > HEARTBEAT_INTERVAL {
            self.emit_heartbeat(wait)?;
        }
        let (steady, clock) = (Instant::now(), SystemTime::now());
        // If the wall clock was set back, the monotonic clock counts.
        while let Some(left) =
            remaining(wait, steady.elapsed(), clock.elapsed().unwrap_or_default())
        {
            tokio::time::sleep(left.min(SLEEP_STEP)).await;
        }
        Ok(())
    }

    fn emit_heartbeat(&mut self, wait: Duration) -> Result<(), CliError> {
        self.last_output = Instant::now();
        if self.is_machine() {
            let seconds = (wait.as_secs_f64() * 10.0).round() / 10.0;
            return self
                .context
                .out
                .print_event(&event_document("heartbeat", json!({ "next_poll_s": seconds })), "");
        }
        // In a terminal, the progress bar or the last message is visible.
        if !self.context.messages.is_terminal() {
            let age = humantime::format_duration(Duration::from_secs(self.elapsed().as_secs()));
            self.context.messages.info(format!("still waiting after {age}"));
        }
        Ok(())
    }

    /// Runs a request within the remaining time; `None` if the connection was lost.
    pub async fn request<T>(
        &mut self,
        question: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Option<T>, CliError> {
        let answer = match self.limit {
            None => question.await,
            Some(limit) => {
                let left = limit.saturating_sub(self.elapsed()).max(MIN_REQUEST_TIMEOUT);
                let answer = tokio::time::timeout(left, question).await;
                answer.map_err(|_| timeout_error(limit))?
            }
        };
        self.tolerate_outage(answer)
    }

    /// Fetches a dataset, retrying while the connection is lost.
    pub async fn fetch_dataset(
        &mut self,
        connection: &Connection,
        dataset: DatasetId,
    ) -> Result<Dataset, CliError> {
        loop {
            if let Some(seen) = self.request(connection.client.dataset(dataset)).await? {
                return Ok(seen);
            }
            self.wait(self.watch()).await?;
        }
    }

    /// Turns a connection loss into `None`; any other failure ends polling.
    pub fn tolerate_outage<T>(
        &mut self,
        answer: Result<T, Failure>,
    ) -> Result<Option<T>, CliError> {
        match answer {
            Ok(value) => {
                if std::mem::take(&mut self.consecutive_failures) > 0 {
                    self.emit("back", json!({}), "the service responds again")?;
                }
                Ok(Some(value))
            }
            Err(failure) if failure.is_connection_failure() => {
                self.consecutive_failures += 1;
                if self.consecutive_failures == 1 {
                    let fields = json!({ "message": failure.message.as_str() });
                    self.emit("lost", fields, &format!("no response, retrying: {failure}"))?;
                }
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

/// The rest of a pause. The monotonic clock may stop while the machine is suspended, so the wall
/// clock counts too.
fn remaining(wait: Duration, steady: Duration, clock: Duration) -> Option<Duration> {
    wait.checked_sub(steady.max(clock)).filter(|left| !left.is_zero())
}

fn timeout_error(limit: Duration) -> CliError {
    let words = humantime::format_duration(limit);
    let message = format!("timed out after {words}; the operation continues at the service");
    CliError::new(Exit::TimedOut, message)
}

/// A number in [0, 1) that varies, so that many clients started together do not poll together.
fn jitter() -> f64 {
    f64::from(timestamp_now().subsec_micros() % 1000) / 1000.0
}

/// Parses a polling interval. Too short an interval would burden the service.
pub fn parse_interval(raw: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) {
        return Err("the interval must be at least 100ms".to_owned());
    }
    Ok(interval)
}

/// An event with its schema and the current time.
pub fn event_document(event: &str, fields: Value) -> Value {
    let mut whole = json!({ "schema": "tessera.event/1", "at": now_rfc3339(), "event": event });
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), fields) {
        whole.extend(fields);
    }
    whole
}

/// The current time, as RFC 3339 in UTC to the second.
pub fn now_rfc3339() -> String {
    let now = OffsetDateTime::now_utc();
    // Only years beyond 9999 cannot be formatted.
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}

/// A timestamp, as RFC 3339 in UTC to the second; `None` beyond the year 9999.
pub fn format_timestamp(stamp: Timestamp) -> Option<String> {
    let seconds = i64::try_from(stamp.as_secs()).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

pub fn timestamp_now() -> Timestamp {
    // A clock before 1970 counts as 1970.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_looks_once_and_at_once() {
        let [second, minute] = [Duration::from_secs(1), Duration::from_mins(1)];
        assert_eq!(remaining(minute, second, second), Some(minute.checked_sub(second).unwrap()));
        assert_eq!(remaining(minute, second, Duration::from_hours(10)), None, "it slept");
        assert_eq!(remaining(minute, minute, Duration::ZERO), None, "its clock was set back");
        assert!(jitter() < 1.0);
    }

    #[test]
    fn an_interval_is_a_duration_that_burdens_nobody() {
        assert_eq!(parse_interval("2s"), Ok(Duration::from_secs(2)));
        assert!(parse_interval("1ms").unwrap_err().contains("100ms"));
        assert!(parse_interval("soon").is_err());
    }
}
