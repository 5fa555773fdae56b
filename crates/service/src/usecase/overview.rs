//! What a dataset contains: counts, and which searches by text it supports.

use super::ServiceError;
use crate::{
    Deployment,
    store::{
        cluster,
        dataset::DatasetRecord,
        full_text::{self, TextCoverage},
    },
};
use tessera_model::{DatasetId, EntityType, Granularity};

impl Deployment {
    /// Which text there is beside the media of a dataset.
    pub(crate) fn text_coverage(
        &self,
        id: DatasetId,
    ) -> Result<(DatasetRecord, TextCoverage), ServiceError> {
        let record = self.require_dataset(id)?;
        Ok((record, self.store.read(|c| full_text::text_coverage(c, id))?))
    }

    /// The number of clusters of a dataset.
    pub(crate) fn cluster_count(
        &self,
        id: DatasetId,
        entity: EntityType,
        level: Granularity,
    ) -> Result<(DatasetRecord, u64), ServiceError> {
        let record = self.require_dataset(id)?;
        let counts = self.store.read(|c| cluster::counts(c, id, entity))?;
        Ok((record, counts[usize::from(level.level())].into()))
    }

    /// How often each label occurs.
    pub(crate) fn label_counts(
        &self,
        id: DatasetId,
        entity: EntityType,
    ) -> Result<Vec<(String, u64)>, ServiceError> {
        Ok(self.store.read(|c| full_text::label_counts(c, id, entity))?)
    }
}
