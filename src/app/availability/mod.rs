//! Decides why an action is unavailable. Dimmed hints, help, menu and warnings all use this one
//! function, so that they always agree.

mod search;

use tessera_model::{Dataset, Operation, Permission, text::capitalize};

use crate::{
    app::{
        App, Job, JobState, Pane,
        availability::search::{
            basket_loaded, query_reason, search_reason, selection_reason, something_selected,
        },
        copy,
        viewer::{other_picture_reason, viewer_reason},
    },
    input::{Action, action::ActionGroup},
};

pub(in crate::app) fn unless(met: bool, reason: &str) -> Option<String> {
    (!met).then(|| reason.to_owned())
}

pub(in crate::app) fn dataset_open(app: &App) -> Option<String> {
    unless(app.dataset().is_some(), "open a dataset first")
}

pub(in crate::app) fn cluster_selected(app: &App) -> Option<String> {
    unless(app.results.cluster().is_some(), "no cluster is selected")
}

pub(in crate::app) fn picture_selected(app: &App) -> Option<String> {
    unless(app.results.preview().is_some(), "no picture is selected")
}

pub(in crate::app) fn status_allows(app: &App, operation: Operation) -> Option<String> {
    status_denial(app.dataset()?, operation)
}

/// Returns the reason and the way out if the status of a dataset forbids an operation.
pub(in crate::app) fn status_denial(dataset: &Dataset, operation: Operation) -> Option<String> {
    let way_out = dataset.status.allows(operation).denial_reason()?;
    let (name, status) = (capitalize(operation.label()), dataset.status.as_str());
    Some(format!("{name}: not available while {status}. {}.", capitalize(way_out)))
}

pub fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    if app.setup.is_text()
        && let Some(reason) = drawing_reason(action)
    {
        return Some(reason.to_owned());
    }
    if needs_service(action) && app.outage().is_some() {
        return Some("the service is not responding; retrying automatically".to_owned());
    }
    if needs_service(action) && app.login.rejection.is_some() {
        return Some("the service does not accept the login; L opens it".to_owned());
    }
    if let Some(reason) = other_picture_reason(app, action) {
        return Some(reason);
    }
    match action.group() {
        ActionGroup::Navigation => navigation_reason(app, action),
        ActionGroup::Searching => search_reason(app, action),
        ActionGroup::QueryBuilder => query_reason(app, action),
        ActionGroup::Selection => selection_reason(app, action),
        ActionGroup::Jobs => job_reason(app, action),
        ActionGroup::Clipboard => copy::unavailable_reason(app, action),
        ActionGroup::Viewer => viewer_reason(app, action),
        ActionGroup::Program => program_reason(app, action),
    }
}

pub(in crate::app) fn suggested_action(app: &App, action: Action) -> Option<Action> {
    unavailable_reason(app, action)?;
    match action {
        _ if app.dataset().is_none() => Some(Action::FocusDatasets),
        Action::Export if can_reindex(app) => Some(Action::Reindex),
        Action::Export | Action::SimilarToFile | Action::AddMedia | Action::Reindex => {
            Some(Action::Refresh)
        }
        Action::Similar if app.results.preview().is_some() => Some(Action::Refresh),
        Action::Similar
        | Action::FullSize
        | Action::OpenExternally
        | Action::LargerTiles
        | Action::SmallerTiles => Some(Action::FocusResults),
        Action::NextPage => Some(Action::PreviousPage),
        Action::PreviousPage => Some(Action::NextPage),
        Action::Finer => Some(Action::Coarser),
        Action::Coarser => Some(Action::Finer),
        Action::Download => Some(Action::Export),
        _ => None,
    }
}

fn can_reindex(app: &App) -> bool {
    let permission = app.dataset().map(|dataset| dataset.status.allows(Operation::Reindex));
    permission == Some(Permission::Allowed)
}

/// Returns whether the action sends something to the service, so that an outage prevents the
/// action.
fn needs_service(action: Action) -> bool {
    matches!(
        action,
        Action::Export
            | Action::ExportBasket
            | Action::AddMedia
            | Action::Reindex
            | Action::SimilarToFile
    )
}

fn navigation_reason(app: &App, action: Action) -> Option<String> {
    let count = app.results.tab_count();
    match (action, action.tab_index()) {
        (Action::Forward, _) => {
            let ahead = app.results.tabs().is_some_and(|tabs| !tabs.tab().forward_stack.is_empty());
            unless(ahead, "nothing to go forward to")
        }
        (Action::NewTab, _) => dataset_open(app),
        (Action::CloseTab, _) => unless(count > 1, "this is the only tab"),
        (_, Some(index)) if index >= count => Some(match count {
            0 => "open a dataset first".to_owned(),
            1 => "there is one tab; Ctrl-T opens another".to_owned(),
            _ => format!("there are {count} tabs"),
        }),
        _ => None,
    }
}

fn program_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Profiles => unless(
            !app.jobs.any_state(|state| matches!(state, JobState::Downloading(..))),
            "a download is running; wait until it ends, or stop it in the jobs pane",
        ),
        Action::Login => {
            let asked = app.setup.login.is_some() || app.login.rejection.is_some();
            unless(asked, "this deployment needs no login")
        }
        Action::LargerTiles | Action::SmallerTiles => {
            unless(app.panes.focus == Pane::Results, "only the results have tiles")
        }
        _ => None,
    }
}

/// Returns why an action does not exist if the state is presented as text.
pub fn drawing_reason(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::LargerTiles | Action::SmallerTiles => {
            "results are lines of text here, without tiles to size"
        }
        Action::WiderSides | Action::NarrowerSides | Action::Zoom => {
            "one pane is read at a time here, in full"
        }
        Action::Jump => "jump labels are drawn; here, go to a pane by its name, such as focus-jobs",
        Action::Theme => "text is printed here without colors",
        Action::Footer => "the keys of a dialog are printed when it opens",
        Action::TestPictures => "no picture is drawn here; full-size describes one in words",
        Action::Redraw => "nothing is drawn here; read prints everything again",
        Action::Mouse => "the mouse stays with your terminal here",
        Action::Login => {
            "a typed secret would be shown here; use tessera auth status and tessera auth import"
        }
        Action::Suspend => "Ctrl-Z suspends here, as for any other command",
        Action::ZoomIn | Action::ZoomOut | Action::ActualSize | Action::FitScreen => {
            "the picture is described in words here, always as a whole"
        }
        Action::Play => "frames are read one at a time here: next-frame reads the one that follows",
        Action::Blink | Action::Difference => {
            "the comparison lists in words what differs; pixels are not compared here"
        }
        _ => return None,
    })
}

pub(in crate::app) fn job_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => dataset_open(app).or_else(|| status_allows(app, Operation::Export)),
        Action::Download => unless(
            app.jobs.job_to_download(app.panes.focus).is_some(),
            "no finished export to download; e starts one",
        ),
        Action::ExportBasket => basket_loaded(app)
            .or_else(|| something_selected(app))
            .or_else(|| status_allows(app, Operation::Export)),
        Action::AddMedia | Action::Reindex if app.setup.read_only => {
            Some("opened with --read-only".to_owned())
        }
        // A busy dataset does not prevent an addition, because the addition is queued until the
        // dataset is free.
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
