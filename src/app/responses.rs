//! What each response changes. Only responses with a current ticket get here.

use crate::{
    app::{App, Level},
    message::{Lane, Payload, RequestProgress},
};
use tessera_model::{Failure, FailureKind, StateKey, StateValue};

/// Saved state, if it was ever saved.
pub(super) type LoadedState = Result<Option<StateValue>, Failure>;

impl App {
    pub(super) fn handle_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        let is_unreachable = |failure: &Failure| failure.kind == FailureKind::Unreachable;
        if result.as_ref().is_err_and(is_unreachable) && self.outage().is_none() {
            // Their response shows at once whether the service is down.
            self.store.datasets.invalidate();
        }
        match lane {
            Lane::Datasets | Lane::Dataset(_) | Lane::Enrichment(_) | Lane::Record(_) => {
                self.handle_dataset_response(lane, result);
            }
            Lane::Page(_) | Lane::Anchor | Lane::Picture(..) | Lane::OpenExternally => {
                self.handle_search_response(lane, result);
            }
            Lane::StartJob(_)
            | Lane::Upload(_)
            | Lane::Preflight
            | Lane::Export(_)
            | Lane::Download(_) => self.handle_job_response(lane, result),
            Lane::LoginPlaces | Lane::LoginCheck | Lane::LoginImport => {
                self.login_response(&lane, result);
            }
            Lane::Folder(_)
            | Lane::Inspect
            | Lane::Curl
            | Lane::Selection
            | Lane::SaveState(_)
            | Lane::LoadState(_) => self.handle_local_response(lane, result),
        }
    }

    fn handle_dataset_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::Datasets, Ok(Payload::Datasets(list, unreadable))) => {
                self.datasets_loaded(list, unreadable);
                self.refresh_pinned();
                self.submit_held_form();
            }
            (Lane::Datasets, Err(failure)) => {
                self.keep_form_open(&failure);
                self.refresh_pinned();
                self.store.datasets.finish(self.outbox.now, Err(failure));
            }
            (Lane::Dataset(_), Ok(Payload::Dataset(dataset))) => self.dataset_loaded(dataset),
            // A pinned dataset is polled; the log has the reason of each failure.
            (Lane::Dataset(id), Err(_)) if self.store.pinned.contains(&id) => {}
            (Lane::Enrichment(dataset), Ok(Payload::Enrichment(enrichment))) => {
                self.store
                    .enrichments
                    .entry(dataset)
                    .or_default()
                    .finish(self.outbox.now, Ok(enrichment));
            }
            // Not every deployment reports enrichments: the status then shows `?`.
            (Lane::Enrichment(dataset), Err(failure)) => {
                self.store
                    .enrichments
                    .entry(dataset)
                    .or_default()
                    .finish(self.outbox.now, Err(failure));
            }
            (Lane::Record(dataset), Ok(Payload::Record(fields))) => {
                self.record_loaded(dataset, fields);
            }
            (lane, result) => self.report_failure_or_mismatch(&lane, result),
        }
    }

    fn handle_search_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::Page(search), Ok(Payload::Page(page))) => {
                self.warn_if_max_score_inverted(&search, &page);
                self.confirm_selected(search.dataset, &page);
                self.query.record_known_values(&search, &page);
                self.page_loaded(&search, page);
            }
            (Lane::Page(search), Err(failure)) => {
                self.select_all_page_failed(&search, &failure);
                self.page_failed(search, failure);
            }
            (Lane::Anchor, Ok(Payload::Anchor(anchor))) => self.query_image_registered(anchor),
            (Lane::Anchor, Err(failure)) => {
                self.results.registering = None;
                self.outbox.notify_failure(&failure);
            }
            (Lane::Picture(view, canvas), Ok(Payload::Picture(picture))) => {
                self.store.pictures.insert(view, canvas, Ok(picture));
            }
            // The tile of the picture shows why it cannot be drawn.
            (Lane::Picture(view, canvas), Err(failure)) => {
                self.store.pictures.insert(view, canvas, Err(failure.message));
            }
            (Lane::OpenExternally, Ok(Payload::OpenedExternally)) => {
                self.outbox.notify(Level::Success, "opened in the desktop's image viewer");
            }
            (lane, result) => self.report_failure_or_mismatch(&lane, result),
        }
    }

    fn handle_job_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::StartJob(id) | Lane::Upload(id), Ok(Payload::Accepted(accepted))) => {
                self.operation_accepted(id, accepted);
            }
            (Lane::StartJob(id) | Lane::Upload(id), Err(failure)) => {
                self.job_start_failed(id, &failure);
            }
            (Lane::Preflight, Ok(Payload::Preflight(loaded))) => self.preflight_loaded(Ok(loaded)),
            (Lane::Preflight, Err(failure)) => self.preflight_loaded(Err(failure)),
            (Lane::StartJob(id) | Lane::Export(id), Ok(Payload::Export(task))) => {
                self.export_reported(id, task);
            }
            (Lane::Export(id), Err(failure)) => self.export_poll_failed(id, &failure),
            (Lane::Download(id), Ok(Payload::Downloaded(archive))) => {
                self.download_finished(id, Ok(archive));
            }
            (Lane::Download(id), Err(failure)) => self.download_finished(id, Err(failure)),
            (lane, result) => self.report_failure_or_mismatch(&lane, result),
        }
    }

    /// Applies what the worker has read or written on this machine.
    fn handle_local_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::Folder(path), Ok(Payload::Folder(folder))) => {
                self.store.folder_listing_mut(path).finish(self.outbox.now, Ok(folder));
            }
            (Lane::Folder(path), Err(failure)) => {
                self.store.folder_listing_mut(path).finish(self.outbox.now, Err(failure));
            }
            (Lane::Inspect, Ok(Payload::Inspection(loaded))) => self.inspection_loaded(Ok(*loaded)),
            (Lane::Inspect, Err(failure)) => self.inspection_loaded(Err(failure)),
            (Lane::Curl, Ok(Payload::Curl(command))) => {
                self.copy_text("curl command", &command.into());
            }
            (Lane::Selection, Ok(Payload::SelectionSaved(path))) => self.selection_saved(&path),
            (Lane::Selection, Ok(Payload::Selection(dataset, selection))) => {
                self.selection_loaded(dataset, &selection);
            }
            (Lane::SaveState(_), Ok(Payload::StateSaved)) => {}
            (Lane::LoadState(key), Ok(Payload::StateLoaded(value))) => {
                self.state_loaded(key, Ok(value));
            }
            (Lane::LoadState(key), Err(failure)) => {
                self.outbox.notify_failure(&failure);
                self.state_loaded(key, Err(failure));
            }
            (lane, result) => self.report_failure_or_mismatch(&lane, result),
        }
    }

    fn state_loaded(&mut self, key: StateKey, result: LoadedState) {
        match key {
            StateKey::Basket(dataset) => self.basket_loaded(dataset, result),
            StateKey::History => self.history_loaded(result),
            StateKey::Jobs => self.jobs_loaded(result),
            StateKey::Views => self.saved_views_loaded(result),
            // Loaded before the start.
            StateKey::Session => {}
        }
    }

    /// Shows a failure. A payload that does not belong to its lane is an internal error.
    fn report_failure_or_mismatch(&mut self, lane: &Lane, result: Result<Payload, Failure>) {
        let text = || format!("internal error: a response of the wrong kind for {lane:?}");
        let failure = result.err().unwrap_or_else(|| Failure::new(FailureKind::Unexpected, text()));
        self.outbox.notify_failure(&failure);
    }

    pub(super) fn handle_progress(&mut self, progress: &RequestProgress) {
        if let Lane::Download(id) | Lane::Upload(id) = progress.ticket.lane {
            self.transition(id, |job| job.transfer_progressed(progress.done, progress.total));
        }
    }
}
