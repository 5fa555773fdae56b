//! Changing, saving and loading the basket of a dataset.

use super::cluster_count;
use crate::{
    app::{App, Level, LoadedState},
    message::{Lane, Request},
};
use tessera_model::{Basket, DatasetId, Page, Selection, StateKey, StateValue};

impl App {
    pub fn basket(&self) -> Option<&Basket> {
        self.baskets.get(self.view()?.search.dataset)
    }

    pub fn selection(&self) -> Option<&Selection> {
        self.basket().map(Basket::selection)
    }

    /// Changes the basket of the open dataset and saves it.
    pub(in crate::app) fn edit_basket<T>(
        &mut self,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let dataset = self.view()?.search.dataset;
        self.edit_basket_of(dataset, change)
    }

    pub(in crate::app) fn edit_basket_of<T>(
        &mut self,
        dataset: DatasetId,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let outcome = change(self.baskets.get_mut(dataset)?);
        self.save_basket(dataset);
        Some(outcome)
    }

    fn save_basket(&mut self, dataset: DatasetId) {
        let Some(basket) = self.baskets.get(dataset) else { return };
        let entry = StateValue::Basket(dataset, basket.selection().clone());
        self.outbox.send(Lane::SaveState(entry.key()), Request::SaveState(entry));
    }

    pub(in crate::app) fn basket_loaded(&mut self, dataset: DatasetId, result: LoadedState) {
        let basket = result.map(|value| match value {
            Some(StateValue::Basket(_, selection)) => Basket::new(selection),
            // Other state is not stored under this key.
            _ => Basket::default(),
        });
        self.baskets.by_dataset.entry(dataset).or_default().finish(self.outbox.now, basket);
    }

    pub(in crate::app) fn basket_to_load(&self) -> Option<StateKey> {
        let dataset = self.view()?.search.dataset;
        self.baskets.needs_load(dataset).then_some(StateKey::Basket(dataset))
    }

    /// The dataset was reindexed, or the service does not find what is selected.
    pub(in crate::app) fn flag_basket_stale(&mut self, dataset: DatasetId) {
        let stale = self.baskets.get_mut(dataset).map_or(0, Basket::mark_stale);
        if stale > 0 {
            let clusters = cluster_count(stale);
            let text = format!("{clusters} in the basket may no longer exist: 5 lists them");
            self.outbox.notify(Level::Warning, text);
            self.save_basket(dataset);
        }
    }

    /// Confirms that the selected clusters on a loaded page still exist.
    pub(in crate::app) fn confirm_selected(&mut self, dataset: DatasetId, page: &Page) {
        let basket = self.baskets.get_mut(dataset);
        let confirmed = basket.map_or(0, |basket| basket.confirm_clusters(&page.clusters));
        if confirmed > 0 {
            let text =
                format!("{} in the basket rechecked: they still exist", cluster_count(confirmed));
            self.outbox.notify(Level::Success, text);
            self.save_basket(dataset);
        }
    }
}
