//! Browsing and searching the clusters of a dataset, and the members of a cluster.

use super::ServiceError;
use crate::{
    Deployment,
    retrieval::{ClusterMatch, SearchContext, SearchQuery},
    store::{
        cluster::{self, ClusterRecord},
        dataset::DatasetRecord,
    },
};
use tessera_model::{ClusterId, DatasetId, EntityType, Filter, Granularity, Operation, Page};

pub(crate) struct ScoredCluster {
    pub entity: EntityType,
    pub level: Granularity,
    pub cluster: ClusterRecord,
    pub scores: Option<PreviewScores>,
}

pub(crate) struct PreviewScores {
    /// What the scores are, as spelled on the wire.
    pub kind: &'static str,
    pub values: Vec<f32>,
}

impl Deployment {
    pub(crate) fn find_clusters(
        &self,
        id: DatasetId,
        query: &SearchQuery,
        page: u64,
    ) -> Result<Vec<ScoredCluster>, ServiceError> {
        if query.is_browse() { self.browse(id, query, page) } else { self.search(id, query, page) }
    }

    /// One page of clusters; during the first indexing, each media item so far is a cluster.
    fn browse(
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
        let unscored = |cluster| ScoredCluster { entity, level, cluster, scores: None };
        Ok(clusters.into_iter().map(unscored).collect())
    }

    fn search(
        &self,
        id: DatasetId,
        query: &SearchQuery,
        page: u64,
    ) -> Result<Vec<ScoredCluster>, ServiceError> {
        let operation = match query.anchor {
            Some(_) => Operation::VisualSearch,
            None => Operation::TextSearch,
        };
        let record = self.require_ready(id, operation)?;
        if record.generation == 0 {
            return Err(ServiceError::Conflict(format!(
                "Operation '{}' is blocked while the dataset is indexed for the first time",
                operation.code()
            )));
        }
        let result = self.search_context(&record).search(query)?;
        let (entity, level, kind) = (query.entity, query.granularity, result.score_kind());
        let page = result.page(page);
        Ok(self.store.read(|c| {
            let mut clusters = Vec::with_capacity(page.len());
            for ClusterMatch { cluster: rank, images, videos, objects, best_members } in page {
                let found = cluster::with_previews(c, id, entity, level, rank, &best_members)?;
                clusters.extend(found.map(|(cluster, values)| ScoredCluster {
                    entity,
                    level,
                    cluster: ClusterRecord { images, videos, objects, ..cluster },
                    scores: kind.map(|kind| PreviewScores { kind, values }),
                }));
            }
            Ok(clusters)
        })?)
    }

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

    pub(super) fn search_context<'a>(&'a self, dataset: &'a DatasetRecord) -> SearchContext<'a> {
        SearchContext {
            store: &self.store,
            indexes: &self.indexes,
            encoders: self.settings.encoders.as_deref(),
            dataset,
        }
    }
}
