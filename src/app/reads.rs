//! Scheduled reads: after every event, what is visible decides what is loaded.
//!
//! No action has to load anything, nothing is requested twice, and scrolling fast leaves no
//! requests behind, because pictures that are no longer visible are cancelled here. Polling works
//! the same way: a value that is too old is loaded again.

use std::time::Duration;

use crate::{
    app::{App, JobState, Uptime, view::visible_pictures::VisiblePicture},
    message::{Lane, Request},
};
use tessera_model::{Failure, Search, StateKey, polling::PollTarget};

pub(super) struct ScheduledRead {
    lane: Lane,
    request: Request,
    pub(super) due: Uptime,
}

impl ScheduledRead {
    fn now(lane: Lane, request: Request) -> Self {
        Self { lane, request, due: Uptime::ZERO }
    }
}

impl App {
    /// Sends the reads that are due, cancels those no longer needed, and sets the next wake-up.
    pub(super) fn load_missing(&mut self) {
        let pictures = self.visible_pictures();
        self.select_loaded_pages();
        self.cancel_stale(&pictures);
        let expiry = self.outbox.notifications.next_expiry();
        let mut wake = expiry.into_iter().chain(self.session.due).min();
        for read in self.scheduled_reads() {
            if self.outbox.tickets.is_open(&read.lane) {
                continue;
            }
            if read.due <= self.outbox.now {
                self.outbox.send(read.lane, read.request);
            } else {
                wake = Some(wake.map_or(read.due, |earlier| earlier.min(read.due)));
            }
        }
        for picture in pictures {
            self.request_picture(picture);
        }
        let other = [self.next_counter_tick(), self.next_frame_due()];
        let wake = other.into_iter().flatten().chain(wake).min();
        self.outbox.wake_at(wake);
    }

    fn scheduled_reads(&self) -> Vec<ScheduledRead> {
        let page_to_select = self.next_page_to_select().map(|search| {
            ScheduledRead::now(Lane::Page(search.clone()), Request::Explore(search.clone()))
        });
        let mut reads: Vec<ScheduledRead> = self.datasets_read().into_iter().collect();
        reads.extend(self.enrichment_read());
        reads.extend(self.page_reads());
        reads.extend(page_to_select);
        reads.extend(self.jobs_read());
        reads.extend(self.state_reads());
        reads.extend(self.export_reads());
        reads.extend(self.folder_read());
        reads
    }

    fn state_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        let keys = [
            self.basket_to_load(),
            self.needs_saved_views().then_some(StateKey::Views),
            self.needs_history().then_some(StateKey::History),
        ];
        let read = |key| ScheduledRead::now(Lane::LoadState(key), Request::Recall(key));
        keys.into_iter().flatten().map(read)
    }

    /// The jobs of earlier runs, and of commands that run or end meanwhile.
    fn jobs_read(&self) -> Option<ScheduledRead> {
        let interval = self.setup.cadence.interval(PollTarget::IdleDatasets, 0);
        let due = self.jobs.load_due(self.poll_interval(interval))?;
        let (lane, request) = (Lane::LoadState(StateKey::Jobs), Request::Recall(StateKey::Jobs));
        Some(ScheduledRead { lane, request, due })
    }

    /// The list of datasets, polled while automatic refresh is on.
    pub(super) fn datasets_read(&self) -> Option<ScheduledRead> {
        let busy = self.store.dataset_list().iter().any(|dataset| dataset.status.is_busy());
        let followed = self
            .jobs
            .any_state(|state| matches!(state, JobState::DatasetRunning | JobState::Queued(_)));
        let target =
            if busy || followed { PollTarget::BusyDatasets } else { PollTarget::IdleDatasets };
        let datasets = &self.store.datasets;
        // Without automatic refresh, an outage is still polled for its end.
        let polls = self.datasets.auto_refresh || followed || datasets.failures() > 0;
        let due = datasets.due(polls.then(|| {
            self.poll_interval(self.setup.cadence.interval(target, datasets.failures()))
        }))?;
        Some(ScheduledRead { lane: Lane::Datasets, request: Request::Datasets, due })
    }

    /// Without the focus, the program polls less often.
    fn poll_interval(&self, interval: Duration) -> Duration {
        if self.screen.window_focused {
            interval
        } else {
            self.setup.cadence.unfocused_interval(interval)
        }
    }

    /// The enrichments of the selected dataset, while its status is on screen.
    fn enrichment_read(&self) -> Option<ScheduledRead> {
        let id = self.areas().status.and(self.selected_dataset())?.id;
        let enrichment = self.store.enrichments.get(&id);
        let due = enrichment.map_or(Some(Uptime::ZERO), |enrichment| enrichment.due(None))?;
        Some(ScheduledRead { lane: Lane::Enrichment(id), request: Request::Enrichment(id), due })
    }

    /// The page on screen and the requested one. A page is kept until it is invalidated; a failed one is
    /// loaded again only after a connection failure.
    fn page_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        let view = self.view().filter(|view| view.computed.is_none());
        let searches =
            view.map(|view| view.search.clone()).into_iter().chain(self.pending_search());
        searches.filter_map(|search| {
            let due = self.results.pages.get(&search).map_or(Some(Uptime::ZERO), |page| {
                let broken = page.failure().is_some_and(Failure::is_connection_failure);
                page.due(broken.then(|| {
                    self.setup.cadence.interval(PollTarget::IdleDatasets, page.failures())
                }))
            })?;
            let (lane, request) = (Lane::Page(search.clone()), Request::Explore(search));
            Some(ScheduledRead { lane, request, due })
        })
    }

    /// The folder in which a path is being typed, once per visit.
    fn folder_read(&self) -> Option<ScheduledRead> {
        let folder = self.folder_to_list()?;
        let listing = self.store.folder_listing(&folder);
        let due = listing.map_or(Some(Uptime::ZERO), |listing| listing.due(None))?;
        let (lane, request) = (Lane::Folder(folder.clone()), Request::Folder(folder));
        Some(ScheduledRead { lane, request, due })
    }

    fn export_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        self.jobs.iter().filter_map(|job| {
            let (JobState::ExportRunning(task, _), Some(due)) =
                (job.state(), job.next_poll(self.clock(), self.setup.cadence))
            else {
                return None;
            };
            let request = Request::ExportStatus(job.dataset, *task);
            Some(ScheduledRead { lane: Lane::Export(job.id), request, due })
        })
    }

    /// Cancels the pages, folders and pictures that are no longer needed.
    fn cancel_stale(&mut self, pictures: &[VisiblePicture]) {
        let pages = [self.view().map(|view| &view.search), self.next_page_to_select()];
        let mut pages: Vec<Search> = pages.into_iter().flatten().cloned().collect();
        pages.extend(self.pending_search());
        let folder = self.folder_to_list().map(Lane::Folder);
        let stale: Vec<Lane> = self
            .outbox
            .tickets
            .lanes()
            .filter(|lane| match lane {
                Lane::Picture(..) => !pictures.iter().any(|wanted| wanted.lane() == **lane),
                Lane::Page(search) => !pages.contains(search),
                Lane::Folder(_) => Some(*lane) != folder.as_ref(),
                _ => false,
            })
            .cloned()
            .collect();
        for lane in stale {
            self.outbox.cancel(lane);
        }
    }
}
