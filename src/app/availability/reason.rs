//! The reason of each action, by its group; and what would help instead.

use super::{
    conditions::{dataset_open, unless},
    drawing::drawing_reason,
    jobs, search, selection,
};
use crate::{
    app::{
        App, JobState, Pane, copy,
        viewer::{other_picture_reason, viewer_reason},
    },
    input::{Action, action::ActionGroup},
};
use tessera_model::{Operation, Permission};

pub fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    if app.is_text()
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
        ActionGroup::Searching => search::search_reason(app, action),
        ActionGroup::QueryBuilder => search::query_reason(app, action),
        ActionGroup::Selection => selection::selection_reason(app, action),
        ActionGroup::Jobs => jobs::job_reason(app, action),
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
        Action::Similar if app.preview().is_some() => Some(Action::Refresh),
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

/// Whether the action sends something to the service, so that an outage prevents it.
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
    let count = app.tab_count();
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
