//! The question before a reindex: its consequences, and yes or no.

use crate::{
    app::{App, Overlay, overlay::KeyResult},
    input::{Chord, Key},
};
use tessera_model::{DatasetId, SafeText};

/// A reindex that waits for a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReindexConfirmation {
    /// The dataset that would be clustered anew.
    pub dataset: DatasetId,
    /// Its name.
    pub dataset_name: SafeText,
}

impl ReindexConfirmation {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Enter | Key::Char('y') => KeyResult::Accept,
            Key::Esc | Key::Char('n' | 'q') => KeyResult::Close,
            _ => KeyResult::Stay,
        }
    }
}

impl App {
    /// Asks whether the dataset that is meant is to be clustered anew.
    pub(in crate::app) fn open_reindex_confirmation(&mut self) {
        if let Some(dataset) = self.target_dataset() {
            let (dataset, dataset_name) = (dataset.id, dataset.name.clone());
            self.overlay = Some(Overlay::Reindex(ReindexConfirmation { dataset, dataset_name }));
        }
    }

    /// The person said yes.
    pub(in crate::app) fn confirm_reindex(&mut self, asked: ReindexConfirmation) {
        self.start_reindex((asked.dataset, asked.dataset_name));
    }
}
