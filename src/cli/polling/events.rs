//! Reports changes and progress: events for programs, messages for people.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Poller;
use crate::cli::{CliResult, Exit, timestamps::now_rfc3339};
use tessera_model::{Dataset, Status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// `None` at the first observation.
    pub from: Option<Status>,
    pub to: Status,
}

impl Poller<'_> {
    fn is_machine(&self) -> bool {
        let out = &self.context.out;
        out.is_jsonl() || (self.is_primary_output && out.is_machine())
    }

    /// Reports on standard error, unless the events are the command's output.
    pub fn emit(&mut self, event: &str, fields: Value, message: &str) -> CliResult<()> {
        self.last_output = Instant::now();
        let out = &self.context.out;
        if self.is_machine() {
            return out.print_event(&event_document(event, fields), message);
        }
        if self.is_primary_output {
            let gap = if out.is_terminal() { "  " } else { "\t" };
            return out.print_text(&format!("{}{gap}{event}{gap}{message}\n", now_rfc3339()));
        }
        self.context.messages.info(message);
        Ok(())
    }

    /// Emits the last event: why polling ended, and the exit code.
    pub fn emit_end<T>(&mut self, outcome: &CliResult<T>) -> CliResult<()> {
        let (reason, exit) = match outcome.as_ref().map_err(|error| error.exit) {
            Ok(_) => ("until", Exit::Done),
            Err(Exit::Remote) => ("error", Exit::Remote),
            Err(Exit::TimedOut) => ("timeout", Exit::TimedOut),
            Err(other) => (other.code(), other),
        };
        self.emit("end", json!({ "reason": reason, "exit_code": exit as i32 }), reason)
    }

    /// Reports what is new in a dataset. Returns a change of its status.
    pub fn observe(&mut self, dataset: &Dataset) -> CliResult<Option<StatusChange>> {
        let to = dataset.status.clone();
        let reported = (to.clone(), dataset.progress, [dataset.n_images, dataset.n_videos]);
        let before = self.last_reported.replace(reported.clone());
        if before.as_ref() == Some(&reported) {
            return Ok(None);
        }
        self.last_change = Instant::now();
        let from = before.map(|(status, ..)| status);
        if from.as_ref() == Some(&to) {
            return self.emit_progress(dataset).map(|()| None);
        }
        // A progress bar belongs to one status.
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
            });
            return self.emit("progress", fields, "");
        }
        if let Some(percent) = dataset.progress.filter(|_| dataset.status.is_busy()) {
            let messages = self.context.messages;
            let bar = self
                .progress_bar
                .get_or_insert_with(|| messages.progress_bar(dataset.name.as_str()));
            bar.set_percent(Some(percent), &format!("{status} {percent}%"));
        }
        Ok(())
    }

    /// Reports that polling continues, although nothing has changed for a while.
    pub(super) fn emit_heartbeat(&mut self, wait: Duration) -> CliResult<()> {
        self.last_output = Instant::now();
        let context = self.context;
        if self.is_machine() {
            let seconds = (wait.as_secs_f64() * 10.0).round() / 10.0;
            let event = event_document("heartbeat", json!({ "next_poll_s": seconds }));
            return context.out.print_event(&event, "");
        }
        // In a terminal, the progress bar or the last message is visible.
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
