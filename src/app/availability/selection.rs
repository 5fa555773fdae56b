//! Why actions on the selection and the basket are unavailable.

use super::{no_dataset, no_preview};
use crate::{app::App, input::Action};
use tessera_model::{Basket, Selection};

pub(super) fn selection_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Select => basket_not_loaded(app).or_else(|| no_cluster(app)),
        Action::SelectRange | Action::SelectPage | Action::InvertSelection => {
            basket_not_loaded(app).or_else(|| no_cluster(app)).or_else(|| members_shown(app))
        }
        Action::SelectAll => basket_not_loaded(app).or_else(|| members_shown(app)).or_else(|| {
            let computed = app.view().is_some_and(|view| view.computed.is_some());
            computed.then(|| "all loaded results are on this page; V selects the page".to_owned())
        }),
        Action::Exclude => {
            basket_not_loaded(app).or_else(|| no_preview(app)).or_else(|| cluster_not_selected(app))
        }
        Action::Undo => basket_not_loaded(app).or_else(|| {
            let can = app.basket().is_some_and(Basket::can_undo);
            (!can).then(|| "no selection change to undo".to_owned())
        }),
        Action::Redo => basket_not_loaded(app).or_else(|| {
            let can = app.basket().is_some_and(Basket::can_redo);
            (!can).then(|| "no selection change to redo".to_owned())
        }),
        Action::OpenSelection => basket_not_loaded(app),
        Action::Deselect | Action::ClearBasket | Action::SaveSelection => {
            basket_not_loaded(app).or_else(|| nothing_selected(app))
        }
        _ => None,
    }
}

/// The saved basket must have been loaded, so that it is not overwritten.
pub(super) fn basket_not_loaded(app: &App) -> Option<String> {
    let Some(view) = app.view() else { return no_dataset(app) };
    let basket = app.baskets.remote(view.search.dataset);
    match basket.map(|basket| (basket.value(), basket.failure())) {
        Some((Some(_), _)) => None,
        Some((None, Some(failure))) => Some(format!("{failure}. r tries again")),
        Some((None, None)) | None => Some("the basket is loading".to_owned()),
    }
}

pub(super) fn nothing_selected(app: &App) -> Option<String> {
    let empty = app.selection().is_none_or(Selection::is_empty);
    empty.then(|| "nothing is selected: Space selects a cluster".to_owned())
}

fn no_cluster(app: &App) -> Option<String> {
    app.cluster().is_none().then(|| "no cluster is selected".to_owned())
}

fn members_shown(app: &App) -> Option<String> {
    let reason = "these are the members of one cluster: Space selects one, Esc goes back";
    app.shows_members().then(|| reason.to_owned())
}

fn cluster_not_selected(app: &App) -> Option<String> {
    let selected = app.cluster().is_some_and(|cluster| {
        app.selection().is_some_and(|selection| selection.cluster(cluster.id).is_some())
    });
    (!selected).then(|| {
        "the cluster of this item is not selected; Space in the results selects it".to_owned()
    })
}
