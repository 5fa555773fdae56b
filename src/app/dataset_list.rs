//! What follows from a newly loaded list of datasets, and from a dataset opened by its id.

use crate::{
    app::{App, Level, Pane, basket::count_with_noun},
    message::{Lane, Request},
};
use tessera_model::{Dataset, DatasetId, Failure};

impl App {
    /// The list of datasets was loaded, without the pinned ones that the service does not list. The
    /// first list opens a dataset.
    pub(super) fn datasets_loaded(&mut self, mut list: Vec<Dataset>, unreadable: usize) {
        if unreadable > 0 && unreadable != self.store.unreadable_datasets {
            let rows = count_with_noun(unreadable, "row", "rows");
            let text = format!("{rows} of the list of datasets could not be parsed");
            self.outbox.notify(Level::Warning, text);
        }
        let datasets = &self.store.datasets;
        let was_down = datasets.failure().is_some_and(Failure::is_connection_failure);
        if was_down && datasets.failures() > 1 {
            self.outbox.notify(Level::Success, "the service responds again");
            self.store.pictures.forget_failures();
        }
        self.store.unreadable_datasets = unreadable;
        for id in &self.store.pinned {
            if !list.iter().any(|dataset| dataset.id == *id) {
                list.extend(self.store.dataset(*id).cloned());
            }
        }
        for dataset in &list {
            self.invalidate_changed(dataset);
            self.store.observed.observe(self.outbox.now, dataset);
        }
        let first = self.dataset_to_open(&list);
        self.store.datasets.finish(self.outbox.now, Ok(list));
        if let (None, Some(first)) = (self.view(), first) {
            self.open_dataset(first);
            self.restore_tabs(first);
            self.panes.focus = self.setup.initial_pane.take().unwrap_or(Pane::Results);
        }
        self.advance_dataset_jobs();
    }

    /// Invalidates what a newer record of a dataset shows to be out of date.
    fn invalidate_changed(&mut self, dataset: &Dataset) {
        let Some(before) = self.store.dataset(dataset.id).cloned() else { return };
        if before.status != dataset.status {
            self.store.enrichments.remove(&dataset.id);
        }
        if (&before.status, before.n_images) != (&dataset.status, dataset.n_images) {
            self.results.pages.invalidate(dataset.id);
        }
        if dataset.is_reclustered_since(&before) {
            self.flag_basket_stale(dataset.id);
        }
    }

    /// The dataset that the user named, by id or by name; by default that of the last session, or the
    /// first of the list.
    fn dataset_to_open(&mut self, list: &[Dataset]) -> Option<DatasetId> {
        let former = self.setup.session.as_ref().and_then(|session| session.dataset);
        let is_listed = |id: &DatasetId| list.iter().any(|dataset| dataset.id == *id);
        let first = former.filter(is_listed).unwrap_or(list.first()?.id);
        let Some(named) = self.setup.initial_dataset.as_ref().filter(|_| self.view().is_none())
        else {
            return Some(first);
        };
        let is_named = |dataset: &&Dataset| {
            dataset.id.to_string() == *named || dataset.name.as_str() == named.as_str()
        };
        let named_dataset = list.iter().find(is_named).map(|dataset| dataset.id);
        if named_dataset.is_none() {
            self.outbox.notify(Level::Warning, format!("no dataset has the name or id {named}"));
        }
        named_dataset.or(Some(first))
    }

    /// Adds or updates a dataset in the list; one that was just opened by its id is shown.
    pub(super) fn dataset_loaded(&mut self, dataset: Dataset) {
        let id = dataset.id;
        let mut list = self.store.dataset_list().to_vec();
        match list.iter_mut().find(|known| known.id == id) {
            Some(known) => *known = dataset,
            None => list.push(dataset),
        }
        self.store.datasets.replace(list);
        if self.store.pinned.insert(id) {
            self.open_dataset(id);
            self.panes.focus = Pane::Results;
        }
    }

    pub(super) fn refresh_pinned(&mut self) {
        for id in self.store.pinned.clone() {
            self.outbox.send(Lane::Dataset(id), Request::Dataset(id));
        }
    }
}
