//! Waiting for the service: for how long, how to stop it, and outages.

use std::time::Duration;

use crate::{
    app::{App, Effect, Level, Uptime},
    message::Lane,
};
use tessera_model::{Failure, FailureKind, text::count_with_noun};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Time since the last successful response; `None` when there was none.
    pub down_for: Option<Duration>,
    /// Time until the next attempt; `None` while one is running.
    pub retry_in: Option<Duration>,
}

/// From when on a wait is shown on screen.
const SHOW_WAIT_AFTER: Duration = Duration::from_secs(2);

impl App {
    /// What was loaded stays on screen during an outage.
    pub fn outage(&self) -> Option<Outage> {
        let datasets = &self.store.datasets;
        if !datasets.failure().is_some_and(Failure::is_connection_failure) {
            return None;
        }
        let since = datasets.value().map(|_| self.outbox.now.saturating_sub(datasets.updated_at()));
        let loading = self.outbox.tickets.is_open(&Lane::Datasets);
        let due = self.datasets_read().filter(|_| !loading).map(|read| read.due);
        Some(Outage {
            down_for: since,
            retry_in: due.map(|due| due.saturating_sub(self.outbox.now)),
        })
    }

    fn awaited_lanes(&self) -> impl Iterator<Item = Lane> {
        let page = self.requested_search().map(Lane::Page);
        let lanes = page.into_iter().chain([Lane::Anchor]);
        lanes.filter(|lane| self.outbox.tickets.is_open(lane))
    }

    /// How long the user has waited, once that is worth showing.
    pub fn wait_time(&self) -> Option<Duration> {
        let waited = self.outbox.now.saturating_sub(self.waiting_since()?);
        (waited >= SHOW_WAIT_AFTER).then_some(waited)
    }

    fn waiting_since(&self) -> Option<Uptime> {
        self.awaited_lanes().filter_map(|lane| self.outbox.tickets.opened_at(&lane)).min()
    }

    /// When a number of seconds on screen changes next.
    pub(super) fn next_counter_tick(&self) -> Option<Uptime> {
        let next = Uptime::from_secs(self.outbox.now.as_secs() + 1);
        let counted = self.waiting_since().map(|since| next.max(since + SHOW_WAIT_AFTER));
        let ticks = [self.outage().map(|_| next), self.next_login_tick()];
        counted.into_iter().chain(ticks.into_iter().flatten()).min()
    }

    /// Quits; while media are still on this machine only the second time. Exports and downloads are resumed at
    /// the next start.
    pub(super) fn quit(&mut self) {
        let unsent = self.jobs.iter().filter(|job| job.state().is_unsent()).count();
        if unsent <= self.jobs.quit_warned_about {
            return self.outbox.push(Effect::Quit);
        }
        self.jobs.quit_warned_about = unsent;
        let additions = count_with_noun(unsent, "addition ends", "additions end");
        let text =
            format!("{additions} with the program before all media are sent; quit again to end");
        self.outbox.notify(Level::Warning, text);
    }

    /// Cancels what the user waits for; quits if there is nothing to cancel.
    pub(super) fn stop_or_quit(&mut self) {
        let lanes: Vec<Lane> = self.awaited_lanes().collect();
        if lanes.is_empty() {
            return self.quit();
        }
        for lane in lanes {
            if let Lane::Page(search) = &lane {
                self.results.edit_view(|view| view.pending_page = None);
                let stopped =
                    Failure::new(FailureKind::Local, "cancelled before the service responded");
                self.results.pages.entry(search.clone()).finish(self.outbox.now, Err(stopped));
            }
            if lane == Lane::Anchor {
                self.results.registering = None;
            }
            self.outbox.cancel(lane);
        }
    }
}
