//! Why an action cannot be done now: one function behind the greyed-out hint, the help and the
//! refusal, so that the three never disagree.

use crate::{
    app::{App, Pane, job::Stage},
    input::Action,
    model::{AnchorKind, Operation, Query},
};

/// The reason why `action` cannot be done now, if there is one.
#[must_use]
pub fn refusal(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => no_dataset(app).or_else(|| by_status(app, Operation::Export)),
        Action::Caption => no_dataset(app).or_else(|| by_status(app, Operation::TextSearch)),
        Action::SimilarToFile => {
            no_dataset(app).or_else(|| by_status(app, Operation::VisualSearch))
        }
        Action::Similar => no_preview(app).or_else(|| by_status(app, Operation::VisualSearch)),
        Action::FullSize => no_preview(app),
        Action::NextPage => match app.page() {
            None => Some("this page is still loading".to_owned()),
            Some(page) => (!page.may_continue()).then(|| "this is the last page".to_owned()),
        },
        Action::PreviousPage => {
            let first = app.view().is_none_or(|view| view.search.page == 0);
            first.then(|| "this is the first page".to_owned())
        }
        Action::Finer | Action::Coarser => granularity(app, action),
        Action::ToggleEntity => no_dataset(app).or_else(|| fixed(app)),
        Action::Download => {
            let ready = app.job_to_download().is_some();
            (!ready).then(|| "no finished export to download; e starts one".to_owned())
        }
        Action::Profiles => {
            let moving =
                app.store.jobs.values().any(|job| matches!(job.stage, Stage::Downloading(..)));
            moving.then(|| "a download is running here; let it end first".to_owned())
        }
        Action::StopWatching => {
            let running =
                app.selected_job().is_some_and(|job| matches!(job.stage, Stage::Running(..)));
            (!running).then(|| "this job is not being watched".to_owned())
        }
        Action::Larger | Action::Smaller => {
            (app.focus != Pane::Results).then(|| "only the results have tiles".to_owned())
        }
        _ => None,
    }
}

/// The step that would help, where `action` is refused and there is one.
#[must_use]
pub fn remedy(app: &App, action: Action) -> Option<Action> {
    refusal(app, action)?;
    match action {
        _ if app.dataset().is_none() => Some(Action::FocusDatasets),
        Action::Export | Action::SimilarToFile => Some(Action::Refresh),
        Action::Similar if app.preview().is_some() => Some(Action::Refresh),
        Action::Similar | Action::FullSize | Action::Larger | Action::Smaller => {
            Some(Action::FocusResults)
        }
        Action::NextPage => Some(Action::PreviousPage),
        Action::PreviousPage => Some(Action::NextPage),
        Action::Finer => Some(Action::Coarser),
        Action::Coarser => Some(Action::Finer),
        Action::Download => Some(Action::Export),
        _ => None,
    }
}

fn by_status(app: &App, operation: Operation) -> Option<String> {
    let dataset = app.dataset()?;
    let reason = dataset.status.allows(operation).refusal()?;
    Some(format!("{} {reason} (now {})", operation.name(), dataset.status.word()))
}

fn no_dataset(app: &App) -> Option<String> {
    app.dataset().is_none().then(|| "open a dataset first".to_owned())
}

fn no_preview(app: &App) -> Option<String> {
    app.preview().is_none().then(|| "there is no picture here".to_owned())
}

fn granularity(app: &App, action: Action) -> Option<String> {
    let Some(view) = app.view() else {
        return no_dataset(app);
    };
    let now = view.search.granularity;
    let (next, end) = match action {
        Action::Finer => (now.finer(), "finest"),
        _ => (now.coarser(), "coarsest"),
    };
    if next == now {
        return Some(format!("granularity {} is the {end}", now.level()));
    }
    fixed(app)
}

/// Why what is on screen cannot be asked otherwise: another granularity, other things.
fn fixed(app: &App) -> Option<String> {
    let view = app.view()?;
    if view.computed.is_some() {
        return Some("this was computed from loaded pages; Esc goes back to a search".to_owned());
    }
    // An upload holds for what it was registered with, so its file is registered again.
    let upload =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    if upload { by_status(app, Operation::VisualSearch) } else { None }
}
