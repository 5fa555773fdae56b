//! Why exports, additions, reindexes and actions on jobs are unavailable.

use super::{
    conditions::{dataset_open, status_allows, status_denial, unless},
    selection::{basket_loaded, something_selected},
};
use crate::{
    app::{App, Job, JobState},
    input::Action,
};
use tessera_model::Operation;

pub(super) fn job_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => dataset_open(app).or_else(|| status_allows(app, Operation::Export)),
        Action::Download => {
            unless(app.jobs.job_to_download(app.panes.focus).is_some(), "no finished export to download; e starts one")
        }
        Action::ExportBasket => basket_loaded(app)
            .or_else(|| something_selected(app))
            .or_else(|| status_allows(app, Operation::Export)),
        Action::AddMedia | Action::Reindex if app.setup.read_only => {
            Some("opened with --read-only".to_owned())
        }
        // A busy dataset does not prevent an addition: it is queued until the dataset is free.
        Action::AddMedia => target_allows(app, Operation::AddMedia)
            .filter(|_| app.target_dataset().is_none_or(|dataset| !dataset.status.is_busy())),
        Action::Reindex => target_allows(app, Operation::Reindex),
        Action::StopWatching => {
            let watches = |job: &Job| job.is_active() && !matches!(job.state(), JobState::Starting);
            unless(app.jobs.selected().is_some_and(watches), "this job is not being watched")
        }
        Action::Inspect => unless(
            app.jobs.archive_to_inspect().is_some(),
            "this job has no downloaded archive; d downloads a finished export",
        ),
        Action::ForgetJob => match app.jobs.selected() {
            None => Some("no job is selected".to_owned()),
            Some(job) => unless(!job.is_active(), "this job is still running; x stops it"),
        },
        _ => None,
    }
}

fn target_allows(app: &App, operation: Operation) -> Option<String> {
    match app.target_dataset() {
        None => Some("open a dataset first".to_owned()),
        Some(dataset) => status_denial(dataset, operation),
    }
}
