//! Typed access to saved values for commands, which write one after the other and need no numbers.

use super::StateStore;
use tessera_model::{
    DatasetId, Failure, HistoryEntry, JobRecord, SavedSession, SavedView, Selection, StateKey,
    StateValue,
};

impl StateStore {
    pub fn replace(&self, entry: &StateValue) -> Result<(), Failure> {
        self.save(1, entry)
    }

    pub fn replace_jobs(&self, own: Vec<JobRecord>) -> Result<(), Failure> {
        self.replace(&StateValue::Jobs { own, other_instances: Vec::new() })
    }

    pub fn views(&self) -> Result<Vec<SavedView>, Failure> {
        match self.load(&StateKey::Views)? {
            Some(StateValue::Views(views)) => Ok(views),
            _ => Ok(Vec::new()),
        }
    }

    pub fn history(&self) -> Result<Vec<HistoryEntry>, Failure> {
        match self.load(&StateKey::History)? {
            Some(StateValue::History(searches)) => Ok(searches),
            _ => Ok(Vec::new()),
        }
    }

    pub fn session(&self) -> Result<Option<SavedSession>, Failure> {
        match self.load(&StateKey::Session)? {
            Some(StateValue::Session(session)) => Ok(Some(session)),
            _ => Ok(None),
        }
    }

    pub fn basket(&self, dataset: DatasetId) -> Result<Selection, Failure> {
        match self.load(&StateKey::Basket(dataset))? {
            Some(StateValue::Basket(_, selection)) => Ok(selection),
            _ => Ok(Selection::default()),
        }
    }
}
