//! Why an action is unavailable: one function behind dimmed hints, help, menu and warnings, so that
//! they always agree.

mod exports;
mod search;
mod selection;

use crate::{
    app::{App, JobState, Pane, copy},
    input::{Action, action::ActionGroup},
};
use tessera_model::{Dataset, Operation, Permission};

/// The reason why `action` is unavailable, if it is.
pub fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    if needs_service(action) && app.outage().is_some() {
        return Some("the service is not responding; retrying automatically".to_owned());
    }
    match action.group() {
        ActionGroup::Navigation => navigation_reason(app, action),
        ActionGroup::Searching => search::search_reason(app, action),
        ActionGroup::QueryBuilder => search::query_reason(app, action),
        ActionGroup::Selection => selection::selection_reason(app, action),
        ActionGroup::Jobs => exports::export_reason(app, action),
        ActionGroup::Clipboard => copy::unavailable_reason(app, action),
        ActionGroup::Program => program_reason(app, action),
    }
}

/// An action that would help where `action` is unavailable.
pub fn suggested_action(app: &App, action: Action) -> Option<Action> {
    unavailable_reason(app, action)?;
    match action {
        _ if app.dataset().is_none() => Some(Action::FocusDatasets),
        Action::Export if allowed(app, Operation::Reindex) => Some(Action::Reindex),
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

/// Whether the action sends something to the service, so that it is unavailable during an outage.
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
    match action {
        Action::Forward => {
            let ahead = app.results.tabs().is_some_and(|tabs| !tabs.tab().forward_stack.is_empty());
            (!ahead).then(|| "nothing to go forward to".to_owned())
        }
        Action::NewTab => no_dataset(app),
        Action::CloseTab => (app.tab_count() < 2).then(|| "this is the only tab".to_owned()),
        Action::Tab1 => no_tab(app, 1),
        Action::Tab2 => no_tab(app, 2),
        Action::Tab3 => no_tab(app, 3),
        Action::Tab4 => no_tab(app, 4),
        Action::Tab5 => no_tab(app, 5),
        Action::Tab6 => no_tab(app, 6),
        Action::Tab7 => no_tab(app, 7),
        Action::Tab8 => no_tab(app, 8),
        Action::Tab9 => no_tab(app, 9),
        _ => None,
    }
}

fn program_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Profiles => {
            let downloading =
                app.jobs.any_state(|state| matches!(state, JobState::Downloading(..)));
            downloading.then(|| {
                "a download is running; wait until it ends, or stop it in the jobs pane".to_owned()
            })
        }
        Action::LargerTiles | Action::SmallerTiles => {
            (app.focus != Pane::Results).then(|| "only the results have tiles".to_owned())
        }
        _ => None,
    }
}

fn allowed(app: &App, operation: Operation) -> bool {
    app.dataset().is_some_and(|dataset| dataset.status.allows(operation) == Permission::Allowed)
}

fn status_reason(app: &App, operation: Operation) -> Option<String> {
    dataset_status_reason(app.dataset(), operation)
}

fn dataset_status_reason(dataset: Option<&Dataset>, operation: Operation) -> Option<String> {
    let dataset = dataset?;
    let reason = dataset.status.allows(operation).denial_reason()?;
    Some(format!("{} {reason} (now {})", operation.label(), dataset.status.as_str()))
}

fn no_dataset(app: &App) -> Option<String> {
    app.dataset().is_none().then(|| "open a dataset first".to_owned())
}

fn no_preview(app: &App) -> Option<String> {
    app.preview().is_none().then(|| "no picture is selected".to_owned())
}

fn no_tab(app: &App, number: usize) -> Option<String> {
    let count = app.tab_count();
    (number > count).then(|| match count {
        0 => "open a dataset first".to_owned(),
        1 => "there is one tab; Ctrl-T opens another".to_owned(),
        _ => format!("there are {count} tabs"),
    })
}
