//! Work of the service, followed until it is over: each change an event, a sign of life in between,
//! and an end when the time that was given runs out (M22, row 45).
//!
//! A link that is lost for a while ends nothing: the work goes on at the service, and so does this.

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    cli::{Connection, Context, Ended, Exit},
    model::{
        DatasetId, ExportState, ExportTask, ExportTaskId, Failure, SafeText, Stamp, Work,
        cadence::Watch,
        course::{Course, Seen},
    },
};

/// Longest silence while something is followed.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// One thing that is being followed.
pub struct Follow<'a> {
    context: &'a Context,
    began: Instant,
    told: Instant,
    /// Time between two questions, when the person chose it.
    interval: Option<Duration>,
    failures: u32,
}

impl<'a> Follow<'a> {
    /// Begins now.
    #[must_use]
    pub fn new(context: &'a Context, interval: Option<Duration>) -> Self {
        let now = Instant::now();
        Self { context, began: now, told: now, interval, failures: 0 }
    }

    /// How long it has been followed.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Tells a change: an event for programs, words on standard error for people.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn tell(&mut self, event: &str, fields: Value, words: &str) -> Result<(), Ended> {
        self.told = Instant::now();
        let out = &self.context.out;
        if out.is_jsonl() {
            return out.event(&of(event, fields), words);
        }
        self.context.note.say(words);
        Ok(())
    }

    /// Waits until the next look.
    ///
    /// # Errors
    /// [`Exit::TimedOut`] when the time that was given has run out.
    pub async fn pause(&mut self, watch: Watch) -> Result<(), Ended> {
        let mut wait = self.context.settings.poll.interval(watch, self.failures);
        if let (Some(chosen), 0) = (self.interval, self.failures) {
            wait = chosen;
        }
        if let Some(limit) = self.context.global.timeout {
            let left = limit.checked_sub(self.age()).ok_or_else(|| {
                let words = humantime::format_duration(limit);
                let sentence = format!("{words} have passed; the work goes on at the service");
                Ended::new(Exit::TimedOut, sentence)
            })?;
            // One look more at the very end.
            wait = wait.min(left + Duration::from_millis(1));
        }
        if self.told.elapsed() + wait > HEARTBEAT {
            let fields = json!({ "next_poll_s": wait.as_secs_f64() });
            let words = format!("still waiting, {} s by now", self.age().as_secs());
            self.tell("heartbeat", fields, &words)?;
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Takes an answer, or bears a lost link.
    ///
    /// # Errors
    /// A failure that asking again does not mend: a refused login is never taken for an end (M04).
    pub fn bear<T>(&mut self, answer: Result<T, Failure>) -> Result<Option<T>, Ended> {
        match answer {
            Ok(value) => {
                self.failures = 0;
                Ok(Some(value))
            }
            Err(failure) if failure.is_connection() => {
                self.failures += 1;
                if self.failures == 1 {
                    let fields = json!({ "message": failure.sentence.as_str() });
                    self.tell("lost", fields, &format!("no answer, trying again: {failure}"))?;
                }
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

impl Context {
    /// Follows an export to its end.
    ///
    /// # Errors
    /// [`Exit::Remote`] when it failed, [`Exit::TimedOut`], or what keeps its state away.
    pub async fn follow_export(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        task: ExportTaskId,
        interval: Option<Duration>,
    ) -> Result<ExportTask, Ended> {
        let mut follow = Follow::new(self, interval);
        let mut last = String::new();
        loop {
            if let Some(export) =
                follow.bear(connection.client.export_status(dataset, task).await)?
            {
                let word = export.state.word().to_owned();
                if word != last {
                    let fields =
                        json!({ "dataset_id": dataset, "export_task_id": task, "to": word });
                    follow.tell("export", fields, &format!("export {word}"))?;
                    last = word;
                }
                match &export.state {
                    ExportState::Completed if export.download.is_some() => return Ok(export),
                    ExportState::Failed(word) => {
                        let why = export.message.as_ref().map(|words| format!(": {words}"));
                        let sentence =
                            format!("the export ended as {word}{}", why.unwrap_or_default());
                        return Err(Ended::new(Exit::Remote, sentence));
                    }
                    // Complete, and the link comes later (M21).
                    ExportState::Completed | ExportState::Running(_) => {}
                }
            }
            follow.pause(Watch::Export(follow.age())).await?;
        }
    }

    /// Follows an addition or a reindex to its end: the status the dataset came to rest in. `course`
    /// is the dataset as it was before the request.
    ///
    /// # Errors
    /// [`Exit::Remote`] when it ended in ERROR, [`Exit::TimedOut`], or what keeps the dataset away.
    pub async fn follow_operation(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        work: &Work,
        mut course: Course,
    ) -> Result<SafeText, Ended> {
        let mut follow = Follow::new(self, None);
        let mut bar = self.note.progress(work.word());
        let mut last = None;
        course.accept(clock());
        loop {
            if let Some(seen) = follow.bear(connection.client.dataset(dataset).await)? {
                let status = seen.status.word().to_owned();
                if last.as_ref() != Some(&status) {
                    let fields = json!({ "dataset_id": dataset, "from": last, "to": status, "progress": seen.progress });
                    follow.tell("status", fields, &status)?;
                    last = Some(status.clone());
                } else if self.out.is_jsonl() && seen.progress.is_some() {
                    let fields = json!({ "dataset_id": dataset, "status_new": status, "progress": seen.progress });
                    follow.tell("progress", fields, "")?;
                }
                if !self.out.is_jsonl() {
                    bar.percent(course.percent(), &status);
                }
                match course.see(work, clock(), &seen) {
                    Seen::Going => {}
                    Seen::Over(rest) => return Ok(rest),
                    Seen::Failed(failure) => {
                        return Err(Ended::new(Exit::Remote, failure.to_string()));
                    }
                }
            }
            follow.pause(Watch::MovingDatasets).await?;
        }
    }
}

/// An event with its schema and the time of now.
#[must_use]
pub fn of(event: &str, fields: Value) -> Value {
    let mut whole = json!({ "schema": "tessera.event/1", "at": now(), "event": event });
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), fields) {
        whole.extend(fields);
    }
    whole
}

/// Now, as RFC 3339 in UTC to the second.
#[must_use]
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    // Only years beyond 9999 cannot be spelled.
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}

/// A time of the journal, as RFC 3339 in UTC to the second; `None` beyond the year 9999.
#[must_use]
pub fn moment(stamp: Stamp) -> Option<String> {
    let seconds = i64::try_from(stamp.as_secs()).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

/// Now, as jobs are written down.
#[must_use]
pub fn clock() -> Stamp {
    // Before 1970 there is no time of day; ages then count from there.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
