//! Waiting for the service: how long it has been, how to stop it, and a link that is down.

use std::time::Duration;

use crate::{
    app::{App, Effect, Uptime},
    message::Lane,
};
use tessera_model::{Failure, FailureKind};

/// The service does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// How long ago the last good answer came; `None` when there was none.
    pub down_for: Option<Duration>,
    /// When it is asked again; `None` while it is being asked.
    pub retry_in: Option<Duration>,
}

/// From when on the seconds of a wait are counted on screen.
const SHOW_WAIT_AFTER: Duration = Duration::from_secs(2);

impl App {
    /// Whether and how the link to the service is down. What was seen stays on screen.
    #[must_use]
    pub fn outage(&self) -> Option<Outage> {
        let datasets = &self.store.datasets;
        if !datasets.failure().is_some_and(Failure::is_connection_failure) {
            return None;
        }
        let since = datasets.value().map(|_| self.now.saturating_sub(datasets.updated_at()));
        let asking = self.tickets.is_open(&Lane::Datasets);
        let due = self.datasets_read().filter(|_| !asking).map(|want| want.due);
        Some(Outage { down_for: since, retry_in: due.map(|due| due.saturating_sub(self.now)) })
    }

    /// What the person waits for.
    fn awaited_lanes(&self) -> impl Iterator<Item = Lane> {
        let page = self.view().map(|view| Lane::Page(view.search.clone()));
        let lanes = page.into_iter().chain([Lane::Anchor, Lane::Original]);
        lanes.filter(|lane| self.tickets.is_open(lane))
    }

    /// How long the person has waited, once it is long enough to be told.
    #[must_use]
    pub fn wait_time(&self) -> Option<Duration> {
        let waited = self.now.saturating_sub(self.waiting_since()?);
        (waited >= SHOW_WAIT_AFTER).then_some(waited)
    }

    fn waiting_since(&self) -> Option<Uptime> {
        self.awaited_lanes().filter_map(|lane| self.tickets.opened_at(&lane)).min()
    }

    /// When a number of seconds on screen changes next.
    pub(in crate::app) fn next_counter_tick(&self) -> Option<Uptime> {
        let next = Uptime::from_secs(self.now.as_secs() + 1);
        let counted = self.waiting_since().map(|since| next.max(since + SHOW_WAIT_AFTER));
        counted.into_iter().chain(self.outage().map(|_| next)).min()
    }

    /// Stops what the person waits for; with nothing to stop, the program ends.
    pub(in crate::app) fn stop_or_quit(&mut self) {
        let lanes: Vec<Lane> = self.awaited_lanes().collect();
        if lanes.is_empty() {
            return self.effects.push(Effect::Quit);
        }
        for lane in lanes {
            self.tickets.cancel(&lane);
            if let Lane::Page(search) = &lane {
                let stopped = Failure::new(FailureKind::Local, "stopped before the answer came");
                self.store.pages.entry(search.clone()).fail(self.now, stopped);
            }
            if lane == Lane::Anchor {
                self.results.registering = None;
            }
            self.effects.push(Effect::Cancel(lane));
        }
    }
}
