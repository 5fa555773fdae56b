//! The question before a reindex: its consequences, and yes or no.

use crate::{
    app::{App, Effect, Overlay, overlay::Press},
    input::{Chord, Key},
};
use tessera_model::{DatasetId, SafeText};

/// A reindex that waits for a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReindexQuestion {
    /// The dataset that would be clustered anew.
    pub dataset: DatasetId,
    /// Its name.
    pub dataset_name: SafeText,
}

impl ReindexQuestion {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Enter | Key::Char('y') => Press::Accept,
            Key::Esc | Key::Char('n' | 'q') => Press::Leave,
            _ => Press::Stay,
        }
    }
}

impl App {
    /// Asks whether the dataset that is meant is to be clustered anew.
    pub(in crate::app) fn ask_for_reindex(&mut self) {
        if let Some(dataset) = self.target() {
            let (dataset, dataset_name) = (dataset.id, dataset.name.clone());
            self.overlay = Some(Overlay::Reindex(ReindexQuestion { dataset, dataset_name }));
        }
    }

    /// The person said yes.
    pub(in crate::app) fn reindex(&mut self, asked: ReindexQuestion, effects: &mut Vec<Effect>) {
        self.start_reindex((asked.dataset, asked.dataset_name), effects);
    }
}
