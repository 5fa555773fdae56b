//! Why actions on the selection and the basket are unavailable.

use super::conditions::{cluster_selected, dataset_open, picture_selected, unless};
use crate::{app::App, input::Action};
use tessera_model::{Basket, Selection};

pub(super) fn selection_reason(app: &App, action: Action) -> Option<String> {
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
        Action::Undo => {
            unless(app.baskets.current(&app.results).is_some_and(Basket::can_undo), "no selection change to undo")
        }
        Action::Redo => {
            unless(app.baskets.current(&app.results).is_some_and(Basket::can_redo), "no selection change to redo")
        }
        Action::Deselect | Action::ClearBasket | Action::SaveSelection => something_selected(app),
        _ => None,
    };
    basket_loaded(app).or(reason)
}

/// The saved basket must have been loaded, so that it is not overwritten.
pub(super) fn basket_loaded(app: &App) -> Option<String> {
    let Some(view) = app.results.view() else { return dataset_open(app) };
    let basket = app.baskets.remote(view.search.dataset);
    match basket.map(|basket| (basket.value(), basket.failure())) {
        Some((Some(_), _)) => None,
        Some((None, Some(failure))) => Some(format!("{failure}. r tries again")),
        Some((None, None)) | None => Some("the basket is loading".to_owned()),
    }
}

pub(super) fn something_selected(app: &App) -> Option<String> {
    let empty = app.baskets.selection(&app.results).is_none_or(Selection::is_empty);
    unless(!empty, "nothing is selected: Space selects a cluster")
}

fn clusters_shown(app: &App) -> Option<String> {
    let reason = "these are the members of one cluster: Space selects one, Esc goes back";
    unless(!app.results.shows_members(), reason)
}

fn cluster_in_selection(app: &App) -> Option<String> {
    let selected = app.results.cluster().is_some_and(|cluster| {
        app.baskets.selection(&app.results).is_some_and(|selection| selection.cluster(cluster.id).is_some())
    });
    unless(selected, "the cluster of this item is not selected; Space in the results selects it")
}
