//! The line that takes the id of a dataset that the service does not list. It is looked at like any
//! other, and stays in the list until the program ends.

use tui_input::Input;

use crate::{
    app::{
        App, Level, Overlay, Pane,
        overlay::{KeyResult, text_field::edit},
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{Dataset, DatasetId};

/// A half-typed id.
#[derive(Clone, Debug, Default)]
pub struct DatasetIdInput {
    /// What is typed.
    pub text: Input,
}

impl DatasetIdInput {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            _ => edit(&mut self.text, chord),
        }
        KeyResult::Stay
    }
}

impl App {
    /// Asks for the dataset whose id was typed. What is no id is not sent.
    pub(in crate::app) fn open_dataset_by_id(&mut self, asked: DatasetIdInput) {
        if let Ok(id) = asked.text.value().parse::<DatasetId>() {
            self.send(Lane::Dataset(id), Request::Dataset(id));
        } else {
            let text = "an id looks like 8d057245-3fac-523b-ab70-4812919e09a1; type one, or Esc";
            self.notify(Level::Warning, text);
            self.overlay = Some(Overlay::DatasetId(asked));
        }
    }

    /// The record of one dataset came. One that was typed just now is opened.
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

    /// Adds the pinned datasets that a list lacks as they were seen last.
    pub(in crate::app) fn with_pinned(&self, mut list: Vec<Dataset>) -> Vec<Dataset> {
        for id in &self.store.pinned {
            if !list.iter().any(|dataset| dataset.id == *id) {
                list.extend(self.store.dataset(*id).cloned());
            }
        }
        list
    }

    /// Asks for the pinned datasets again, as often as for the list.
    pub(in crate::app) fn refresh_pinned(&mut self) {
        for id in self.store.pinned.clone() {
            self.send(Lane::Dataset(id), Request::Dataset(id));
        }
    }
}
