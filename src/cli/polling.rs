//! Waits between polls, within the time limit and through connection losses, and reports changes. Programs get events,
//! and users get messages.

use std::{
    io, mem,
    time::{Instant, SystemTime},
};

use tokio::time::timeout;

use crate::cli::prelude::*;
use crate::cli::{
    dataset::encoding_document,
    messages::ProgressBar,
    output::is_unread_within,
    values::{now_rfc3339, timestamp_now},
};
use tessera_model::{
    EncodingProgress, Status,
    polling::{MAX_REQUESTED_PAUSE, PollTarget},
};

/// The longest time without output.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);
const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);
/// The shortest time that the last request is given.
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// A local service ends with this program, so that its tasks continue only when its folder is opened again.
const TASK_CONTINUES: &str =
    "the task continues at the service, or when the local folder is opened again";
/// Waiting is divided into steps that compare the wall clock, so that the time of a suspend also counts.
const SLEEP_STEP: Duration = Duration::from_secs(1);

/// Where a poller reports events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// Nowhere, because the command does not show that it waits for a task.
    Nowhere,
    /// Standard error, because standard output has the result of the command.
    Messages,
    /// Standard output with `--jsonl`, and standard error otherwise.
    Lines,
    /// Standard output, because the events are the result of the command.
    Output,
}

pub struct Poller<'a> {
    pub(super) context: &'a Context,
    started: Instant,
    pub(super) last_output: Instant,
    interval: Option<Duration>,
    limit: Option<Duration>,
    events: EventTarget,
    consecutive_failures: u32,
    /// The pause that the service has requested before the next request.
    requested_pause: Duration,
    /// How far this process has encoded the media of the dataset.
    encoding: Option<EncodingProgress>,
    /// The last reported status, percentage, and counts of images, videos and encoded media.
    pub(super) last_reported: Option<(Status, Option<u8>, [Option<u64>; 3])>,
    pub(super) last_change: Instant,
    pub(super) progress_bar: Option<ProgressBar>,
    /// The last reported reason why the work of the service waits.
    waiting: Option<SafeText>,
}

impl<'a> Poller<'a> {
    /// Creates a poller that starts now and ends after `--timeout` or a day.
    pub fn new(context: &'a Context, interval: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            context,
            started: now,
            last_output: now,
            interval,
            limit: Some(context.global.timeout.unwrap_or(DEFAULT_TIMEOUT)),
            events: EventTarget::Messages,
            consecutive_failures: 0,
            requested_pause: Duration::ZERO,
            encoding: None,
            last_reported: None,
            last_change: now,
            progress_bar: None,
            waiting: None,
        }
    }

    /// Creates a poller that starts now and whose events are the command's output. Only `--timeout`
    /// ends it.
    pub fn stream(context: &'a Context, interval: Option<Duration>) -> Self {
        let limit = context.global.timeout;
        Self { limit, events: EventTarget::Output, ..Self::new(context, interval) }
    }

    pub fn with_events(self, events: EventTarget) -> Self {
        Self { events, ..self }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub async fn wait_for_dataset(&mut self) -> CliResult<()> {
        self.wait(PollTarget::Dataset(self.last_change.elapsed())).await
    }

    pub async fn wait(&mut self, target: PollTarget) -> CliResult<()> {
        let mut wait = match self.interval {
            Some(chosen) if self.consecutive_failures == 0 => chosen,
            _ => {
                let regular =
                    self.context.settings.poll.interval(target, self.consecutive_failures);
                regular.mul_f64(1.0 - 0.2 * jitter())
            }
        };
        wait = wait.max(mem::take(&mut self.requested_pause));
        if let Some(limit) = self.limit {
            let left = limit.checked_sub(self.elapsed());
            let left = left.ok_or_else(|| self.timeout_error(limit))?;
            wait = wait.min(left);
        }
        if self.last_output.elapsed() + wait > HEARTBEAT_INTERVAL {
            self.emit_heartbeat(wait)?;
        }
        let (steady, clock) = (Instant::now(), SystemTime::now());
        // If the wall clock was set back, only the monotonic clock counts.
        while let Some(left) =
            remaining(wait, steady.elapsed(), clock.elapsed().unwrap_or_default())
        {
            // The next event may be far away, so that printing it would notice the closed pipe much later.
            if self.prints_events() && is_unread_within(Duration::ZERO) {
                return Err(CliError::output(&io::ErrorKind::BrokenPipe.into()));
            }
            tokio::time::sleep(left.min(SLEEP_STEP)).await;
        }
        Ok(())
    }

    /// Waits for a request, but not longer than the time limit allows.
    pub(super) async fn within_limit<T>(&self, request: impl Future<Output = T>) -> CliResult<T> {
        let Some(limit) = self.limit else { return Ok(request.await) };
        let left = limit.saturating_sub(self.elapsed()).max(MIN_REQUEST_TIMEOUT);
        timeout(left, request).await.map_err(|_| self.timeout_error(limit))
    }

    fn timeout_error(&self, limit: Duration) -> CliError {
        let message = format!("timed out after {}", humantime::format_duration(limit));
        CliError::new(
            Exit::TimedOut,
            match self.events {
                EventTarget::Nowhere => message,
                _ => format!("{message}; {TASK_CONTINUES}"),
            },
        )
    }

    /// Fetches a dataset, retrying while the connection is lost.
    pub async fn fetch_dataset(
        &mut self,
        connection: &Connection<'_>,
        dataset: DatasetId,
    ) -> CliResult<Dataset> {
        loop {
            let response = self.within_limit(connection.client.dataset(dataset)).await?;
            if let Some(dataset) = self.tolerate_outage(response)? {
                self.encoding = encoding(connection, &dataset).await;
                return Ok(dataset);
            }
            self.wait_for_dataset().await?;
        }
    }

    /// Returns `None` for a connection loss, and for a response that is not from the API. Any other failure ends polling.
    pub fn tolerate_outage<T>(&mut self, response: Result<T, Failure>) -> CliResult<Option<T>> {
        match response {
            Ok(value) => {
                self.report_recovery()?;
                Ok(Some(value))
            }
            Err(failure) if failure.is_inconclusive() => {
                self.consecutive_failures += 1;
                self.requested_pause =
                    failure.retry_after.unwrap_or_default().min(MAX_REQUESTED_PAUSE);
                if self.consecutive_failures == 1 {
                    let fields = json!({ "message": failure.message.as_str() });
                    self.emit("lost", fields, &format!("no usable response, retrying: {failure}"))?;
                }
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    pub(super) fn report_recovery(&mut self) -> CliResult<()> {
        if mem::take(&mut self.consecutive_failures) == 0 {
            return Ok(());
        }
        self.emit("back", json!({}), "the service responds again")
    }
}

/// Returns how far the media of a busy dataset of this machine are encoded.
async fn encoding(connection: &Connection<'_>, dataset: &Dataset) -> Option<EncodingProgress> {
    if !connection.is_local() || !dataset.status.is_busy() {
        return None;
    }
    // A failure is ignored, because the next request for the dataset reports it.
    connection.client.local_dataset(dataset.id).await.ok()?.encoding
}

/// Returns the rest of a pause. Both clocks count, because the monotonic clock may stop during a
/// suspend.
fn remaining(wait: Duration, steady: Duration, clock: Duration) -> Option<Duration> {
    wait.checked_sub(steady.max(clock)).filter(|left| !left.is_zero())
}

/// Returns a varying number in [0, 1), so that many clients that were started together do not poll
/// together.
fn jitter() -> f64 {
    f64::from(timestamp_now().subsec_micros() % 1000) / 1000.0
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The previous status, or `None` at the first observation.
    pub from: Option<Status>,
    pub to: Status,
}

impl Poller<'_> {
    /// Whether events go to standard output.
    fn prints_events(&self) -> bool {
        self.is_machine() || self.events == EventTarget::Output
    }

    fn is_machine(&self) -> bool {
        let out = &self.context.out;
        match self.events {
            EventTarget::Nowhere | EventTarget::Messages => false,
            EventTarget::Lines => out.is_jsonl(),
            EventTarget::Output => out.is_machine(),
        }
    }

    /// Reports an event: to programs as an object, and to users as a message.
    pub fn emit(&mut self, event: &str, fields: Value, message: &str) -> CliResult<()> {
        self.last_output = Instant::now();
        let out = &self.context.out;
        if self.is_machine() {
            return out.print_event(&event_document(event, fields), message);
        }
        if self.events == EventTarget::Output {
            let gap = if out.is_terminal() { "  " } else { "\t" };
            return out.print_text(&format!("{}{gap}{event}{gap}{message}\n", now_rfc3339()));
        }
        if self.events != EventTarget::Nowhere {
            self.context.messages.info(message);
        }
        Ok(())
    }

    /// Emits the last event, with the reason why polling ended and the exit code.
    pub fn emit_end<T>(&mut self, outcome: &CliResult<T>) -> CliResult<()> {
        if outcome.as_ref().is_err_and(|error| error.halt.is_some()) {
            // The expression of `--jq` gets no event after the one at which it ended the command.
            return Ok(());
        }
        let (reason, exit) = match outcome.as_ref().map_err(|error| error.exit) {
            Ok(_) => ("until", Exit::Done),
            Err(Exit::Remote) => ("error", Exit::Remote),
            Err(Exit::TimedOut) => ("timeout", Exit::TimedOut),
            Err(other) => (other.code(), other),
        };
        self.emit("end", json!({ "reason": reason, "exit_code": exit as i32 }), reason)
    }

    /// Reports what is new in a dataset. Returns the change of its status, if there is one.
    pub fn observe(&mut self, dataset: &Dataset) -> CliResult<Option<StatusChange>> {
        let to = dataset.status.clone();
        let waiting = dataset.error.clone().filter(|_| to.is_busy());
        if let Some(reason) = waiting.as_ref().filter(|_| waiting != self.waiting) {
            self.context.messages.warn(format!("{}: {reason}", dataset.name));
        }
        self.waiting = waiting;
        let encoded = self.encoding.map(|encoding| encoding.done);
        let reported =
            (to.clone(), dataset.progress, [dataset.n_images, dataset.n_videos, encoded]);
        let before = self.last_reported.replace(reported.clone());
        if before.as_ref() == Some(&reported) {
            return Ok(None);
        }
        self.last_change = Instant::now();
        let from = before.map(|(status, ..)| status);
        if from.as_ref() == Some(&to) {
            return self.emit_progress(dataset).map(|()| None);
        }
        // A progress bar belongs to one status, so a change removes it.
        self.progress_bar = None;
        let arrow = from.as_ref().map_or_else(String::new, |from| format!("{} -> ", from.as_str()));
        let fields = json!({
            "dataset_id": dataset.id,
            "from": from.as_ref().map(Status::as_str),
            "to": to.as_str(),
            "progress": dataset.progress,
            "n_images": dataset.n_images,
            "n_videos": dataset.n_videos,
        });
        self.emit("status", fields, &format!("{}: {arrow}{}", dataset.name, to.as_str()))?;
        Ok(Some(StatusChange { from, to }))
    }

    fn emit_progress(&mut self, dataset: &Dataset) -> CliResult<()> {
        let status = dataset.status.as_str();
        if self.is_machine() {
            let fields = json!({
                "dataset_id": dataset.id,
                "status_new": status,
                "progress": dataset.progress,
                "n_images": dataset.n_images,
                "n_videos": dataset.n_videos,
                "encoding": self.encoding.map(encoding_document),
            });
            return self.emit("progress", fields, "");
        }
        if let Some(percent) = dataset.progress.filter(|_| dataset.status.is_busy()) {
            let messages = self.context.messages;
            let bar = self
                .progress_bar
                .get_or_insert_with(|| messages.progress_bar(dataset.name.as_str()));
            match self.encoding {
                Some(encoding) => {
                    let text = format!("encoded {}", encoding.text());
                    bar.set_count(encoding.done, encoding.total, &text);
                }
                None => bar.set_status(&dataset.status, percent),
            }
        }
        Ok(())
    }

    /// Reports that polling continues although nothing has changed for a while.
    pub(super) fn emit_heartbeat(&mut self, wait: Duration) -> CliResult<()> {
        self.last_output = Instant::now();
        let context = self.context;
        if self.is_machine() {
            let seconds = (wait.as_secs_f64() * 10.0).round() / 10.0;
            let event = event_document("heartbeat", json!({ "next_poll_s": seconds }));
            return context.out.print_event(&event, "");
        }
        // In a terminal, the user still sees the progress bar or the last message.
        if !context.messages.is_terminal() {
            let age = humantime::format_duration(Duration::from_secs(self.elapsed().as_secs()));
            context.messages.info(format!("still waiting after {age}"));
        }
        Ok(())
    }
}

fn event_document(event: &str, fields: Value) -> Value {
    let mut whole = json!({ "schema": "tessera.event/1", "at": now_rfc3339(), "event": event });
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), fields) {
        whole.extend(fields);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_polls_once_and_at_once() {
        let [second, minute] = [Duration::from_secs(1), Duration::from_mins(1)];
        assert_eq!(remaining(minute, second, second), Some(minute.checked_sub(second).unwrap()));
        assert_eq!(remaining(minute, second, Duration::from_hours(10)), None, "it slept");
        assert_eq!(remaining(minute, minute, Duration::ZERO), None, "its clock was set back");
        assert!(jitter() < 1.0);
    }
}
