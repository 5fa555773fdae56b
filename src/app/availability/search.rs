//! Why searching, paging, grouping and editing the query are unavailable.

use super::{no_dataset, no_preview, status_reason};
use crate::{
    app::{App, Pane},
    input::Action,
};
use tessera_model::{AnchorKind, Operation, Query};

pub(super) fn search_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Caption => no_dataset(app).or_else(|| status_reason(app, Operation::TextSearch)),
        Action::Loosen => {
            app.loosened_search().is_none().then(|| "no condition to relax".to_owned())
        }
        Action::SimilarToFile => {
            no_dataset(app).or_else(|| status_reason(app, Operation::VisualSearch))
        }
        Action::Similar => no_preview(app).or_else(|| status_reason(app, Operation::VisualSearch)),
        Action::Record => {
            app.selected_dataset().is_none().then(|| "no dataset is selected".to_owned())
        }
        Action::FullSize | Action::OpenExternally => no_preview(app),
        Action::PickRegion => no_preview(app)
            .or_else(|| no_original(app))
            .or_else(|| status_reason(app, Operation::VisualSearch)),
        Action::PickRegionOfQuery => no_dataset(app)
            .or_else(|| no_query_image(app))
            .or_else(|| status_reason(app, Operation::VisualSearch)),
        Action::History | Action::Views => no_dataset(app),
        Action::Combine => {
            let alone = app.tab_count() < 2;
            let reason = "there is nothing to combine with; Ctrl-T opens another tab";
            no_dataset(app).or_else(|| alone.then(|| reason.to_owned()))
        }
        Action::ToggleEntity => no_dataset(app).or_else(|| fixed_search_reason(app)),
        _ => results_reason(app, action),
    }
}

/// The reason for an action that pages, groups, filters or sorts the results.
fn results_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::NextPage => match app.page() {
            None => Some("this page is still loading".to_owned()),
            Some(_) => (!app.may_have_next_page()).then(|| "this is the last page".to_owned()),
        },
        Action::PreviousPage => {
            let first = app.view().is_none_or(|view| view.search.page == 0);
            first.then(|| "this is the first page".to_owned())
        }
        Action::Finer | Action::Coarser => granularity_reason(app, action),
        Action::Filter | Action::Sort => match app.focus {
            Pane::Datasets => None,
            Pane::Results | Pane::Detail => no_dataset(app),
            Pane::Query | Pane::Jobs | Pane::Basket => {
                Some("only datasets and results can be filtered and sorted".to_owned())
            }
        },
        Action::Fold => no_scores(app),
        _ => None,
    }
}

pub(super) fn query_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::RunQuery => no_dataset(app)
            .or_else(|| status_reason(app, Operation::TextSearch))
            .or_else(|| app.draft().filters().err()),
        Action::AddFilter | Action::SwitchJson | Action::EditJson => no_dataset(app),
        Action::SaveView => no_dataset(app)
            .or_else(|| app.saved_views_unavailable())
            .or_else(|| app.draft().filters().err()),
        Action::ToggleFilter | Action::DeleteFilter => {
            let none = app.draft().selected_row().is_none();
            none.then(|| "no filter is selected; a adds one".to_owned())
        }
        _ => None,
    }
}

fn no_original(app: &App) -> Option<String> {
    let linked = app.preview().is_some_and(|preview| preview.original.is_some());
    (!linked).then(|| "the service provides no link to this picture".to_owned())
}

fn no_query_image(app: &App) -> Option<String> {
    let uploaded = app.view().is_some_and(|view| view.query_image.is_some());
    (!uploaded).then(|| "no picture was uploaded for this search; F selects one".to_owned())
}

fn granularity_reason(app: &App, action: Action) -> Option<String> {
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
    fixed_search_reason(app)
}

/// Why the search on screen cannot change its granularity or entity.
fn fixed_search_reason(app: &App) -> Option<String> {
    let view = app.view()?;
    if view.computed.is_some() {
        return Some("this was computed from loaded pages; Esc returns to a search".to_owned());
    }
    // An upload is registered for one granularity and entity, so changing them registers its file
    // again.
    let upload =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    if upload { status_reason(app, Operation::VisualSearch) } else { None }
}

fn no_scores(app: &App) -> Option<String> {
    let scored = app.page()?.clusters.iter().any(|cluster| cluster.relevance.is_some());
    (!scored).then(|| "nothing on this page has a score; only searches have scores".to_owned())
}
