//! Says what the user waits for: responses, retries and the end of an outage. Come here to change what is said about
//! a wait.

use std::time::Duration;

use tessera_model::RequestRecord;
use tessera_wire::endpoints::Endpoint;

use crate::app::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The time since the last successful response. `None` if there was none.
    pub down_for: Option<Duration>,
    /// The time until the next attempt. `None` while an attempt is running.
    pub retry_in: Option<Duration>,
}

/// How long the user waits before the wait is shown on screen.
const SHOW_WAIT_AFTER: Duration = Duration::from_secs(2);

impl Results {
    pub(super) fn awaited_lanes(&self, outbox: &Outbox) -> impl Iterator<Item = Lane> {
        let page = self.requested_search().map(Lane::Page);
        let lanes = page.into_iter().chain([Lane::Anchor]);
        lanes.filter(|lane| outbox.tickets.is_open(lane))
    }

    /// Returns how long the user has waited, once that is worth showing.
    pub fn wait_time(&self, outbox: &Outbox) -> Option<Duration> {
        let waited = outbox.now.saturating_sub(self.waiting_since(outbox)?);
        (waited >= SHOW_WAIT_AFTER).then_some(waited)
    }

    fn waiting_since(&self, outbox: &Outbox) -> Option<Uptime> {
        self.awaited_lanes(outbox).filter_map(|lane| outbox.tickets.opened_at(&lane)).min()
    }
}

/// Returns the outage of the service, if there is one. What was loaded stays on screen.
pub fn outage(app: &App) -> Option<Outage> {
    let datasets = &app.service_data.datasets;
    if !datasets.failure().is_some_and(Failure::is_connection_failure) {
        return None;
    }
    let since = datasets.value().map(|_| app.outbox.now.saturating_sub(datasets.updated_at()));
    let loading = app.outbox.tickets.is_open(&Lane::Datasets);
    let due = app.datasets_read().filter(|_| !loading).map(|read| read.due);
    Some(Outage { down_for: since, retry_in: due.map(|due| due.saturating_sub(app.outbox.now)) })
}

/// Describes the pause before a request that the results wait for is repeated.
pub(in crate::app) fn results_retry(app: &App) -> Option<String> {
    let mut lanes = app.results.awaited_lanes(&app.outbox);
    lanes.find_map(|lane| retry_of(app, &lane))
}

/// Describes the pause before the request of a lane is repeated. Attempts before the lane was opened are those of
/// cancelled requests.
fn retry_of(app: &App, lane: &Lane) -> Option<String> {
    let endpoint = match lane {
        Lane::Datasets => Endpoint::Datasets,
        Lane::Page(_) => Endpoint::Explore,
        Lane::Anchor => Endpoint::RegisterAnchor,
        _ => return None,
    };
    let (purpose, since) = (endpoint.retry_rule().purpose, app.outbox.tickets.opened_at(lane)?);
    let is_of_lane = |at, record: &RequestRecord| at >= since && record.purpose == purpose;
    app.log.pending_retry_of(app.outbox.now, is_of_lane)
}

/// Says that the datasets are loading, and when the request for them is repeated.
pub fn loading_text(app: &App) -> String {
    let retry = retry_of(app, &Lane::Datasets);
    retry.map_or_else(|| "loading".to_owned(), |retry| format!("loading: {retry}"))
}

/// Returns when a number of seconds on screen changes next.
pub(in crate::app) fn next_counter_tick(app: &App) -> Option<Uptime> {
    let next = Uptime::from_secs(app.outbox.now.as_secs() + 1);
    let counted =
        app.results.waiting_since(&app.outbox).map(|since| next.max(since + SHOW_WAIT_AFTER));
    let ticks = [
        outage(app).map(|_| next),
        app.log.pending_retry(app.outbox.now).map(|_| next),
        app.login.next_login_tick(app.outbox.now, app.outbox.clock()),
    ];
    counted.into_iter().chain(ticks.into_iter().flatten()).min()
}
