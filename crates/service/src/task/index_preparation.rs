//! Writes the index files of datasets whose clusters changed, so that the first search does not need to. This process
//! or another one may have changed the clusters.

use std::collections::HashMap;

use super::WorkerContext;
use tessera_model::{DatasetId, EntityType, Status};
use tessera_store::{
    dataset::{self, DatasetRecord},
    search_table,
};

#[derive(Default)]
pub struct IndexPreparation {
    /// The latest generation of each index that was handled. An index that had no space is not tried again.
    prepared: HashMap<(DatasetId, EntityType), i64>,
}

impl IndexPreparation {
    /// Writes the missing files of datasets that no indexing task is changing.
    pub fn run(&mut self, worker: &WorkerContext) {
        // If the store cannot be read now, it is read at the next call.
        let datasets = worker.store.read(dataset::all).unwrap_or_default();
        for dataset in &datasets {
            if matches!(dataset.status, Status::Ready | Status::PartialIndex) {
                self.prepare(worker, dataset, EntityType::Images);
                self.prepare(worker, dataset, EntityType::Objects);
            }
        }
    }

    fn prepare(&mut self, worker: &WorkerContext, dataset: &DatasetRecord, entity: EntityType) {
        let has_media = match entity {
            EntityType::Images => dataset.n_images + dataset.n_frames > 0,
            EntityType::Objects => dataset.n_objects > 0,
        };
        let key = (dataset.id, entity);
        if !has_media || self.prepared.get(&key) == Some(&dataset.generation) {
            return;
        }
        let is_stopped = || worker.is_stopped();
        let prepared = worker.store.read(|c| search_table::find(c, dataset.id, entity));
        let prepared = prepared.and_then(|table| match table {
            // The database searches this dataset, so it needs no index files.
            Some(_) => Ok(()),
            None => worker.indexes.prepare(&worker.store, dataset, entity, &is_stopped),
        });
        if prepared.is_ok() {
            self.prepared.insert(key, dataset.generation);
        }
    }
}
