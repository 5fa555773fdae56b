//! Offers a model while the open dataset of a local folder has none. The offer is a line below the results, which one
//! key dismisses for good.

use tessera_model::{EnrichmentModel, ModelStatus, StateKey, StateValue};

use crate::app::prelude::*;

/// Whether the user has dismissed the offer, which the saved state remembers.
#[derive(Debug, Default)]
pub struct ModelOffer {
    pub(in crate::app) is_dismissed: Remote<bool>,
}

/// Returns whether the line with the offer is shown.
pub fn is_offered(app: &App) -> bool {
    let Some(dataset) = app.dataset().filter(|_| may_be_offered(app)) else { return false };
    let status =
        |model: EnrichmentModel| Some(app.service_data.enrichment(dataset.id)?.status_of(model));
    // Without a response, the dataset may have a model.
    let is_missing =
        status(EnrichmentModel::MultimodelImageEncoding) == Some(ModelStatus::NotApplied);
    // A model would take the place of imported embeddings.
    let has_embeddings = app
        .service_data
        .enrichment(dataset.id)
        .is_some_and(|it| it.imported_embeddings().is_some());
    let is_ready =
        !dataset.status.is_busy() && dataset.media_count().is_some_and(|count| count > 0);
    let is_known = app.model_offer.is_dismissed.value() == Some(&false);
    is_known && is_missing && !has_embeddings && is_ready && !app.jobs.is_getting_model()
}

fn may_be_offered(app: &App) -> bool {
    app.setup.deployment == DeploymentKind::Local
        && !app.setup.read_only
        && app.model_offer.is_dismissed.value() != Some(&true)
}

/// Returns the dataset whose enrichment decides whether a model is offered.
pub(in crate::app) fn dataset_of_offer(app: &App) -> Option<DatasetId> {
    app.dataset().filter(|_| may_be_offered(app)).map(|dataset| dataset.id)
}

/// Returns the saved state to load for the offer.
pub(in crate::app) fn state_to_load(app: &App) -> Option<StateKey> {
    let is_due = app.model_offer.is_dismissed.due(None).is_some();
    (is_due && may_be_offered(app)).then_some(StateKey::ModelOffer)
}

/// Stops offering a model, in this run and in later ones.
pub(in crate::app) fn dismiss(app: &mut App) {
    app.model_offer.is_dismissed.finish(app.outbox.now, Ok(true));
    app.outbox.save(StateValue::ModelOfferDismissed);
    app.outbox.notify(Level::Success, "no model is offered any more; the menu still has it");
}
