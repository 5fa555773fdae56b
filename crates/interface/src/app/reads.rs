//! Schedules reads: after every event, what is visible decides what is loaded. Come here to change when something is
//! loaded.
//!
//! No action has to load anything, and nothing is requested twice. Scrolling fast leaves no requests behind, because
//! pictures that are no longer visible are cancelled here. Polling follows the same rule: a value that is too old is
//! loaded again.

use std::{mem, time::Duration};

use tessera_model::{Dataset, StateKey, polling::PollTarget};

use crate::app::prelude::*;
use crate::app::{
    JobState,
    basket::select::select_loaded_pages,
    kept_tags, model_offer,
    overlay::{
        command_list::{CommandList, ListKind},
        export::ExportForm,
        facets::Facets,
        file_picker::folder_to_list,
        map::MapView,
        saved_views::needs_saved_views,
        split::SplitForm,
    },
    view::pictures::VisiblePicture,
    viewer::{PictureList, focused_list},
    visible_pictures::visible_pictures,
    waiting::next_counter_tick,
};

pub(in crate::app) struct ScheduledRead {
    lane: Lane,
    request: Request,
    pub(in crate::app) due: Uptime,
}

impl ScheduledRead {
    fn now((lane, request): (Lane, Request)) -> Self {
        Self { lane, request, due: Uptime::ZERO }
    }

    /// Returns the read of a value that is due at some time.
    fn at(due: Option<Uptime>, lane: Lane, request: Request) -> Option<Self> {
        Some(Self { lane, request, due: due? })
    }
}

/// Returns when a value is due that is loaded once. A value that was never requested is due at once.
fn due_once<T>(known: Option<&Remote<T>>) -> Option<Uptime> {
    known.map_or(Some(Uptime::ZERO), |known| known.due(None))
}

/// The time between two reads of the files of jobs, which are on this machine. A command that starts a job is usually
/// run beside the interface, and its job should be there when the user looks back.
const JOBS_INTERVAL: Duration = Duration::from_secs(2);

impl App {
    /// Sends the reads that are due, cancels the reads that are no longer needed, and sets the next
    /// wake-up.
    pub(in crate::app) fn load_missing(&mut self) {
        select_loaded_pages(self);
        self.results.scan_loaded_pages();
        self.retry_failed_picture();
        let pictures = visible_pictures(self);
        let reads = self.scheduled_reads();
        self.cancel_stale(&reads, &pictures);
        let expiry = self.outbox.notifications.next_expiry();
        let mut wake = expiry.into_iter().chain(self.session.due).min();
        for read in reads {
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
            self.service_data.request_picture(picture, &mut self.outbox);
        }
        let other = [next_counter_tick(self), self.next_frame_due()];
        let wake = other.into_iter().flatten().chain(wake).min();
        self.outbox.wake_at(wake);
    }

    /// Requests the picture under the cursor again if it has failed and the cursor was moved.
    fn retry_failed_picture(&mut self) {
        if mem::take(&mut self.results.cursor_moved)
            && let Some(preview) = self.results.preview()
        {
            self.service_data.pictures.forget_failure_of(preview.media);
        }
    }

    fn scheduled_reads(&self) -> Vec<ScheduledRead> {
        let whole = [self.baskets.next_page_to_select(), self.results.page_to_scan()];
        let pages_of_whole = whole.into_iter().flatten();
        let pages_of_whole = pages_of_whole
            .map(|search| (Lane::Page(search.clone()), Request::Explore(search.clone())));
        let mut reads: Vec<ScheduledRead> = self.datasets_read().into_iter().collect();
        reads.extend(self.enrichment_reads());
        reads.extend(self.local_dataset_read());
        reads.extend(self.overview_reads());
        reads.extend(self.tags_read());
        reads.extend(self.page_reads());
        reads.extend(self.members_read());
        reads.extend(pages_of_whole.map(ScheduledRead::now));
        reads.extend(self.jobs_read());
        reads.extend(self.state_reads());
        reads.extend(self.export_reads());
        reads.extend(self.folder_read());
        let preview = ExportForm::preview_request(&self.overlays);
        let map = MapView::map_request(&self.overlays);
        reads.extend(preview.into_iter().chain(map).map(ScheduledRead::now));
        reads
    }

    fn state_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        let keys = [
            self.baskets.to_load(&self.results),
            kept_tags::state_to_load(self),
            needs_saved_views(self).then_some(StateKey::Views),
            self.history.needs_history().then_some(StateKey::History),
            model_offer::state_to_load(self),
        ];
        let read = |key| ScheduledRead::now((Lane::LoadState(key), Request::LoadState(key)));
        keys.into_iter().flatten().map(read)
    }

    /// Returns the interval of a poll, which is longer while the window has no focus.
    fn poll_interval(&self, interval: Duration) -> Duration {
        if self.screen.window_focused {
            return interval;
        }
        self.setup.settings.poll.unfocused_interval(interval)
    }

    /// Returns the read of the jobs of earlier runs, and of commands that run or end meanwhile.
    fn jobs_read(&self) -> Option<ScheduledRead> {
        let due = self.jobs.load_due(self.poll_interval(JOBS_INTERVAL));
        let key = StateKey::Jobs;
        ScheduledRead::at(due, Lane::LoadState(key), Request::LoadState(key))
    }

    /// Returns the read of the list of datasets, which is polled while automatic refresh is on.
    pub(in crate::app) fn datasets_read(&self) -> Option<ScheduledRead> {
        let busy = self.service_data.dataset_list().iter().any(|dataset| dataset.status.is_busy());
        let followed = self
            .jobs
            .any_state(|state| matches!(state, JobState::DatasetRunning | JobState::Queued(_)));
        let target =
            if busy || followed { PollTarget::BusyDatasets } else { PollTarget::IdleDatasets };
        let datasets = &self.service_data.datasets;
        // During an outage, the datasets are polled even without automatic refresh, so that the end
        // of the outage is noticed.
        let polls = self.datasets.auto_refresh || followed || datasets.failures() > 0;
        let interval = self.setup.settings.poll.interval(target, datasets.failures());
        let due = datasets.due(polls.then(|| self.poll_interval(interval)));
        ScheduledRead::at(due, Lane::Datasets, Request::Datasets)
    }

    /// Returns the dataset whose status is on screen.
    fn dataset_of_status(&self) -> Option<&Dataset> {
        self.selected_dataset().filter(|_| self.areas().shows_status())
    }

    /// Returns the reads of the enrichments of the dataset whose status is on screen, and of the dataset whose captions
    /// are searched or that may be offered a model.
    fn enrichment_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        let shown = self.dataset_of_status().map(|dataset| dataset.id);
        let view = self.results.view().map(|view| &view.search);
        let searched = view.filter(|search| matches!(search.query, Query::Caption { .. }));
        let searched = searched.map(|search| search.dataset).filter(|id| shown != Some(*id));
        let offered = model_offer::dataset_of_offer(self)
            .filter(|id| ![shown, searched].contains(&Some(*id)));
        [shown, searched, offered].into_iter().flatten().filter_map(|id| {
            let due = due_once(self.service_data.enrichments.get(&id));
            ScheduledRead::at(due, Lane::Enrichment(id), Request::Enrichment(id))
        })
    }

    /// Returns the read of what only a local service knows about a dataset. While the dataset whose status is on screen
    /// is busy, the response shows how many of its media are encoded. For a service at an address, the first response
    /// shows whether it is a local service.
    fn local_dataset_read(&self) -> Option<ScheduledRead> {
        let is_local = self.has_local_service();
        let busy = self.dataset_of_status().filter(|dataset| is_local && dataset.status.is_busy());
        let unknown = self.service_data.dataset_list().first().filter(|_| !is_local);
        let id = busy.or(unknown)?.id;
        let due = self.service_data.local_datasets.get(&id).map_or(Some(Uptime::ZERO), |known| {
            let target = match known.failure() {
                _ if busy.is_some() => PollTarget::BusyDatasets,
                Some(failure) if failure.is_connection_failure() => PollTarget::IdleDatasets,
                // The answer does not change.
                _ => return known.due(None),
            };
            let interval = self.setup.settings.poll.interval(target, 0);
            known.due(Some(self.poll_interval(interval)))
        });
        ScheduledRead::at(due, Lane::LocalFacts(id), Request::LocalDataset(id))
    }

    /// Returns the reads of the counts that the open facets show.
    fn overview_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        Facets::overviews_to_show(self).into_iter().filter_map(|(dataset, entity)| {
            let due = due_once(self.service_data.overviews.get(&(dataset, entity)));
            let request = Request::Overview(dataset, entity);
            ScheduledRead::at(due, Lane::Overview(dataset, entity), request)
        })
    }

    /// Returns the read of the tags, while the tagging mode is on, or the form of a split or the palette is open.
    fn tags_read(&self) -> Option<ScheduledRead> {
        let is_offered = self.overlays.dialog::<SplitForm>().is_some()
            || CommandList::opened(&self.overlays, ListKind::Palette).is_some();
        let is_needed = (self.tagging.is_on || is_offered) && !kept_tags::are_kept(self);
        let dataset = self.dataset().filter(|_| is_needed)?.id;
        let due = due_once(self.tagging.tags.get(&dataset));
        ScheduledRead::at(due, Lane::Tags(dataset), Request::Tags(dataset))
    }

    /// Returns the reads of the page on screen, of the requested page, and of the media item at the cursor of a map. A
    /// page is kept until it is invalidated. A page that failed is loaded again only after a connection failure.
    fn page_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        let view = self.results.view().filter(|view| view.computed.is_none());
        let searches =
            view.map(|view| view.search.clone()).into_iter().chain(self.results.pending_search());
        searches.chain(MapView::page_to_load(self)).filter_map(|search| {
            let due = self.results.pages.get(&search).map_or(Some(Uptime::ZERO), |page| {
                let broken = page.failure().is_some_and(Failure::is_connection_failure);
                page.due(broken.then(|| {
                    self.setup.settings.poll.interval(PollTarget::IdleDatasets, page.failures())
                }))
            });
            ScheduledRead::at(due, Lane::Page(search.clone()), Request::Explore(search))
        })
    }

    /// Returns the read of the next members, while the user goes through the members of a cluster.
    fn members_read(&self) -> Option<ScheduledRead> {
        if focused_list(self.panes.focus, &self.results) != PictureList::Members {
            return None;
        }
        let retry =
            |failures| self.setup.settings.poll.interval(PollTarget::IdleDatasets, failures);
        let (page, cluster, due) = self.results.members_read(retry)?;
        let lane = Lane::Members(self.results.view()?.search.clone(), cluster);
        ScheduledRead::at(Some(due), lane, Request::Members(page, cluster))
    }

    /// Returns the read of the folder in which a path is being typed. A folder is read once per
    /// visit, and again for other names if it has too many entries.
    fn folder_read(&self) -> Option<ScheduledRead> {
        let query = folder_to_list(&self.overlays, &self.setup)?;
        let due = due_once(self.service_data.folder.listing_of(&query));
        ScheduledRead::at(due, Lane::Folder(query.clone()), Request::Folder(query))
    }

    fn export_reads(&self) -> impl Iterator<Item = ScheduledRead> {
        self.jobs.iter().filter_map(|job| {
            let JobState::ExportRunning(task, _) = job.state() else { return None };
            let due = job.next_poll(self.outbox.clock(), self.setup.settings.poll);
            let request = Request::ExportStatus(job.dataset, *task);
            ScheduledRead::at(due, Lane::Export(job.id), request)
        })
    }

    /// Cancels the pages, folders and pictures that are no longer needed. A value that is being loaded is still due, so
    /// its read is among the scheduled ones while it is needed.
    fn cancel_stale(&mut self, reads: &[ScheduledRead], pictures: &[VisiblePicture]) {
        self.outbox.cancel_matching(|lane| match lane {
            Lane::Picture(..) => !pictures.iter().any(|wanted| wanted.lane() == *lane),
            Lane::Page(_)
            | Lane::Members(..)
            | Lane::Map(_)
            | Lane::ExportPreview(..)
            | Lane::Folder(_) => !reads.iter().any(|wanted| wanted.lane == *lane),
            _ => false,
        });
    }
}
