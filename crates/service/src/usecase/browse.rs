//! Browsing: the clusters of a dataset, largest first.

use super::{ServiceError, search::ScoredCluster};
use crate::{Deployment, retrieval::SearchQuery, store::cluster};
use tessera_model::DatasetId;

impl Deployment {
    /// One page of clusters. While a dataset is indexed for the first time, each media item it has
    /// so far is a cluster.
    pub(super) fn browse(
        &self,
        id: DatasetId,
        query: &SearchQuery,
        page: u64,
    ) -> Result<Vec<ScoredCluster>, ServiceError> {
        self.require_dataset(id)?;
        let (entity, level) = (query.entity, query.granularity);
        let clusters = self.store.read(|c| {
            if cluster::any(c, id)? {
                cluster::page(c, id, entity, level, page)
            } else {
                cluster::single_item_page(c, id, entity, level, page)
            }
        })?;
        Ok(clusters.into_iter().map(|cluster| ScoredCluster { cluster, scores: None }).collect())
    }
}
