//! Object storage that is started when it is first needed.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use super::{BlockingStorage, StorageSettings};

#[derive(Debug)]
pub struct LazyStorage {
    settings: StorageSettings,
    started: Mutex<Option<Arc<BlockingStorage>>>,
}

impl LazyStorage {
    pub fn new(settings: &StorageSettings) -> Self {
        Self { settings: settings.clone(), started: Mutex::new(None) }
    }

    pub fn get(&self) -> io::Result<Arc<BlockingStorage>> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = &*started {
            return Ok(Arc::clone(storage));
        }
        let storage = Arc::new(BlockingStorage::new(&self.settings)?);
        Ok(Arc::clone(started.insert(storage)))
    }
}
