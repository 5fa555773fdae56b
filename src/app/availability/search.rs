//! Decides why searching, paging, editing the query, and selecting are unavailable.

use tessera_model::{AnchorKind, Basket, Operation, Query, Selection};

use crate::{
    app::{
        App, Pane,
        availability::{cluster_selected, dataset_open, picture_selected, status_allows, unless},
        query::diagnostics,
        view::sort_filter::can_sort_by_score,
        viewer::full_size_reason,
    },
    input::Action,
};

pub(in crate::app) fn search_reason(app: &App, action: Action) -> Option<String> {
    let visual_search = || status_allows(app, Operation::VisualSearch);
    match action {
        Action::Caption => dataset_open(app).or_else(|| status_allows(app, Operation::TextSearch)),
        Action::Relax => unless(app.results.relaxed_search().is_some(), "no condition to relax"),
        Action::SimilarToFile => dataset_open(app).or_else(visual_search),
        Action::Similar => picture_selected(app).or_else(visual_search),
        Action::Record => unless(app.selected_dataset().is_some(), "no dataset is selected"),
        Action::FullSize => full_size_reason(app),
        Action::OpenExternally => picture_selected(app),
        Action::PickRegion => {
            let linked = app.results.preview().is_some_and(|preview| preview.original.is_some());
            picture_selected(app)
                .or_else(|| unless(linked, "the service provides no link to this picture"))
                .or_else(visual_search)
        }
        Action::PickRegionOfQuery => {
            let uploaded = app.results.view().is_some_and(|view| view.query_image.is_some());
            let reason = "no picture was uploaded for this search; F selects one";
            dataset_open(app).or_else(|| unless(uploaded, reason)).or_else(visual_search)
        }
        Action::ScoreHistogram => dataset_open(app).or_else(|| scores_reason(app)),
        Action::Facets => dataset_open(app).or_else(|| computed_reason(app)),
        Action::History | Action::Views => dataset_open(app),
        Action::Combine => {
            let reason = "there is nothing to combine with; Ctrl-T opens another tab";
            dataset_open(app).or_else(|| unless(app.results.tab_count() > 1, reason))
        }
        Action::ToggleEntity => dataset_open(app).or_else(|| fixed_search_reason(app)),
        _ => results_reason(app, action),
    }
}

fn results_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::NextPage if app.results.page().is_none() => {
            Some("this page is still loading".to_owned())
        }
        Action::NextPage if app.results.pending_search().is_some() => Some(format!(
            "page {} is not loaded yet; Esc stays here",
            app.results.requested_page() + 1
        )),
        Action::NextPage => unless(app.results.may_have_next_page(), "this is the last page"),
        Action::PreviousPage => unless(app.results.requested_page() > 0, "this is the first page"),
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
            let scored =
                app.results.page()?.clusters.iter().any(|cluster| cluster.relevance.is_some());
            unless(scored, "nothing on this page has a score; only searches have scores")
        }
        _ => None,
    }
}

/// Returns why the scores of the search on screen cannot be limited.
fn scores_reason(app: &App) -> Option<String> {
    let view = app.results.view()?;
    let reason = "only searches by a picture or a caption have scores";
    let ranked = !matches!(view.search.query, Query::Browse);
    unless(ranked && view.computed.is_none(), reason).or_else(|| {
        let known = app.results.page().is_some_and(can_sort_by_score);
        unless(known, "these results have no scores to sort by")
    })
}

fn frame_reason(app: &App, by: isize, end: &str) -> Option<String> {
    picture_selected(app)
        .or_else(|| {
            unless(app.results.frame_position().is_some(), "this is not a frame of a video")
        })
        .or_else(|| unless(app.results.frame_beside(by).is_some(), &format!("{end} on this page")))
}

pub(in crate::app) fn query_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::RunQuery => dataset_open(app)
            .or_else(|| status_allows(app, Operation::TextSearch))
            .or_else(|| app.query.draft(&app.results).filters().err()),
        Action::AddFilter | Action::SwitchJson | Action::EditJson => dataset_open(app),
        Action::QueryChecks => dataset_open(app).or_else(|| {
            unless(!diagnostics(app).is_empty(), "the query has nothing to check; a adds a filter")
        }),
        Action::SaveView => dataset_open(app)
            .or_else(|| app.service_data.saved_views_unavailable())
            .or_else(|| app.query.draft(&app.results).filters().err()),
        Action::ToggleFilter | Action::DeleteFilter => unless(
            app.query.draft(&app.results).selected_row().is_some(),
            "no filter is selected; a adds one",
        ),
        _ => None,
    }
}

fn granularity_reason(app: &App, action: Action) -> Option<String> {
    let Some(view) = app.results.view() else {
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
    let computed = app.results.view().is_some_and(|view| view.computed.is_some());
    unless(!computed, "this was computed from loaded pages; Esc returns to a search")
}

/// Returns why the search on screen cannot change its granularity or entity type.
fn fixed_search_reason(app: &App) -> Option<String> {
    let view = app.results.view()?;
    if let Some(reason) = computed_reason(app) {
        return Some(reason);
    }
    // An upload is registered for one granularity and entity type, so changing them registers its
    // file again.
    let upload =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    if upload { status_allows(app, Operation::VisualSearch) } else { None }
}

pub(in crate::app) fn selection_reason(app: &App, action: Action) -> Option<String> {
    let reason = match action {
        Action::Select => cluster_selected(app),
        Action::SelectRange | Action::SelectPage | Action::InvertSelection => {
            cluster_selected(app).or_else(|| clusters_shown(app))
        }
        Action::SelectAll => clusters_shown(app).or_else(|| {
            let computed = app.results.view().is_some_and(|view| view.computed.is_some());
            unless(!computed, "all loaded results are on this page; V selects the page")
        }),
        Action::Exclude => picture_selected(app).or_else(|| cluster_in_selection(app)),
        Action::Undo => unless(
            app.baskets.current(&app.results).is_some_and(Basket::can_undo),
            "no selection change to undo",
        ),
        Action::Redo => unless(
            app.baskets.current(&app.results).is_some_and(Basket::can_redo),
            "no selection change to redo",
        ),
        Action::Deselect | Action::ClearBasket | Action::SaveSelection => something_selected(app),
        _ => None,
    };
    basket_loaded(app).or(reason)
}

/// Returns why the basket cannot be changed. The saved basket must have been loaded, because it
/// would otherwise be overwritten.
pub(in crate::app) fn basket_loaded(app: &App) -> Option<String> {
    let Some(view) = app.results.view() else { return dataset_open(app) };
    let basket = app.baskets.remote(view.search.dataset);
    match basket.map(|basket| (basket.value(), basket.failure())) {
        Some((Some(_), _)) => None,
        Some((None, Some(failure))) => Some(format!("{failure}. r tries again")),
        Some((None, None)) | None => Some("the basket is loading".to_owned()),
    }
}

pub(in crate::app) fn something_selected(app: &App) -> Option<String> {
    let empty = app.baskets.selection(&app.results).is_none_or(Selection::is_empty);
    unless(!empty, "nothing is selected: Space selects a cluster")
}

fn clusters_shown(app: &App) -> Option<String> {
    let reason = "these are the members of one cluster: Space selects one, Esc goes back";
    unless(!app.results.shows_members(), reason)
}

fn cluster_in_selection(app: &App) -> Option<String> {
    let selected = app.results.cluster().is_some_and(|cluster| {
        app.baskets
            .selection(&app.results)
            .is_some_and(|selection| selection.cluster(cluster.id).is_some())
    });
    unless(selected, "the cluster of this item is not selected; Space in the results selects it")
}
