//! The input for the id of a dataset that the service does not list. A dataset opened by its id stays
//! in the list ("pinned") until the program exits.

use tessera_model::{Dataset, DatasetId};
use tui_input::Input;

use super::{Dialog, KeyResult, Overlay, text_field};
use crate::{
    app::{App, Level, Pane},
    input::Chord,
    message::{Lane, Request},
};

/// A half-typed id.
#[derive(Clone, Debug, Default)]
pub struct DatasetIdInput {
    pub text: Input,
}

impl Dialog for DatasetIdInput {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        text_field::handle_key(&mut self.text, chord)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (60, 5)
    }

    fn hints(&self) -> &'static str {
        "Enter open   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.text)
    }

    fn accept(self, app: &mut App) {
        if let Ok(id) = self.text.value().parse::<DatasetId>() {
            app.send(Lane::Dataset(id), Request::Dataset(id));
        } else {
            let text = "not a dataset id: type one like 8d057245-3fac-523b-ab70-4812919e09a1";
            app.notify(Level::Warning, text);
            app.overlay = Some(Overlay::DatasetId(self));
        }
    }
}

impl App {
    /// Adds or updates a dataset in the list; one that was just opened by its id is shown.
    pub(in crate::app) fn dataset_loaded(&mut self, dataset: Dataset) {
        let id = dataset.id;
        let mut list = self.store.dataset_list().to_vec();
        match list.iter_mut().find(|known| known.id == id) {
            Some(known) => *known = dataset,
            None => list.push(dataset),
        }
        self.store.datasets.replace(list);
        if self.store.pinned.insert(id) {
            self.open_dataset(id);
            self.focus = Pane::Results;
        }
    }

    /// Adds the pinned datasets that the service's list lacks.
    pub(in crate::app) fn with_pinned(&self, mut list: Vec<Dataset>) -> Vec<Dataset> {
        for id in &self.store.pinned {
            if !list.iter().any(|dataset| dataset.id == *id) {
                list.extend(self.store.dataset(*id).cloned());
            }
        }
        list
    }

    pub(in crate::app) fn refresh_pinned(&mut self) {
        for id in self.store.pinned.clone() {
            self.send(Lane::Dataset(id), Request::Dataset(id));
        }
    }
}
