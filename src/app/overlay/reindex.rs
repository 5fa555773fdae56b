//! The confirmation before a reindex.

use tessera_model::{DatasetId, Operation, SafeText};

use super::{Dialog, KeyResult, Overlay};
use crate::{
    app::App,
    input::{Chord, Key},
};

#[derive(Clone, Debug)]
pub struct ReindexConfirmation {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
}

impl Dialog for ReindexConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        match chord.key {
            Key::Enter | Key::Char('y') => KeyResult::Accept,
            Key::Esc | Key::Char('n' | 'q') => KeyResult::Close,
            _ => KeyResult::Stay,
        }
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (86, if screen.0 < 70 { 12 } else { 8 })
    }

    fn hints(&self) -> &'static str {
        "Enter reindex   Esc close"
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Reindex))
    }

    fn accept(self, app: &mut App) {
        app.start_reindex((self.dataset, self.dataset_name));
    }
}

impl App {
    pub(in crate::app) fn open_reindex_confirmation(&mut self) {
        if let Some(dataset) = self.target_dataset() {
            let (dataset, dataset_name) = (dataset.id, dataset.name.clone());
            self.overlays.open(Overlay::Reindex(ReindexConfirmation { dataset, dataset_name }));
        }
    }
}
