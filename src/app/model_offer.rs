//! Offers a model while the open dataset of a local folder has none. The offer is a line below the results, which one
//! key dismisses for good.

use tessera_model::{DatasetId, EnrichmentModel, ModelStatus, StateKey, StateValue};

use crate::{
    app::{App, Level, Remote},
    config::DeploymentKind,
    message::{Lane, Request},
};

/// Whether the user has dismissed the offer, which the saved state remembers.
#[derive(Debug, Default)]
pub struct ModelOffer {
    pub(in crate::app) is_dismissed: Remote<bool>,
}

impl App {
    /// Returns whether the line with the offer is shown.
    pub fn offers_model(&self) -> bool {
        let Some(dataset) = self.dataset().filter(|_| self.may_offer_model()) else { return false };
        let status = |model: EnrichmentModel| {
            Some(self.service_data.enrichment(dataset.id)?.status_of(model))
        };
        // Without a response, the dataset may have a model.
        let is_missing =
            status(EnrichmentModel::MultimodelImageEncoding) == Some(ModelStatus::NotApplied);
        let is_ready = !dataset.status.is_busy() && dataset.n_images.is_some_and(|count| count > 0);
        let is_known = self.model_offer.is_dismissed.value() == Some(&false);
        is_known && is_missing && is_ready && !self.jobs.is_getting_model()
    }

    fn may_offer_model(&self) -> bool {
        self.setup.deployment == DeploymentKind::Local
            && !self.setup.read_only
            && self.model_offer.is_dismissed.value() != Some(&true)
    }

    /// Returns the dataset whose enrichment decides whether a model is offered.
    pub(in crate::app) fn dataset_for_offer(&self) -> Option<DatasetId> {
        self.dataset().filter(|_| self.may_offer_model()).map(|dataset| dataset.id)
    }

    /// Returns the saved state to load for the offer.
    pub(in crate::app) fn offer_state_to_load(&self) -> Option<StateKey> {
        let is_due = self.model_offer.is_dismissed.due(None).is_some();
        (is_due && self.may_offer_model()).then_some(StateKey::ModelOffer)
    }

    /// Stops offering a model, in this run and in later ones.
    pub(in crate::app) fn dismiss_model_offer(&mut self) {
        self.model_offer.is_dismissed.finish(self.outbox.now, Ok(true));
        let request = Request::SaveState(StateValue::ModelOfferDismissed);
        self.outbox.send(Lane::SaveState(StateKey::ModelOffer), request);
        self.outbox.notify(Level::Success, "no model is offered any more; the menu still has it");
    }
}
