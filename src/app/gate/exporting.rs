//! Why an export, an addition or something about a job cannot be done now.

use super::{
    by_status, by_status_of,
    marking::{no_basket, nothing_marked},
    no_dataset,
};
use crate::{
    app::{App, job::Stage},
    input::Action,
};
use tessera_model::Operation;

/// The reason for an action that exports, adds, reindexes, or concerns a job.
pub(super) fn exporting(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => no_dataset(app).or_else(|| by_status(app, Operation::Export)),
        Action::Download => {
            let ready = app.job_to_download().is_some();
            (!ready).then(|| "no finished export to download; e starts one".to_owned())
        }
        Action::ExportBasket => no_basket(app)
            .or_else(|| nothing_marked(app))
            .or_else(|| by_status(app, Operation::Export)),
        Action::AddMedia | Action::Reindex if app.setup.read_only => {
            Some("opened with --read-only: nothing is changed".to_owned())
        }
        Action::AddMedia => adding(app),
        Action::Reindex => {
            no_target(app).or_else(|| by_status_of(app.target(), Operation::Reindex))
        }
        Action::StopWatching => stopping(app),
        Action::Inspect => {
            let none = app.archive_to_inspect().is_none();
            none.then(|| {
                "there is no downloaded archive here; d downloads a finished export".to_owned()
            })
        }
        Action::ForgetJob => forgetting(app),
        _ => None,
    }
}

fn stopping(app: &App) -> Option<String> {
    let stops = app
        .selected_job()
        .is_some_and(|job| job.is_active() && !matches!(job.stage, Stage::Starting));
    (!stops).then(|| "this job is not being watched".to_owned())
}

/// A busy dataset refuses nothing: the addition waits here until it is free (M38).
fn adding(app: &App) -> Option<String> {
    let waits = app.target().is_some_and(|dataset| dataset.status.is_moving());
    let refused = || by_status_of(app.target(), Operation::AddMedia).filter(|_| !waits);
    no_target(app).or_else(refused)
}

fn no_target(app: &App) -> Option<String> {
    app.target().is_none().then(|| "open a dataset first".to_owned())
}

fn forgetting(app: &App) -> Option<String> {
    match app.selected_job() {
        None => Some("there is no job here".to_owned()),
        Some(job) if job.is_active() => Some("this job is still going on; x stops it".to_owned()),
        Some(_) => None,
    }
}
