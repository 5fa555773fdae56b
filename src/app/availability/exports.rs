//! Why exports, additions, reindexes and actions on jobs are unavailable.

use super::{
    dataset_status_reason, no_dataset,
    selection::{basket_not_loaded, nothing_selected},
    status_reason,
};
use crate::{
    app::{App, JobState},
    input::Action,
};
use tessera_model::Operation;

pub(super) fn export_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => no_dataset(app).or_else(|| status_reason(app, Operation::Export)),
        Action::Download => {
            let ready = app.job_to_download().is_some();
            (!ready).then(|| "no finished export to download; e starts one".to_owned())
        }
        Action::ExportBasket => basket_not_loaded(app)
            .or_else(|| nothing_selected(app))
            .or_else(|| status_reason(app, Operation::Export)),
        Action::AddMedia | Action::Reindex if app.setup.read_only => {
            Some("opened with --read-only".to_owned())
        }
        Action::AddMedia => add_media_reason(app),
        Action::Reindex => no_target_dataset(app)
            .or_else(|| dataset_status_reason(app.target_dataset(), Operation::Reindex)),
        Action::StopWatching => stop_watching_reason(app),
        Action::Inspect => {
            let none = app.archive_to_inspect().is_none();
            none.then(|| {
                "there is no downloaded archive here; d downloads a finished export".to_owned()
            })
        }
        Action::ForgetJob => forget_job_reason(app),
        _ => None,
    }
}

fn stop_watching_reason(app: &App) -> Option<String> {
    let stops = app
        .selected_job()
        .is_some_and(|job| job.is_active() && !matches!(job.state(), JobState::Starting));
    (!stops).then(|| "this job is not being watched".to_owned())
}

/// A busy dataset does not prevent an addition: it is queued until the dataset is free.
fn add_media_reason(app: &App) -> Option<String> {
    let waits = app.target_dataset().is_some_and(|dataset| dataset.status.is_busy());
    let refused =
        || dataset_status_reason(app.target_dataset(), Operation::AddMedia).filter(|_| !waits);
    no_target_dataset(app).or_else(refused)
}

fn no_target_dataset(app: &App) -> Option<String> {
    app.target_dataset().is_none().then(|| "open a dataset first".to_owned())
}

fn forget_job_reason(app: &App) -> Option<String> {
    match app.selected_job() {
        None => Some("no job is selected".to_owned()),
        Some(job) if job.is_active() => Some("this job is still running; x stops it".to_owned()),
        Some(_) => None,
    }
}
