//! Writes the clusters of a level, some at a time. What the clusters show of their members is read at that time.

use std::collections::HashMap;

use super::clustered_media::ClusteredMedia;
use tessera_model::{DatasetId, EntityType, Granularity};
use tessera_search::similarity::RowLists;
use tessera_store::{
    Transaction,
    cluster::{self as clusters, ClusterRecord},
    preview::{self, StoredPreview},
};

/// The number of clusters on a page, because the statement that reads previews is made for a page.
const CLUSTERS_AT_A_TIME: usize = 100;

/// The clusters at a level, largest first.
pub struct ClusterLevel {
    pub granularity: Granularity,
    /// The rank of the first cluster.
    pub first_rank: u32,
    /// The positions of the members of each cluster, lowest first.
    pub members: RowLists<u32>,
    /// The members that are shown, most central first.
    pub previews: RowLists<u32>,
}

impl ClusterLevel {
    pub fn write(
        &self,
        transaction: &Transaction,
        dataset: DatasetId,
        entity: EntityType,
        members: &ClusteredMedia,
    ) -> tessera_store::Result<()> {
        let clusters: Vec<usize> = (0..self.members.len()).collect();
        let ranks = (self.first_rank..).step_by(CLUSTERS_AT_A_TIME);
        for (rank, clusters) in ranks.zip(clusters.chunks(CLUSTERS_AT_A_TIME)) {
            let shown = clusters.iter().flat_map(|&cluster| &self.previews[cluster]);
            let shown: Vec<i64> = shown.map(|&member| members.rows[member as usize]).collect();
            let mut previews = preview::of_rows(transaction, &shown)?;
            let record = |&cluster: &usize| self.record(cluster, dataset, members, &mut previews);
            let records: Vec<ClusterRecord> = clusters.iter().map(record).collect();
            clusters::insert(transaction, dataset, entity, self.granularity, rank, &records)?;
        }
        Ok(())
    }

    fn record(
        &self,
        cluster: usize,
        dataset: DatasetId,
        members: &ClusteredMedia,
        previews: &mut HashMap<i64, StoredPreview>,
    ) -> ClusterRecord {
        let group = &self.members[cluster];
        let shown = self.previews[cluster].iter();
        ClusterRecord {
            id: clusters::cluster_id(dataset, self.granularity, members.ids[group[0] as usize]),
            counts: members.count(group),
            previews: shown
                .filter_map(|&member| previews.remove(&members.rows[member as usize]))
                .collect(),
            labels: members.frequent_labels(group),
            tags: members.tags.most_frequent(group),
        }
    }
}
