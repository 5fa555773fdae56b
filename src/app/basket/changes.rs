//! Changing, saving and loading the basket of a dataset.

use super::cluster_count;
use crate::{
    app::{App, Level, LoadedState},
    message::{Lane, Request},
};
use tessera_model::{Basket, DatasetId, Page, Selection, StateKey, StateValue};

impl Baskets {
    pub fn current(&self, results: &Results) -> Option<&Basket> {
        self.get(results.view()?.search.dataset)
    }

    pub fn selection(&self, results: &Results) -> Option<&Selection> {
        self.current(results).map(Basket::selection)
    }

    /// Changes the basket of the open dataset and saves it.
    pub(in crate::app) fn edit<T>(
        &mut self,
        change: impl FnOnce(&mut Basket) -> T, results: &Results, outbox: &mut Outbox) -> Option<T> {
        let dataset = results.view()?.search.dataset;
        self.edit_of(dataset, change, outbox)
    }

    pub(in crate::app) fn edit_of<T>(
        &mut self,
        dataset: DatasetId,
        change: impl FnOnce(&mut Basket) -> T, outbox: &mut Outbox) -> Option<T> {
        let outcome = change(self.get_mut(dataset)?);
        self.save(dataset, outbox);
        Some(outcome)
    }

    fn save(&mut self, dataset: DatasetId, outbox: &mut Outbox) {
        let Some(basket) = self.get(dataset) else { return };
        let entry = StateValue::Basket(dataset, basket.selection().clone());
        outbox.send(Lane::SaveState(entry.key()), Request::SaveState(entry));
    }

    pub(in crate::app) fn loaded(&mut self, dataset: DatasetId, result: LoadedState, now: Uptime) {
        let basket = result.map(|value| match value {
            Some(StateValue::Basket(_, selection)) => Basket::new(selection),
            // Other state is not stored under this key.
            _ => Basket::default(),
        });
        self.by_dataset.entry(dataset).or_default().finish(now, basket);
    }

    pub(in crate::app) fn to_load(&self, results: &Results) -> Option<StateKey> {
        let dataset = results.view()?.search.dataset;
        self.needs_load(dataset).then_some(StateKey::Basket(dataset))
    }

    /// The dataset was reindexed, or the service does not find what is selected.
    pub(in crate::app) fn flag_stale(&mut self, dataset: DatasetId, outbox: &mut Outbox) {
        let stale = self.get_mut(dataset).map_or(0, Basket::mark_stale);
        if stale > 0 {
            let clusters = cluster_count(stale);
            let text = format!("{clusters} in the basket may no longer exist: 5 lists them");
            outbox.notify(Level::Warning, text);
            self.save(dataset, outbox);
        }
    }

    /// Confirms that the selected clusters on a loaded page still exist.
    pub(in crate::app) fn confirm_selected(&mut self, dataset: DatasetId, page: &Page, outbox: &mut Outbox) {
        let basket = self.get_mut(dataset);
        let confirmed = basket.map_or(0, |basket| basket.confirm_clusters(&page.clusters));
        if confirmed > 0 {
            let text =
                format!("{} in the basket rechecked: they still exist", cluster_count(confirmed));
            outbox.notify(Level::Success, text);
            self.save(dataset, outbox);
        }
    }
}
