//! What each response changes. Only responses with a current ticket get here.

use crate::{
    app::{App, Effect, Level, Pane},
    message::{Lane, Payload, RequestProgress},
};
use tessera_model::{Dataset, DatasetId, Failure, FailureKind, StateKey};

impl App {
    /// Applies a response.
    #[expect(clippy::too_many_lines, reason = "a table: one arm per lane and outcome")]
    pub(super) fn handle_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::Datasets, Ok(Payload::Datasets(list, unreadable))) => {
                let list = self.with_pinned(list);
                self.datasets_loaded(list, unreadable);
                self.refresh_pinned();
                self.submit_held_form();
            }
            (Lane::Datasets, Err(failure)) => {
                self.keep_form_open(&failure);
                self.refresh_pinned();
                self.store.datasets.fail(self.now, failure);
            }
            (Lane::Page(search), Ok(Payload::Page(page))) => {
                self.warn_if_max_score_inverted(&search, &page);
                self.confirm_selected(search.dataset, &page);
                self.record_known_values(&search, &page);
                self.page_loaded(search, page);
            }
            (Lane::Page(search), Err(failure)) => {
                self.select_all_page_failed(&search, &failure);
                self.page_failed(search, failure);
            }
            (Lane::Picture(view, canvas), Ok(Payload::Picture(picture))) => {
                self.store.pictures.insert(view, canvas, Ok(picture));
            }
            // The tile of the picture shows why it cannot be drawn.
            (Lane::Picture(view, canvas), Err(failure)) => {
                self.store.pictures.insert(view, canvas, Err(failure.message));
            }
            (Lane::Folder(path), Ok(Payload::Folder(folder))) => {
                self.store.folder_entry(path).succeed(self.now, folder);
            }
            (Lane::Folder(path), Err(failure)) => {
                self.store.folder_entry(path).fail(self.now, failure);
            }
            (Lane::Anchor, Ok(Payload::Anchor(anchor))) => self.query_image_registered(anchor),
            (Lane::Anchor, Err(failure)) => {
                self.results.registering = None;
                self.notify_failure(&failure);
            }
            (Lane::Original, Ok(Payload::Original(bytes))) => {
                self.effects.push(Effect::FullSize(bytes));
            }
            (Lane::Original, Err(failure)) => self.notify_failure(&failure),
            (Lane::StartJob(id) | Lane::Upload(id), Ok(Payload::Accepted)) => {
                self.operation_accepted(id);
            }
            (Lane::StartJob(id) | Lane::Upload(id), Err(failure)) => {
                self.job_start_failed(id, &failure);
            }
            (Lane::Preflight, Ok(Payload::Preflight(loaded))) => self.preflight_loaded(Ok(loaded)),
            (Lane::Inspect, Ok(Payload::Inspection(loaded))) => self.inspection_loaded(Ok(*loaded)),
            (Lane::Inspect, Err(failure)) => self.inspection_loaded(Err(failure)),
            (Lane::Preflight, Err(failure)) => self.preflight_loaded(Err(failure)),
            (Lane::StartJob(id) | Lane::Export(id), Ok(Payload::Export(task))) => {
                self.export_reported(id, task);
            }
            (Lane::Export(id), Err(failure)) => {
                self.export_poll_failed(id, &failure);
            }
            (Lane::Download(id), Ok(Payload::Downloaded(archive))) => {
                self.download_finished(id, Ok(archive));
            }
            (Lane::Download(id), Err(failure)) => self.download_finished(id, Err(failure)),
            (Lane::Curl, Ok(Payload::Curl(command))) => {
                self.copy_text("curl command", command);
            }
            (Lane::Selection, Ok(Payload::SelectionSaved(path))) => self.selection_saved(&path),
            (Lane::Selection, Ok(Payload::Selection(dataset, selection))) => {
                self.selection_loaded(dataset, &selection);
            }
            (Lane::Dataset(_), Ok(Payload::Dataset(dataset))) => self.dataset_loaded(dataset),
            // A pinned dataset is polled; the log has the reason of each failure.
            (Lane::Dataset(id), Err(_)) if self.store.pinned.contains(&id) => {}
            (Lane::OpenExternally, Ok(Payload::Outside)) => {
                self.notify(Level::Success, "opened in the desktop's image viewer");
            }
            (Lane::Record(dataset), Ok(Payload::Record(fields))) => {
                self.record_loaded(dataset, fields);
            }
            (Lane::Enrichment(dataset), Ok(Payload::Enrichment(enrichment))) => {
                self.store.enrichments.entry(dataset).or_default().succeed(self.now, enrichment);
            }
            // Not every deployment reports enrichments: the status then shows `?`, and the log has
            // the reason.
            (Lane::Enrichment(dataset), Err(failure)) => {
                self.store.enrichments.entry(dataset).or_default().fail(self.now, failure);
            }
            (Lane::SaveState(_), Ok(Payload::StateSaved)) => {}
            (Lane::LoadState(StateKey::Views), Ok(Payload::StateLoaded(entry))) => {
                self.saved_views_loaded(Ok(entry));
            }
            (Lane::LoadState(StateKey::Views), Err(failure)) => {
                self.saved_views_loaded(Err(failure));
            }
            (Lane::LoadState(StateKey::Basket(dataset)), Ok(Payload::StateLoaded(entry))) => {
                self.basket_loaded(dataset, Ok(entry));
            }
            (Lane::LoadState(StateKey::Jobs), Ok(Payload::StateLoaded(entry))) => {
                self.jobs_loaded(Ok(entry));
            }
            (Lane::LoadState(StateKey::Jobs), Err(failure)) => self.jobs_loaded(Err(failure)),
            (Lane::LoadState(StateKey::Basket(dataset)), Err(failure)) => {
                self.basket_loaded(dataset, Err(failure));
            }
            (Lane::LoadState(StateKey::History), Ok(Payload::StateLoaded(entry))) => {
                self.history_loaded(Ok(entry));
            }
            (Lane::LoadState(StateKey::History), Err(failure)) => self.history_loaded(Err(failure)),
            (
                Lane::Dataset(_)
                | Lane::Curl
                | Lane::Selection
                | Lane::SaveState(_)
                | Lane::Record(_)
                | Lane::OpenExternally,
                Err(failure),
            ) => {
                self.notify_failure(&failure);
            }
            (lane, Ok(_)) => self.report_mismatch(&lane),
        }
    }

    pub(super) fn handle_progress(&mut self, progress: &RequestProgress) {
        if let Lane::Download(id) | Lane::Upload(id) = progress.ticket.lane {
            self.transfer_progressed(id, progress.done, progress.total);
        }
    }

    /// The list of datasets was loaded. Pages of changed datasets are invalidated; the first list
    /// opens a dataset.
    fn datasets_loaded(&mut self, list: Vec<Dataset>, unreadable: usize) {
        if unreadable > 0 && unreadable != self.store.unreadable_datasets {
            let text = format!("{unreadable} rows of the list of datasets could not be parsed");
            self.notify(Level::Warning, text);
        }
        if self.store.datasets.failures() > 1 {
            self.notify(Level::Success, "the service responds again");
            self.store.pictures.forget_failures();
        }
        self.store.unreadable_datasets = unreadable;
        for dataset in &list {
            let before = self.store.dataset(dataset.id);
            let changed = before.is_some_and(|before| {
                (&before.status, before.n_images) != (&dataset.status, dataset.n_images)
            });
            let reclustered = before.is_some_and(|before| dataset.is_reclustered_since(before));
            let status_changed = before.is_some_and(|before| before.status != dataset.status);
            self.store.observed.observe(self.now, dataset);
            if status_changed {
                self.store.enrichments.remove(&dataset.id);
            }
            if changed {
                self.store.pages.invalidate(dataset.id);
            }
            if reclustered {
                self.flag_basket_stale(dataset.id);
            }
        }
        let first = self.dataset_to_open(&list);
        self.store.datasets.succeed(self.now, list);
        if let (None, Some(first)) = (self.view(), first) {
            self.open_dataset(first);
            self.focus = self.setup.initial_pane.take().unwrap_or(Pane::Results);
        }
        self.advance_dataset_jobs();
    }

    /// The dataset that the user named, by id or by name; by default the first of the list.
    fn dataset_to_open(&mut self, list: &[Dataset]) -> Option<DatasetId> {
        let first = list.first()?.id;
        let Some(named) = self.setup.initial_dataset.as_ref().filter(|_| self.view().is_none())
        else {
            return Some(first);
        };
        let is_named = |dataset: &&Dataset| {
            dataset.id.to_string() == *named || dataset.name.as_str() == named.as_str()
        };
        let wanted = list.iter().find(is_named).map(|dataset| dataset.id);
        if wanted.is_none() {
            let text = format!("no dataset has the name or id {named}");
            self.notify(Level::Warning, text);
        }
        wanted.or(Some(first))
    }

    /// A payload that does not belong to its lane is an internal error, which is shown.
    fn report_mismatch(&mut self, lane: &Lane) {
        let failure = Failure::new(
            FailureKind::Unexpected,
            format!("internal error: a response of the wrong kind for {lane:?}"),
        );
        self.notify_failure(&failure);
    }
}
