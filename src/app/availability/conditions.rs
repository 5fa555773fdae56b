//! Conditions that several actions have in common. Each returns the reason if it is not met.

use crate::app::App;
use tessera_model::{Dataset, Operation, text::capitalize};

pub(super) fn unless(met: bool, reason: &str) -> Option<String> {
    (!met).then(|| reason.to_owned())
}

pub(super) fn dataset_open(app: &App) -> Option<String> {
    unless(app.dataset().is_some(), "open a dataset first")
}

pub(super) fn cluster_selected(app: &App) -> Option<String> {
    unless(app.results.cluster().is_some(), "no cluster is selected")
}

pub(super) fn picture_selected(app: &App) -> Option<String> {
    unless(app.results.preview().is_some(), "no picture is selected")
}

pub(super) fn status_allows(app: &App, operation: Operation) -> Option<String> {
    status_denial(app.dataset()?, operation)
}

/// The reason and the way out if the status of a dataset forbids an operation.
pub(in crate::app) fn status_denial(dataset: &Dataset, operation: Operation) -> Option<String> {
    let way_out = dataset.status.allows(operation).denial_reason()?;
    let (name, status) = (capitalize(operation.label()), dataset.status.as_str());
    Some(format!("{name}: not available while {status}. {}.", capitalize(way_out)))
}
