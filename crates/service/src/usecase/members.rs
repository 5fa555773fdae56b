//! The members of a cluster.

use super::{ScoredCluster, ServiceError};
use crate::{
    Deployment,
    retrieval::SearchQuery,
    store::{cluster, dataset::DatasetRecord},
};
use tessera_model::{ClusterId, DatasetId, EntityType, Filter, Page};

impl Deployment {
    /// The rows of the members of a cluster that match all filters.
    pub(super) fn cluster_members(
        &self,
        record: &DatasetRecord,
        id: ClusterId,
        entity: Option<EntityType>,
        filters: &[Filter],
    ) -> Result<Vec<i64>, ServiceError> {
        let found = self.store.read(|c| cluster::locate(c, record.id, id))?;
        let found = found.filter(|(of, ..)| entity.is_none_or(|entity| entity == *of));
        let (entity, granularity, rank) =
            found.ok_or_else(|| ServiceError::NotFound(format!("Cluster {id} not found")))?;
        let filters = filters.to_vec();
        let query = SearchQuery { entity, filters, granularity, ..SearchQuery::default() };
        let result = self.search_context(record).search(&query)?;
        Ok(result.cluster_rows(rank).collect())
    }

    /// A cluster with one page of its members as previews; `None` past the last one.
    pub(crate) fn member_page(
        &self,
        dataset: DatasetId,
        id: ClusterId,
        filters: &[Filter],
        page: u64,
    ) -> Result<Option<ScoredCluster>, ServiceError> {
        let record = self.require_dataset(dataset)?;
        let rows = self.cluster_members(&record, id, None, filters)?;
        let skip = usize::try_from(page.saturating_mul(Page::SIZE as u64)).unwrap_or(usize::MAX);
        let members: Vec<_> =
            rows.into_iter().skip(skip).take(Page::SIZE).map(|row| (row, None)).collect();
        let found = self.store.read(|c| {
            let Some((entity, level, rank)) = cluster::locate(c, dataset, id)? else {
                return Ok(None);
            };
            let found = cluster::with_previews(c, dataset, entity, level, rank, &members)?;
            Ok(found.map(|(cluster, _)| ScoredCluster { entity, level, cluster, scores: None }))
        })?;
        Ok(found.filter(|page| !page.cluster.previews.is_empty()))
    }
}
