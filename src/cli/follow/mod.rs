//! Work of the service, followed until it is over: each change an event, a sign of life in between,
//! and an end when the time that was given runs out (M22, row 45).
//!
//! A link that is lost for a while ends nothing: the work goes on at the service, and so does this.

mod work;

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::cli::{Connection, Context, Ended, Exit, note::Progress};
use tessera_model::{Dataset, DatasetId, Failure, Stamp, Status, cadence::Watch};

/// Longest silence while something is followed.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Longest time something is waited for when nobody says (N21).
const PATIENCE: Duration = Duration::from_hours(24);
/// The look at the very end may take this long.
const FINAL_LOOK: Duration = Duration::from_secs(1);
/// A sleeping machine does not count; so often the time of day is compared (N22).
const NAP: Duration = Duration::from_secs(1);

/// One thing that is being followed.
pub struct Follow<'a> {
    context: &'a Context,
    began: Instant,
    told: Instant,
    /// Time between two questions, when the person chose it.
    interval: Option<Duration>,
    /// How long it is followed at most.
    limit: Option<Duration>,
    /// Whether the events are what the person asked for, and not told beside the answer.
    is_answer: bool,
    failures: u32,
    /// The dataset as it was seen last, and when that was new.
    sight: Option<Sight>,
    changed: Instant,
    bar: Option<Progress>,
}

/// What is told of a dataset.
#[derive(Clone, Debug, PartialEq)]
struct Sight {
    status: Status,
    progress: Option<u8>,
    images: Option<u64>,
    videos: Option<u64>,
}

/// A dataset has another status than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The one before; `None` at the first look.
    pub from: Option<Status>,
    /// The one of now.
    pub to: Status,
}

impl<'a> Follow<'a> {
    /// Begins now, and ends after `--timeout`, or a day.
    #[must_use]
    pub fn new(context: &'a Context, interval: Option<Duration>) -> Self {
        let now = Instant::now();
        let limit = Some(context.global.timeout.unwrap_or(PATIENCE));
        Self {
            context,
            began: now,
            told: now,
            interval,
            limit,
            is_answer: false,
            failures: 0,
            sight: None,
            changed: now,
            bar: None,
        }
    }

    /// Begins now. The events are the answer of the command, and only `--timeout` ends them.
    #[must_use]
    pub fn stream(context: &'a Context, interval: Option<Duration>) -> Self {
        let limit = context.global.timeout;
        Self { limit, is_answer: true, ..Self::new(context, interval) }
    }

    /// How long it has been followed.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether programs read the events.
    fn is_machine(&self) -> bool {
        let out = &self.context.out;
        out.is_jsonl() || (self.is_answer && out.is_machine())
    }

    /// Tells a change: an event for programs, words for people; on standard error unless the events are
    /// what was asked for.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn tell(&mut self, event: &str, fields: Value, words: &str) -> Result<(), Ended> {
        self.told = Instant::now();
        let out = &self.context.out;
        if self.is_machine() {
            return out.event(&of(event, fields), words);
        }
        if self.is_answer {
            let gap = if out.is_terminal() { "  " } else { "\t" };
            return out.text(&format!("{}{gap}{event}{gap}{words}\n", now()));
        }
        self.context.note.say(words);
        Ok(())
    }

    /// Tells the last event: why it is followed no longer, and with which exit code.
    ///
    /// # Errors
    /// As [`Follow::tell`].
    pub fn end<T>(&mut self, outcome: &Result<T, Ended>) -> Result<(), Ended> {
        let (reason, exit) = match outcome.as_ref().map_err(|ended| ended.exit) {
            Ok(_) => ("until", Exit::Done),
            Err(Exit::Remote) => ("error", Exit::Remote),
            Err(Exit::TimedOut) => ("timeout", Exit::TimedOut),
            Err(other) => (other.code(), other),
        };
        self.tell("end", json!({ "reason": reason, "exit_code": exit as i32 }), reason)
    }

    /// Says something that is no change, on standard error.
    pub fn say(&self, words: &str) {
        self.context.note.say(words);
    }

    /// Takes a look at a dataset: what is new is told. Gives the change of its status.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn see(&mut self, dataset: &Dataset) -> Result<Option<Change>, Ended> {
        let sight = Sight {
            status: dataset.status.clone(),
            progress: dataset.progress,
            images: dataset.n_images,
            videos: dataset.n_videos,
        };
        let before = self.sight.replace(sight.clone());
        if before.as_ref() == Some(&sight) {
            return Ok(None);
        }
        self.changed = Instant::now();
        let from = before.map(|before| before.status);
        if from.as_ref() == Some(&sight.status) {
            self.tell_progress(dataset)?;
            return Ok(None);
        }
        let mut words = format!("{}: ", dataset.name);
        if let Some(from) = &from {
            words += from.word();
            words += " -> ";
        }
        words += sight.status.word();
        let fields = json!({
            "dataset_id": dataset.id,
            "from": from.as_ref().map(Status::word),
            "to": sight.status.word(),
            "progress": dataset.progress,
            "n_images": dataset.n_images,
            "n_videos": dataset.n_videos,
        });
        // A bar is about one status.
        self.bar = None;
        self.tell("status", fields, &words)?;
        Ok(Some(Change { from, to: sight.status }))
    }

    fn tell_progress(&mut self, dataset: &Dataset) -> Result<(), Ended> {
        let word = dataset.status.word();
        if self.is_machine() {
            let fields = json!({
                "dataset_id": dataset.id,
                "status_new": word,
                "progress": dataset.progress,
                "n_images": dataset.n_images,
                "n_videos": dataset.n_videos,
            });
            return self.tell("progress", fields, "");
        }
        if let Some(percent) = dataset.progress.filter(|_| dataset.status.is_moving()) {
            let note = self.context.note;
            let bar = self.bar.get_or_insert_with(|| note.progress(dataset.name.as_str()));
            bar.percent(Some(percent), &format!("{word} {percent}%"));
        }
        Ok(())
    }

    /// How often to look at a dataset: seldom once it has not changed for long.
    #[must_use]
    pub fn pace(&self) -> Watch {
        Watch::Dataset(self.changed.elapsed())
    }

    /// Waits until the next look.
    ///
    /// # Errors
    /// [`Exit::TimedOut`] when the time that was given has run out.
    pub async fn pause(&mut self, watch: Watch) -> Result<(), Ended> {
        let mut wait = match self.interval {
            Some(chosen) if self.failures == 0 => chosen,
            _ => {
                let calm = self.context.settings.poll.interval(watch, self.failures);
                calm.mul_f64(1.0 - 0.2 * fraction())
            }
        };
        if let Some(limit) = self.limit {
            let left = limit.checked_sub(self.age()).ok_or_else(|| timed_out(limit))?;
            wait = wait.min(left);
        }
        if self.told.elapsed() + wait > HEARTBEAT {
            self.heartbeat(wait)?;
        }
        let (steady, clock) = (Instant::now(), SystemTime::now());
        // A clock that was set back says nothing: then the other one counts.
        while let Some(left) = left(wait, steady.elapsed(), clock.elapsed().unwrap_or_default()) {
            tokio::time::sleep(left.min(NAP)).await;
        }
        Ok(())
    }

    fn heartbeat(&mut self, wait: Duration) -> Result<(), Ended> {
        self.told = Instant::now();
        if self.is_machine() {
            let seconds = (wait.as_secs_f64() * 10.0).round() / 10.0;
            return self.context.out.event(&of("heartbeat", json!({ "next_poll_s": seconds })), "");
        }
        // In a terminal a bar says it, or the last line that was told.
        if !self.context.note.is_terminal() {
            let age = humantime::format_duration(Duration::from_secs(self.age().as_secs()));
            self.context.note.say(format!("still waiting, {age} by now"));
        }
        Ok(())
    }

    /// Asks within the time that is left, and bears a lost link: `None`.
    ///
    /// # Errors
    /// As [`Follow::bear`], or [`Exit::TimedOut`].
    pub async fn ask<T>(
        &mut self,
        question: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Option<T>, Ended> {
        let answer = match self.limit {
            None => question.await,
            Some(limit) => {
                let left = limit.saturating_sub(self.age()).max(FINAL_LOOK);
                let answer = tokio::time::timeout(left, question).await;
                answer.map_err(|_| timed_out(limit))?
            }
        };
        self.bear(answer)
    }

    /// Looks at a dataset, again and again while the link is lost.
    ///
    /// # Errors
    /// As [`Follow::ask`].
    pub async fn dataset(
        &mut self,
        connection: &Connection,
        dataset: DatasetId,
    ) -> Result<Dataset, Ended> {
        loop {
            if let Some(seen) = self.ask(connection.client.dataset(dataset)).await? {
                return Ok(seen);
            }
            self.pause(self.pace()).await?;
        }
    }

    /// Takes an answer, or bears a lost link.
    ///
    /// # Errors
    /// A failure that asking again does not mend: a refused login is never taken for an end (M04).
    pub fn bear<T>(&mut self, answer: Result<T, Failure>) -> Result<Option<T>, Ended> {
        match answer {
            Ok(value) => {
                if std::mem::take(&mut self.failures) > 0 {
                    self.tell("back", json!({}), "the service answers again")?;
                }
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

/// What is left of a pause: by the steady clock, which may stand still while the machine sleeps, and
/// by the time of day.
fn left(wait: Duration, steady: Duration, clock: Duration) -> Option<Duration> {
    wait.checked_sub(steady.max(clock)).filter(|left| !left.is_zero())
}

fn timed_out(limit: Duration) -> Ended {
    let words = humantime::format_duration(limit);
    let sentence = format!("{words} have passed; what the service works on goes on there");
    Ended::new(Exit::TimedOut, sentence)
}

/// A number in [0, 1) that differs from look to look, so that many who began together do not ask
/// together.
fn fraction() -> f64 {
    f64::from(clock().subsec_micros() % 1000) / 1000.0
}

/// An interval as a person gives it.
///
/// # Errors
/// It is no duration, or so short that it would burden the service.
pub fn parse_interval(raw: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) {
        return Err("an interval is 100ms at least".to_owned());
    }
    Ok(interval)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n22_a_machine_that_slept_looks_once_and_at_once() {
        let [second, minute] = [Duration::from_secs(1), Duration::from_mins(1)];
        assert_eq!(left(minute, second, second), Some(minute.checked_sub(second).unwrap()));
        assert_eq!(left(minute, second, Duration::from_hours(10)), None, "it slept");
        assert_eq!(left(minute, minute, Duration::ZERO), None, "its clock was set back");
        assert!(fraction() < 1.0);
    }

    #[test]
    fn m22_an_interval_is_a_duration_that_burdens_nobody() {
        assert_eq!(parse_interval("2s"), Ok(Duration::from_secs(2)));
        assert!(parse_interval("1ms").unwrap_err().contains("100ms"));
        assert!(parse_interval("soon").is_err());
    }
}
