//! Which media an export contains, by which cluster each was selected, and how well it matches.

use std::collections::{HashMap, HashSet};

use super::{ExportScope, SearchParams, ServiceError, search::RankedCluster};
use crate::Deployment;
use tessera_model::{ClusterId, MediaId, SelectionItem};
use tessera_retrieval::SearchRanking;
use tessera_store::{
    cluster, dataset::DatasetRecord, export::ExportChoices, media, search_table::SelectedMember,
};
use tessera_wire::selection;

impl Deployment {
    /// The exported media; `None` for the whole dataset.
    pub(super) fn selected_media(
        &self,
        record: &DatasetRecord,
        scope: &ExportScope,
    ) -> Result<Option<ExportChoices>, ServiceError> {
        let mut choices = ExportChoices::new();
        match scope {
            scope if scope.is_whole_dataset() => return Ok(None),
            ExportScope::Search(params) => self.choose_matches(record, params, &mut choices)?,
            ExportScope::Cluster(id, params) => {
                let RankedCluster { rank, ranking, .. } =
                    self.ranked_cluster(record, *id, params)?;
                let ids = HashMap::from([(rank, *id)]);
                choose_members(
                    &mut choices,
                    &ranking,
                    ranking.members_of(&self.store, rank)?,
                    &ids,
                );
            }
            ExportScope::Selection(body) => {
                for item in selection::items(body)? {
                    self.choose_item(record, item?, &mut choices)?;
                }
            }
        }
        Ok(Some(choices))
    }

    fn choose_matches(
        &self,
        record: &DatasetRecord,
        params: &SearchParams,
        choices: &mut ExportChoices,
    ) -> Result<(), ServiceError> {
        let query = self.search_query(record.id, params)?;
        let ranking = self.search_context(record).search(&query)?;
        let ids = self
            .store
            .read(|c| cluster::ids_by_rank(c, record.id, query.entity, query.granularity))?;
        choose_members(choices, &ranking, ranking.members(&self.store)?, &ids);
        Ok(())
    }

    fn choose_item(
        &self,
        record: &DatasetRecord,
        item: SelectionItem,
        choices: &mut ExportChoices,
    ) -> Result<(), ServiceError> {
        match item {
            SelectionItem::Media(ids) => {
                for row in self.media_rows(record, &ids)? {
                    choices.entry(row).or_default();
                }
            }
            SelectionItem::Cluster { cluster, entity, filters, exclude } => {
                let params =
                    SearchParams { entity: Some(entity), filters, ..SearchParams::default() };
                let RankedCluster { rank, ranking, .. } =
                    self.ranked_cluster(record, cluster, &params)?;
                let excluded: HashSet<i64> =
                    self.media_rows(record, &exclude)?.into_iter().collect();
                let ids = HashMap::from([(rank, cluster)]);
                let members = ranking.members_of(&self.store, rank)?;
                let included = members.filter(|member| !excluded.contains(&member.row));
                choose_members(choices, &ranking, included, &ids);
            }
        }
        Ok(())
    }

    fn media_rows(
        &self,
        record: &DatasetRecord,
        ids: &[MediaId],
    ) -> Result<Vec<i64>, ServiceError> {
        let rows = self.store.read(|c| {
            let mut rows = Vec::with_capacity(ids.len());
            for &id in ids {
                match media::row_of(c, record.id, id)? {
                    Some(row) => rows.push(row),
                    None => return Ok(Err(id)),
                }
            }
            Ok(Ok(rows))
        })?;
        rows.map_err(|id| ServiceError::NotFound(format!("Media {id} not found")))
    }
}

/// Adds members of a ranking. The first cluster that selects a media item is kept.
fn choose_members(
    choices: &mut ExportChoices,
    ranking: &SearchRanking,
    members: impl Iterator<Item = SelectedMember>,
    ids: &HashMap<u32, ClusterId>,
) {
    let is_similarity = ranking.is_similarity();
    for SelectedMember { row, cluster, score } in members {
        let similarity = score.filter(|_| is_similarity).map(|distance| 1.0 - distance);
        let choice = choices.entry(row).or_default();
        choice.cluster = choice.cluster.or_else(|| ids.get(&cluster).copied());
        choice.confidence = choice.confidence.or(similarity.map(|part| part.clamp(0.0, 1.0)));
    }
}
