//! Schedules reads: after every event, what is visible decides what is loaded. Come here to change when something is
//! loaded.
//!
//! No action has to load anything, and nothing is requested twice. Scrolling fast leaves no requests behind, because
//! pictures that are no longer visible are cancelled here. Polling follows the same rule: a value that is too old is
//! loaded again. What the user waits for, and outages of the service, are derived from the reads.

use std::{collections::BTreeSet, mem, time::Duration};

use tessera_model::{
    Dataset, FailureKind, RequestRecord, StateKey, polling::PollTarget, text::count_with_noun,
};
use tessera_picture::Protocol;
use tessera_wire::endpoints::Endpoint;

use crate::app::prelude::*;
use crate::app::{
    Effect, JobState, Jobs,
    areas::DetailLayout,
    basket::select::select_loaded_pages,
    kept_tags, model_offer,
    overlay::{
        command_list::{CommandList, ListKind},
        export::ExportForm,
        facets::Facets,
        file_picker::folder_to_list,
        map::MapView,
        saved_views::needs_saved_views,
        selection_rows::BasketRows,
        split::SplitForm,
    },
    view::pictures::{VisiblePicture, framed_picture, preview_picture},
    viewer::{PictureList, focused_list},
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The time since the last successful response. `None` if there was none.
    pub down_for: Option<Duration>,
    /// The time until the next attempt. `None` while an attempt is running.
    pub retry_in: Option<Duration>,
}

/// The time between two reads of the files of jobs, which are on this machine. A command that starts a job is usually
/// run beside the interface, and its job should be there when the user looks back.
const JOBS_INTERVAL: Duration = Duration::from_secs(2);

/// How long the user waits before the wait is shown on screen.
const SHOW_WAIT_AFTER: Duration = Duration::from_secs(2);

impl Results {
    fn awaited_lanes(&self, outbox: &Outbox) -> impl Iterator<Item = Lane> {
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

impl Jobs {
    /// Quits, or opens another deployment. If media are still only on this machine, the first call warns and the second
    /// call leaves. Exports and downloads are resumed at the next start.
    pub(in crate::app) fn leave(&mut self, exit: Effect, outbox: &mut Outbox) {
        let unsent = self.iter().filter(|job| job.state().is_unsent()).map(|job| job.id);
        let unsent: BTreeSet<_> = unsent.collect();
        if unsent.is_subset(&self.warned_about) {
            return outbox.push(exit);
        }
        let additions = count_with_noun(unsent.len(), "addition ends", "additions end");
        self.warned_about = unsent;
        let text = format!("{additions} before all media are sent; repeat this to leave anyway");
        outbox.notify(Level::Warning, text);
    }
}

impl App {
    /// Returns whether the service is a local one. It is part of this program, or it is at an address, such as that of
    /// `tessera serve`. Only a local service tags media, manages datasets and cancels exports, and it has more filters.
    pub fn has_local_service(&self) -> bool {
        let mut known = self.service_data.local_datasets.values();
        self.setup.deployment == DeploymentKind::Local || known.any(|it| it.value().is_some())
    }

    /// Returns whether the service has not answered yet, so that the program does not know whether it is a local one.
    pub(in crate::app) fn awaits_kind_of_service(&self) -> bool {
        let is_lost = |failure: &Failure| {
            matches!(failure.kind, FailureKind::Unreachable | FailureKind::NoResponse)
        };
        let mut known = self.service_data.local_datasets.values();
        !self.has_local_service() && known.all(|it| it.failure().is_none_or(is_lost))
    }

    /// Describes the writes that the end of the program would stop, or would not send any more.
    pub fn unfinished_writes(&self) -> Vec<String> {
        let names: BTreeSet<_> = self.outbox.tickets.lanes().filter_map(Lane::write_name).collect();
        let names: Vec<_> = names.into_iter().collect();
        let mut lines = Vec::new();
        if !names.is_empty() {
            lines.push(format!("the program ended before this was finished: {}", names.join(", ")));
        }
        let unsent = self.tagging.unsent();
        if unsent > 0 {
            let changes = count_with_noun(unsent, "change of tags was", "changes of tags were");
            lines.push(format!("{changes} not sent"));
        }
        lines
    }

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
        let other = [self.next_counter_tick(), self.next_frame_due()];
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
        ScheduledRead::at(due, Lane::LocalState(id), Request::LocalDataset(id))
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

    /// Returns the outage of the service, if there is one. What was loaded stays on screen.
    pub fn outage(&self) -> Option<Outage> {
        let datasets = &self.service_data.datasets;
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

    /// Describes the pause before a request that the results wait for is repeated.
    pub(in crate::app) fn results_retry(&self) -> Option<String> {
        let mut lanes = self.results.awaited_lanes(&self.outbox);
        lanes.find_map(|lane| self.retry_of(&lane))
    }

    /// Describes the pause before the request of a lane is repeated. Attempts before the lane was opened are those of
    /// cancelled requests.
    fn retry_of(&self, lane: &Lane) -> Option<String> {
        let endpoint = match lane {
            Lane::Datasets => Endpoint::Datasets,
            Lane::Page(_) => Endpoint::Explore,
            Lane::Anchor => Endpoint::RegisterAnchor,
            _ => return None,
        };
        let (purpose, since) =
            (endpoint.retry_rule().purpose, self.outbox.tickets.opened_at(lane)?);
        let is_of_lane = |at, record: &RequestRecord| at >= since && record.purpose == purpose;
        self.log.pending_retry_of(self.outbox.now, is_of_lane)
    }

    /// Says that the datasets are loading, and when the request for them is repeated.
    pub fn loading_text(&self) -> String {
        let retry = self.retry_of(&Lane::Datasets);
        retry.map_or_else(|| "loading".to_owned(), |retry| format!("loading: {retry}"))
    }

    /// Returns when a number of seconds on screen changes next.
    pub(in crate::app) fn next_counter_tick(&self) -> Option<Uptime> {
        let next = Uptime::from_secs(self.outbox.now.as_secs() + 1);
        let counted =
            self.results.waiting_since(&self.outbox).map(|since| next.max(since + SHOW_WAIT_AFTER));
        let ticks = [
            self.outage().map(|_| next),
            self.log.pending_retry(self.outbox.now).map(|_| next),
            self.login.next_login_tick(self.outbox.now, self.outbox.clock()),
        ];
        counted.into_iter().chain(ticks.into_iter().flatten()).min()
    }

    /// Cancels what the user waits for. Quits if there is nothing to cancel.
    pub(in crate::app) fn stop_or_quit(&mut self) {
        if self.baskets.stop_loading(&mut self.outbox)
            || self.results.view_mut().is_some_and(View::stop_scan)
        {
            return;
        }
        let lanes: Vec<Lane> = self.results.awaited_lanes(&self.outbox).collect();
        if lanes.is_empty() {
            return self.jobs.leave(Effect::Quit, &mut self.outbox);
        }
        for lane in lanes {
            if let Lane::Page(search) = &lane {
                self.results.edit_view(|view| view.pending_page = None);
                let stopped = Failure::local("cancelled before the service responded");
                self.results.pages.entry(search.clone()).finish(self.outbox.now, Err(stopped));
            }
            if lane == Lane::Anchor {
                self.results.registering = None;
            }
            self.outbox.cancel(lane);
        }
    }
}

/// Returns the pictures on screen in the order of loading: those of the overlay, then the detail, then the grid from
/// the cursor outwards.
pub(in crate::app) fn visible_pictures(app: &App) -> Vec<VisiblePicture> {
    let mut pictures = Vec::new();
    if app.screen.protocol == Protocol::None || app.screen.is_too_small() {
        return pictures;
    }
    if let Some(overlay) = app.overlays.current() {
        let shown = overlay.pictures(overlay.area(app), app);
        pictures.extend(shown.into_iter().map(|(_, picture)| picture));
    }
    if let Some(viewer) = &app.viewer {
        pictures.extend(app.viewer_pictures(viewer));
        return pictures;
    }
    let areas = app.areas();
    if let (Some(area), Some(preview)) = (areas.detail, app.results.preview()) {
        let layout = DetailLayout::new(app, area);
        let canvas = app.screen.canvas(layout.picture.width, layout.picture.height);
        pictures
            .extend(framed_picture(preview, canvas).or_else(|| preview_picture(preview, canvas)));
        let previews = app.results.cluster().map_or(&[][..], |cluster| &cluster.previews);
        pictures.extend(layout.strip.iter().filter_map(|(index, area)| {
            preview_picture(previews.get(*index)?, app.screen.canvas(area.width, area.height))
        }));
    }
    if let Some(area) = areas.basket {
        pictures.extend(BasketRows::new(app, area).pictures(app).into_iter().map(|(_, it)| it));
    }
    let Some(grid) = app.grid().filter(|grid| !grid.is_list()) else {
        return pictures;
    };
    let (tiles, cursor) = (app.results.tiles(), app.results.tile_cursor());
    let mut indexes: Vec<usize> = grid.visible().filter(|index| *index < tiles.len()).collect();
    indexes.sort_by_key(|index| index.abs_diff(cursor.tile));
    let tile_areas = indexes
        .into_iter()
        .filter_map(|index| Some(grid.pictures(app, index, grid.tile_area(index)?, &tiles[index])));
    // The large pictures of all tiles come first.
    let collages: Vec<Vec<(&Preview, Rect)>> = tile_areas.collect();
    let large = collages.iter().filter_map(|collage| collage.first());
    let small = collages.iter().flat_map(|collage| collage.iter().skip(1));
    pictures.extend(large.chain(small).filter_map(|(preview, area)| {
        preview_picture(preview, app.screen.canvas(area.width, area.height))
    }));
    pictures
}
