//! Why searching, paging, grouping and editing the query are unavailable.

use super::conditions::{dataset_open, picture_selected, status_allows, unless};
use crate::{
    app::{
        App, Pane, query::diagnostics, view::sort_filter::can_sort_by_score,
        viewer::full_size_reason,
    },
    input::Action,
};
use tessera_model::{AnchorKind, Operation, Query};

pub(super) fn search_reason(app: &App, action: Action) -> Option<String> {
    let visual_search = || status_allows(app, Operation::VisualSearch);
    match action {
        Action::Caption => dataset_open(app).or_else(|| status_allows(app, Operation::TextSearch)),
        Action::Relax => unless(app.relaxed_search().is_some(), "no condition to relax"),
        Action::SimilarToFile => dataset_open(app).or_else(visual_search),
        Action::Similar => picture_selected(app).or_else(visual_search),
        Action::Record => unless(app.selected_dataset().is_some(), "no dataset is selected"),
        Action::FullSize => full_size_reason(app),
        Action::OpenExternally => picture_selected(app),
        Action::PickRegion => {
            let linked = app.preview().is_some_and(|preview| preview.original.is_some());
            picture_selected(app)
                .or_else(|| unless(linked, "the service provides no link to this picture"))
                .or_else(visual_search)
        }
        Action::PickRegionOfQuery => {
            let uploaded = app.view().is_some_and(|view| view.query_image.is_some());
            let reason = "no picture was uploaded for this search; F selects one";
            dataset_open(app).or_else(|| unless(uploaded, reason)).or_else(visual_search)
        }
        Action::ScoreHistogram => dataset_open(app).or_else(|| scores_reason(app)),
        Action::Facets => dataset_open(app).or_else(|| computed_reason(app)),
        Action::History | Action::Views => dataset_open(app),
        Action::Combine => {
            let reason = "there is nothing to combine with; Ctrl-T opens another tab";
            dataset_open(app).or_else(|| unless(app.tab_count() > 1, reason))
        }
        Action::ToggleEntity => dataset_open(app).or_else(|| fixed_search_reason(app)),
        _ => results_reason(app, action),
    }
}

fn results_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::NextPage if app.page().is_none() => Some("this page is still loading".to_owned()),
        Action::NextPage if app.pending_search().is_some() => {
            Some(format!("page {} is not loaded yet; Esc stays here", app.requested_page() + 1))
        }
        Action::NextPage => unless(app.may_have_next_page(), "this is the last page"),
        Action::PreviousPage => unless(app.requested_page() > 0, "this is the first page"),
        Action::GoToPage => dataset_open(app).or_else(|| computed_reason(app)),
        Action::PreviousFrame => frame_reason(app, -1, "this is the first frame of its video"),
        Action::NextFrame => frame_reason(app, 1, "this is the last frame of its video"),
        Action::Finer | Action::Coarser => granularity_reason(app, action),
        Action::Filter | Action::Sort => match app.panes.focus {
            Pane::Datasets => None,
            Pane::Results | Pane::Detail => dataset_open(app),
            Pane::Query | Pane::Jobs | Pane::Basket => {
                Some("only datasets and results can be filtered and sorted".to_owned())
            }
        },
        Action::Fold => {
            let scored = app.page()?.clusters.iter().any(|cluster| cluster.relevance.is_some());
            unless(scored, "nothing on this page has a score; only searches have scores")
        }
        _ => None,
    }
}

/// Why no limit can be put on the scores of the search on screen.
fn scores_reason(app: &App) -> Option<String> {
    let view = app.view()?;
    let reason = "only searches by a picture or a caption have scores";
    let ranked = !matches!(view.search.query, Query::Browse);
    unless(ranked && view.computed.is_none(), reason).or_else(|| {
        let known = app.page().is_some_and(can_sort_by_score);
        unless(known, "these results have no scores to sort by")
    })
}

fn frame_reason(app: &App, by: isize, end: &str) -> Option<String> {
    picture_selected(app)
        .or_else(|| unless(app.frame_position().is_some(), "this is not a frame of a video"))
        .or_else(|| unless(app.frame_beside(by).is_some(), &format!("{end} on this page")))
}

pub(super) fn query_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::RunQuery => dataset_open(app)
            .or_else(|| status_allows(app, Operation::TextSearch))
            .or_else(|| app.draft().filters().err()),
        Action::AddFilter | Action::SwitchJson | Action::EditJson => dataset_open(app),
        Action::QueryChecks => dataset_open(app).or_else(|| {
            unless(!diagnostics(app).is_empty(), "the query has nothing to check; a adds a filter")
        }),
        Action::SaveView => dataset_open(app)
            .or_else(|| app.saved_views_unavailable())
            .or_else(|| app.draft().filters().err()),
        Action::ToggleFilter | Action::DeleteFilter => {
            unless(app.draft().selected_row().is_some(), "no filter is selected; a adds one")
        }
        _ => None,
    }
}

fn granularity_reason(app: &App, action: Action) -> Option<String> {
    let Some(view) = app.view() else {
        return dataset_open(app);
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

fn computed_reason(app: &App) -> Option<String> {
    let computed = app.view().is_some_and(|view| view.computed.is_some());
    unless(!computed, "this was computed from loaded pages; Esc returns to a search")
}

/// Why the search on screen cannot change its granularity or entity.
fn fixed_search_reason(app: &App) -> Option<String> {
    let view = app.view()?;
    if let Some(reason) = computed_reason(app) {
        return Some(reason);
    }
    // An upload is registered for one granularity and entity, so changing them registers its file
    // again.
    let upload =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    if upload { status_allows(app, Operation::VisualSearch) } else { None }
}
