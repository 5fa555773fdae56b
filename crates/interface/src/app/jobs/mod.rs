//! Keeps the jobs: exports, additions and reindexes that were started in this program, including earlier runs. This
//! file has the list of jobs, what the user does with them, and what is saved of them.

pub(in crate::app) mod responses;
pub mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use tessera_model::{
    Archive, DatasetId, Failure, JobKind, JobRecord, MediaAddition, Operation, StateKey,
    StateValue, Timestamp, job::drop_oldest_finished, task_tracker::TaskTracker,
    text::count_with_noun,
};

use crate::{
    app::{
        Activity, App, Level, Outbox, Pane, Remote, Uptime, pane::moved_cursor,
        service_data::LoadedState,
    },
    command_lines::addition_job,
    job::{Job, JobDataset, JobId, JobState},
    message::{Lane, Request},
};

#[derive(Debug, Default)]
pub struct Jobs {
    /// The jobs by id, oldest first.
    by_id: BTreeMap<JobId, Job>,
    cursor: usize,
    next_id: u32,
    /// Whether the jobs of earlier runs are loaded.
    loaded: Remote<()>,
    saved_records: Vec<JobRecord>,
    /// The unsent additions that the user was last warned about when leaving.
    pub(in crate::app) warned_about: BTreeSet<JobId>,
    pub(in crate::app) reported_activity: Activity,
}

impl Jobs {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.by_id.values()
    }

    pub fn get(&self, id: JobId) -> Option<&Job> {
        self.by_id.get(&id)
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Returns the selected row. Row 0 is the newest job.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn selected(&self) -> Option<&Job> {
        self.iter().rev().nth(self.cursor)
    }

    pub(in crate::app) fn any_state(&self, condition: impl Fn(&JobState) -> bool) -> bool {
        self.iter().any(|job| condition(job.state()))
    }

    pub(in crate::app) fn move_cursor(&mut self, by: isize) {
        self.cursor = moved_cursor(self.cursor, by, self.by_id.len());
    }

    /// Moves the cursor to a row, or to the last row if there are fewer.
    pub(in crate::app) fn select_row(&mut self, row: usize) {
        self.cursor = moved_cursor(row, 0, self.by_id.len());
    }

    /// Adds a job, or replaces the job with this id.
    fn insert(&mut self, known: Option<JobId>, create: impl FnOnce(JobId) -> Job) -> JobId {
        let id = known.unwrap_or(JobId(self.next_id));
        self.next_id = self.next_id.max(id.0 + 1);
        self.by_id.insert(id, create(id));
        id
    }

    /// Removes the selected row. The data at the service and on this disk is not removed.
    pub(in crate::app) fn remove_selected(&mut self) {
        if let Some(id) = self.selected().map(|job| job.id) {
            self.by_id.remove(&id);
            self.move_cursor(0);
        }
    }

    pub(in crate::app) fn start(
        &mut self,
        dataset: JobDataset,
        kind: JobKind,
        request: Request,
        outbox: &mut Outbox,
    ) -> JobId {
        let id = self.create(dataset, kind, outbox);
        outbox.send(Lane::StartJob(id), request);
        id
    }

    pub(in crate::app) fn create(
        &mut self,
        dataset: JobDataset,
        kind: JobKind,
        outbox: &mut Outbox,
    ) -> JobId {
        let clock = outbox.clock();
        self.cursor = 0;
        self.insert(None, |id| Job::new(id, dataset, kind, clock))
    }

    /// Returns the job that the action Download applies to: the selected job in the jobs pane, and
    /// the newest ready export in other panes.
    pub(in crate::app) fn job_to_download(&self, focus: Pane) -> Option<&Job> {
        self.addressed(focus, |job| matches!(job.state(), JobState::ExportReady(_)))
    }

    /// Returns the archive of the selected job in the jobs pane, and the newest archive in other panes.
    pub(in crate::app) fn downloaded_archive(&self, focus: Pane) -> Option<&Archive> {
        let is_downloaded = |job: &Job| matches!(job.state(), JobState::Downloaded(..));
        match self.addressed(focus, is_downloaded)?.state() {
            JobState::Downloaded(archive, _) => Some(archive),
            _ => None,
        }
    }

    /// Returns the selected job in the jobs pane, if it matches, and the newest job that matches in other panes.
    fn addressed(&self, focus: Pane, matches: impl Fn(&Job) -> bool) -> Option<&Job> {
        match focus {
            Pane::Jobs => self.selected().filter(|job| matches(job)),
            _ => self.iter().rev().find(|job| matches(job)),
        }
    }

    pub(in crate::app) fn download_selected(&mut self, focus: Pane, outbox: &mut Outbox) {
        if let Some(id) = self.job_to_download(focus).map(|job| job.id) {
            self.download(id, outbox);
        }
    }

    pub(in crate::app) fn download(&mut self, id: JobId, outbox: &mut Outbox) {
        let Some(dataset) = self.get(id).map(|job| job.dataset) else { return };
        if let Some((task, target)) = self.transition(id, Job::start_download, outbox) {
            outbox.send(Lane::Download(id), Request::Download { dataset, task, target });
        }
    }

    /// Whether the job is an export that the service works on.
    pub(in crate::app) fn is_exporting(&self, id: JobId) -> bool {
        self.get(id).is_some_and(|job| matches!(job.state(), JobState::ExportRunning(..)))
    }

    /// Asks the service to cancel the selected export.
    pub(in crate::app) fn cancel_export(&mut self, outbox: &mut Outbox) {
        let Some(job) = self.selected() else { return };
        if let JobState::ExportRunning(task, _) = job.state() {
            outbox.send(Lane::CancelExport(job.id), Request::CancelExport(job.dataset, *task));
        }
    }

    /// Polls every job now, and watches the selected job again if it was unwatched.
    pub(in crate::app) fn poll_now(&mut self, focus: Pane) {
        let selected = self.selected().map(|job| job.id).filter(|_| focus == Pane::Jobs);
        for job in self.by_id.values_mut() {
            if Some(job.id) == selected {
                job.watch_again();
            }
            job.poll_now();
        }
        self.loaded.invalidate();
    }

    /// Applies a transition. A transition that the state of the job does not allow is shown as an
    /// error.
    pub(in crate::app) fn transition<T>(
        &mut self,
        id: JobId,
        apply: impl FnOnce(&mut Job) -> Result<T, Failure>,
        outbox: &mut Outbox,
    ) -> Option<T> {
        let applied = apply(self.by_id.get_mut(&id)?);
        if !self.is_exporting(id) {
            // The response of a poll would find a job that has ended.
            outbox.cancel(Lane::Export(id));
        }
        applied.inspect_err(|failure| outbox.notify_failure(failure)).ok()
    }

    /// Returns when to load the saved jobs, which other instances may have changed. After a failure, they are not
    /// loaded again.
    pub(in crate::app) fn load_due(&self, interval: Duration) -> Option<Uptime> {
        self.loaded.due(self.loaded.failure().is_none().then_some(interval))
    }

    /// Adds the jobs of instances that have exited, and shows the jobs of running instances. A
    /// known job keeps its id. Returns the jobs that were added from exited instances.
    fn adopt(&mut self, exited: Vec<JobRecord>, other_instances: Vec<JobRecord>) -> Vec<JobId> {
        let (elsewhere, mine): (Vec<&Job>, Vec<&Job>) =
            self.iter().partition(|job| matches!(job.state(), JobState::OtherInstance(_)));
        let followed: BTreeSet<Timestamp> = mine.iter().map(|job| job.started_at).collect();
        let known: BTreeMap<Timestamp, JobId> =
            elsewhere.iter().map(|job| (job.started_at, job.id)).collect();
        let id_of = |record: &JobRecord| known.get(&record.started_at).copied();
        self.by_id.retain(|_, job| !matches!(job.state(), JobState::OtherInstance(_)));
        let is_new = |record: &JobRecord| !followed.contains(&record.started_at);
        let adopted = exited.into_iter().filter(is_new);
        let adopted: Vec<JobId> =
            adopted.map(|it| self.insert(id_of(&it), |id| Job::resume(id, it))).collect();
        for record in other_instances {
            self.insert(id_of(&record), |id| Job::resume(id, record).of_other_instance());
        }
        adopted
    }

    /// Moves the cursor to a job, or to the newest job.
    fn select(&mut self, job: Option<JobId>) {
        let row = self.iter().rev().position(|other| Some(other.id) == job);
        self.select_row(row.unwrap_or(0));
    }

    /// Returns the records to save, if they have changed. Before the saved records are loaded, this
    /// returns `None`, so that they are not overwritten.
    fn changed_records(&mut self) -> Option<Vec<JobRecord>> {
        if self.loaded.value().is_none() && self.loaded.failure().is_none() {
            return None;
        }
        let mut records: Vec<JobRecord> = self.iter().filter_map(Job::record).collect();
        drop_oldest_finished(&mut records);
        if records == self.saved_records {
            return None;
        }
        self.saved_records.clone_from(&records);
        Some(records)
    }

    fn resumed_jobs_summary(&self, resumed: &[JobId], origin: &str) -> Option<String> {
        let states = || resumed.iter().filter_map(|id| self.get(*id)).map(Job::state);
        let ready = states().filter(|state| matches!(state, JobState::ExportReady(_))).count();
        let uncertain = states().filter(|state| matches!(state, JobState::Uncertain(_))).count();
        let parts = [
            (states().filter(|state| state.is_active()).count(), "still running"),
            (ready, "finished: d requests a new link"),
            (uncertain, "may have started"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, text)| format!("{count} {text}")).collect();
        let all = count_with_noun(resumed.len(), "job", "jobs");
        (!parts.is_empty()).then(|| format!("{all} {origin}: {}", parts.join(", ")))
    }

    /// Saves the jobs that have changed. Saving is the first effect of an event, so that after a
    /// crash no later effect is missing from the saved jobs.
    pub(in crate::app) fn save(&mut self, outbox: &mut Outbox) {
        let Some(this_instance) = self.changed_records() else { return };
        let value = StateValue::Jobs { this_instance, other_instances: Vec::new() };
        outbox.send_first(Lane::SaveState(StateKey::Jobs), Request::SaveState(value));
    }
}

/// Sends an addition, or queues it until the dataset is free. `folders` are the paths of the
/// addition that are folders.
pub(in crate::app) fn start_add_media(
    app: &mut App,
    dataset: JobDataset,
    addition: MediaAddition,
    folders: &[PathBuf],
) -> JobId {
    let is_free = can_add_media(app, dataset.id);
    let kind = JobKind::AddMedia(addition_job(&addition, folders));
    let id = app.jobs.create(dataset, kind, &mut app.outbox);
    if is_free {
        upload(app, id, addition);
    } else {
        app.jobs.transition(id, |job| job.queue(addition), &mut app.outbox);
    }
    id
}

fn upload(app: &mut App, id: JobId, addition: MediaAddition) {
    let Some(dataset) = app.jobs.get(id).map(|job| job.dataset) else { return };
    let before = app.service_data.dataset(dataset);
    let started = app.jobs.transition(id, |job| job.start_upload(before), &mut app.outbox);
    if started.is_some() {
        app.outbox.send(Lane::Upload(id), Request::AddMedia(dataset, addition));
    }
}

fn can_add_media(app: &App, dataset: DatasetId) -> bool {
    let known = app.service_data.dataset(dataset);
    let denied = known.and_then(|it| it.status.allows(Operation::AddMedia).denial_reason());
    let busy = app.jobs.iter().any(|job| {
        job.dataset == dataset
            && matches!(job.state(), JobState::Uploading(..) | JobState::DatasetRunning)
    });
    denied.is_none() && !busy && app.login.rejection.is_none()
}

/// Sends the queued additions whose dataset has become free, oldest first.
fn send_queued(app: &mut App) {
    let queued = app.jobs.iter().filter_map(|job| match job.state() {
        JobState::Queued(addition) => Some((job.id, job.dataset, (**addition).clone())),
        _ => None,
    });
    for (id, dataset, addition) in queued.collect::<Vec<_>>() {
        if can_add_media(app, dataset) {
            upload(app, id, addition);
        }
    }
}

pub(in crate::app) fn start_reindex(app: &mut App, dataset: JobDataset) {
    let (key, request) = (dataset.id, Request::Reindex(dataset.id));
    let id = app.jobs.start(dataset, JobKind::Reindex, request, &mut app.outbox);
    if let Some(job) = app.jobs.by_id.get_mut(&id) {
        job.track(TaskTracker::starting_from(app.service_data.dataset(key)));
    }
}

/// Stops what this program does for the selected job.
pub(in crate::app) fn stop_watching(app: &mut App) {
    let App { jobs, outbox, .. } = app;
    let Some(id) = jobs.selected().map(|job| job.id) else { return };
    let lane = match jobs.get(id).map(Job::state) {
        Some(JobState::Downloading(..)) => Lane::Download(id),
        Some(JobState::Uploading(..) | JobState::Queued(_)) => Lane::Upload(id),
        Some(JobState::GettingModel(..)) => Lane::GetModel(id),
        Some(JobState::Encoding(..)) => Lane::ApplyModel(id),
        _ => Lane::Export(id),
    };
    let Some(message) = jobs.transition(id, Job::stop_watching, outbox) else { return };
    // The service may have changed the dataset, so the datasets are loaded again.
    if matches!(jobs.get(id).map(Job::state), Some(JobState::Uncertain(_))) {
        app.service_data.datasets.invalidate();
    }
    outbox.cancel(lane);
    outbox.notify(Level::Success, message);
}

/// Adds the loaded jobs of earlier runs and of commands, and follows the jobs in progress.
pub(in crate::app) fn jobs_loaded(app: &mut App, result: LoadedState) {
    let App { jobs, outbox, .. } = app;
    let is_first = jobs.loaded.value().is_none();
    let (this_instance, other_instances) = match result {
        Ok(Some(StateValue::Jobs { this_instance, other_instances })) => {
            (this_instance, other_instances)
        }
        Ok(_) => (Vec::new(), Vec::new()),
        Err(failure) => return jobs.loaded.finish(outbox.now, Err(failure)),
    };
    jobs.loaded.finish(outbox.now, Ok(()));
    let selected = jobs.selected().map(|job| job.id);
    let resumed = jobs.adopt(this_instance, other_instances);
    jobs.select(selected);
    if resumed.is_empty() {
        return;
    }
    app.service_data.datasets.invalidate();
    let origin = if is_first { "from the last run" } else { "of a command" };
    if let Some(summary) = jobs.resumed_jobs_summary(&resumed, origin) {
        outbox.notify(Level::Success, summary);
    }
}
