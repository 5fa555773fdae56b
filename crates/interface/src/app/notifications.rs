//! Keeps the notifications and the log of requests. Notifications expire, except for errors. Both lists are bounded, so
//! that a day of polling does not let them grow.

use std::time::Duration;

use tessera_model::{RequestOutcome, RequestRecord, SafeText, text::format_wait};

use crate::{
    app::{Uptime, bounded_list::push_bounded},
    message::Lane,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Success,
    /// Something is unavailable, or worth knowing.
    Warning,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub level: Level,
    pub text: SafeText,
    expires_at: Option<Uptime>,
    /// The lane of the request that has failed.
    failed: Option<Lane>,
}

#[derive(Debug, Default)]
pub struct Notifications {
    pending: Vec<Notification>,
    /// All notifications for the log, oldest first.
    history: Vec<(Uptime, Notification)>,
    pushed: usize,
}

impl Notifications {
    const MAX_PENDING: usize = 8;
    const MAX_HISTORY: usize = 200;

    /// Creates the notifications from the warnings at the start.
    pub fn of_warnings(warnings: &[String]) -> Self {
        let mut notifications = Self::default();
        for warning in warnings {
            notifications.push(Uptime::ZERO, Level::Warning, warning);
        }
        notifications
    }

    /// Adds a notification. If the same text is shown already, only its time is extended.
    pub fn push(&mut self, now: Uptime, level: Level, text: impl AsRef<str>) {
        let life = match level {
            Level::Success => Some(Duration::from_secs(4)),
            Level::Warning => Some(Duration::from_secs(8)),
            Level::Error => None,
        };
        let text = SafeText::detail(text.as_ref());
        self.pending.retain(|notice| notice.text != text);
        let expires_at = life.map(|life| now + life);
        let notice = Notification { level, text, expires_at, failed: None };
        self.pushed += 1;
        push_bounded(&mut self.history, (now, notice.clone()), Self::MAX_HISTORY);
        push_bounded(&mut self.pending, notice, Self::MAX_PENDING);
    }

    pub fn remove_expired(&mut self, now: Uptime) {
        self.pending.retain(|notice| notice.expires_at.is_none_or(|end| end > now));
    }

    /// Notes that the notifications after the first `count` ones report that a request of this lane has failed.
    pub(in crate::app) fn note_failure(&mut self, lane: &Lane, count: usize) {
        for notice in self.pending.iter_mut().rev().take(self.pushed - count) {
            notice.failed = Some(lane.clone());
        }
    }

    /// Removes the failures of earlier requests of this lane, after a later one has succeeded.
    pub(in crate::app) fn remove_failures(&mut self, lane: &Lane) {
        self.pending.retain(|notice| notice.failed.as_ref() != Some(lane));
    }

    /// Dismisses the notification on screen if it is an error. Returns whether it was one.
    pub fn dismiss(&mut self) -> bool {
        let stays = self.current().is_some_and(|notice| notice.expires_at.is_none());
        stays && self.pending.pop().is_some()
    }

    /// Returns the notification on screen, which is the newest.
    pub fn current(&self) -> Option<&Notification> {
        self.pending.last()
    }

    pub fn history(&self) -> impl Iterator<Item = &(Uptime, Notification)> {
        self.history.iter().rev()
    }

    /// Returns how many notifications there have been, including forgotten ones.
    pub fn pushed(&self) -> usize {
        self.pushed
    }

    pub fn count(&self) -> usize {
        self.pending.len()
    }

    pub fn next_expiry(&self) -> Option<Uptime> {
        self.pending.iter().filter_map(|notice| notice.expires_at).min()
    }
}

#[derive(Debug, Default)]
pub struct RequestLog {
    exchanges: Vec<(Uptime, RequestRecord)>,
}

impl RequestLog {
    const CAPACITY: usize = 500;
    const MIN_SHOWN_PAUSE: Duration = Duration::from_secs(3);

    pub(in crate::app) fn add(&mut self, now: Uptime, exchange: RequestRecord) {
        push_bounded(&mut self.exchanges, (now, exchange), Self::CAPACITY);
    }

    /// Describes the request that is repeated after the longest pause, unless all pauses are short.
    pub fn pending_retry(&self, now: Uptime) -> Option<String> {
        self.pending_retry_of(now, |_, _| true)
    }

    /// Describes the one of these requests that is repeated after the longest pause. `is_counted` gets the time at which
    /// an attempt ended, and its record.
    pub(in crate::app) fn pending_retry_of(
        &self,
        now: Uptime,
        is_counted: impl Fn(Uptime, &RequestRecord) -> bool,
    ) -> Option<String> {
        let exchanges = self.exchanges.iter().filter(|(at, record)| is_counted(*at, record));
        let pending = exchanges.filter_map(|(at, record)| {
            let pause = record.retry_in.filter(|pause| *pause >= Self::MIN_SHOWN_PAUSE)?;
            let left = (*at + pause).checked_sub(now).filter(|left| !left.is_zero())?;
            Some((left, &record.outcome))
        });
        let (left, outcome) = pending.max_by_key(|(left, _)| *left)?;
        let cause = match outcome {
            RequestOutcome::Rejected { status, .. } => status.to_string(),
            _ => "no response".to_owned(),
        };
        Some(format!("{cause}, next try in {}", format_wait(left)))
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &(Uptime, RequestRecord)> {
        self.exchanges.iter().rev()
    }
}
