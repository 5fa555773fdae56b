//! Clusters a dataset, or a batch of media, at every granularity, and sorts the clusters by size, which is the order of
//! browsing. Everything is computed first, and then written in the
//! transaction that ends the indexing task.

use std::{cmp::Reverse, collections::HashMap, path::Path};

use super::{
    TaskContext,
    clustered_media::{ClusterLevel, ClusteredMedia},
    context::ProgressRange,
    member_features::{
        GRAPH_NEIGHBORS, MemberVectors, Scope, SimilarMembers, StoredKeypoints, read_members,
        similar_members, with_embeddings,
    },
    several_processes::{is_shared, shared_similar_members},
};
use crate::task_error::TaskError;
use tessera_media::ingest::{EXCLUDED, file_names::printable_path};
use tessera_model::{DatasetId, EntityType, FileKind, Granularity, file_kind::HIDDEN};
use tessera_search::{
    cluster::{
        Clustering, aspect_ratio_scores, by_centrality, cluster, issue_scores, outlier_scores,
        size_scores,
    },
    similarity::{
        DuplicatePair, GroupedRow, MapPosition, NeighborGraph, RowLists, Vectors, map_positions,
        neighbor_graph, order_by_group,
    },
};
use tessera_store::{
    Transaction,
    assignment::{self, ClusterAssignment, IssueScores},
    cluster as clusters,
    cluster::MAX_PREVIEWS,
    duplicate_group, indexed_files, map_position,
};

/// The share of the progress for images. The rest is for objects.
const IMAGES_SHARE: f64 = 0.8;
/// The share of an entity type's progress for the neighbor graph. The rest is for near-duplicates.
const GRAPH_SHARE: f64 = 0.6;

pub struct ClusterUpdate {
    dataset: DatasetId,
    scope: Scope,
    by_entity: Vec<EntityClusters>,
}

struct EntityClusters {
    entity: EntityType,
    members: ClusteredMedia,
    /// The levels, finest first.
    levels: Vec<ClusterLevel>,
    assignments: Vec<ClusterAssignment>,
    /// The positions on the map, by the rows of the members.
    map: Vec<(i64, MapPosition)>,
}

impl ClusterUpdate {
    pub fn compute(
        context: &TaskContext,
        (indexing_task, dataset): (i64, DatasetId),
        scope: Scope,
        progress: &ProgressRange,
    ) -> Result<Self, TaskError> {
        let mut parts = Vec::new();
        for (entity, progress) in [
            (EntityType::Images, progress.subrange(0.0, IMAGES_SHARE)),
            (EntityType::Objects, progress.subrange(IMAGES_SHARE, 1.0)),
        ] {
            context.check_cancelled()?;
            let indexing_task = (indexing_task, dataset);
            parts.extend(EntityClusters::of(context, indexing_task, scope, entity, &progress)?);
        }
        if parts.is_empty() && scope == Scope::Everything {
            return Err(TaskError::Failed(no_media_reason(context, dataset)?));
        }
        Ok(Self { dataset, scope, by_entity: parts })
    }

    /// Returns the new assignments of one entity type, in the order of the paths.
    pub fn assignments(&self, entity: EntityType) -> &[ClusterAssignment] {
        let of_entity = self.by_entity.iter().find(|clusters| clusters.entity == entity);
        of_entity.map(|clusters| &*clusters.assignments).unwrap_or_default()
    }

    pub fn write(&self, transaction: &Transaction) -> tessera_store::Result<()> {
        if self.scope == Scope::Everything {
            clusters::delete_all(transaction, self.dataset)?;
        }
        for EntityClusters { entity, members, levels, assignments, map } in &self.by_entity {
            for level in levels {
                level.write(transaction, self.dataset, *entity, members)?;
            }
            assignment::upsert_all(transaction, assignments)?;
            map_position::upsert_all(transaction, map)?;
        }
        Ok(())
    }
}

impl EntityClusters {
    /// Computes the clusters of one entity type. Returns `None` if the scope has no media of this type.
    fn of(
        context: &TaskContext,
        (indexing_task, dataset): (i64, DatasetId),
        scope: Scope,
        entity: EntityType,
        progress: &ProgressRange,
    ) -> Result<Option<Self>, TaskError> {
        let members = read_members(context, dataset, scope, entity)?;
        if members.is_empty() {
            return Ok(None);
        }
        let (first, first_position, map_width) = match scope {
            Scope::Everything => ([0; Granularity::LEVELS], 0, None),
            Scope::Batch(_) => context.store.read(|c| {
                let position = duplicate_group::next_position(c, dataset, entity)?;
                let width = map_position::width(c, dataset, entity)?;
                Ok((clusters::counts(c, dataset, entity)?, position, Some(width)))
            })?,
        };
        let read = || MemberVectors::read(context, dataset, scope, entity, &members);
        let MemberVectors { vectors, corners } = read()?;
        let source = scope.source_row();
        let keypoints =
            StoredKeypoints { context, dataset, entity, source, members: &members, corners };
        let parts = [progress.subrange(0.0, GRAPH_SHARE), progress.subrange(GRAPH_SHARE, 1.0)];
        let [in_graph, in_pairs] =
            parts.each_ref().map(|part| |share: f32| part.report(f64::from(share)));
        let SimilarMembers { graph, duplicates } = if is_shared(context, vectors.len()) {
            shared_similar_members(indexing_task, vectors, &keypoints, in_graph, in_pairs)?
        } else {
            similar_members(vectors, &keypoints, in_graph, in_pairs)?
        };
        // The vectors are read again, because near-duplicates are searched in the memory that they had.
        let MemberVectors { vectors, .. } = read()?;
        let position = |row| Some(members.position(row)? as usize);
        let (vectors, graph) = match with_embeddings(&context.store, dataset, &vectors, position)? {
            None => (vectors, graph),
            Some(weighted) => {
                let should_continue = |_| context.check_cancelled().is_ok();
                let graph = neighbor_graph(&weighted, GRAPH_NEIGHBORS, should_continue);
                (weighted, graph.ok_or(TaskError::Stopped)?)
            }
        };
        let clustering = cluster(&vectors, &graph, &duplicates);
        let levels = levels(&vectors, &clustering, first);
        let map = map_positions(&vectors, &graph, || context.check_cancelled().is_ok());
        let map = map_on(map_width, map.ok_or(TaskError::Stopped)?);
        drop(vectors);
        let mut assignments = assignments(&members, &graph, &clustering, &levels);
        assign_duplicates(&mut assignments, &duplicates, first_position);
        let map = members.rows.iter().copied().zip(map).collect();
        Ok(Some(Self { entity, members, levels, assignments, map }))
    }
}

/// Puts the map of a batch beside the map of a dataset, because both have different directions. A whole map stays as it
/// is.
fn map_on(width: Option<f32>, mut map: Vec<MapPosition>) -> Vec<MapPosition> {
    const BATCH_SIDE: f32 = 0.25;
    const GAP: f32 = 0.05;
    if let Some(width) = width {
        for [x, y] in &mut map {
            (*x, *y) = (width + GAP + BATCH_SIDE * *x, BATCH_SIDE * *y);
        }
    }
    map
}

/// Returns the clusters at each level. Their ranks continue from `first`.
fn levels(
    vectors: &Vectors,
    clustering: &Clustering,
    first: [u32; Granularity::LEVELS],
) -> Vec<ClusterLevel> {
    let granularities = (0..).map_while(Granularity::new);
    let level = |(granularity, (labels, first_rank)): (Granularity, (&Vec<u32>, u32))| {
        let groups = group_rows(labels);
        let (mut members, mut previews) = (RowLists::default(), RowLists::default());
        for group in groups {
            previews.push(by_centrality(vectors, &group).into_iter().take(MAX_PREVIEWS));
            members.push(group);
        }
        ClusterLevel { granularity, first_rank, members, previews }
    };
    granularities.zip(clustering.levels.iter().zip(first)).map(level).collect()
}

fn assignments(
    members: &ClusteredMedia,
    graph: &NeighborGraph,
    clustering: &Clustering,
    levels: &[ClusterLevel],
) -> Vec<ClusterAssignment> {
    let scores = issue_scores(members, graph);
    let assign = |row: usize| ClusterAssignment {
        media: members.rows[row],
        uniqueness: clustering.uniqueness[row],
        near_duplicate_similarity: 0.0,
        issue_scores: scores[row],
        cluster_ranks: [0; Granularity::LEVELS],
        duplicate_position: None,
        duplicate_link: 0.0,
    };
    let mut assignments: Vec<ClusterAssignment> = (0..members.len()).map(assign).collect();
    for (index, level) in levels.iter().enumerate() {
        for (rank, group) in (level.first_rank..).zip(level.members.iter()) {
            for &member in group {
                assignments[member as usize].cluster_ranks[index] = rank;
            }
        }
    }
    assignments
}

/// Assigns the best similarity and the group of near-duplicates, which are the less unique, the more similar they are.
/// The distances of descriptors alone do not show an edited copy. Positions in the order of groups continue from
/// `first`.
fn assign_duplicates(
    assignments: &mut [ClusterAssignment],
    duplicates: &[DuplicatePair],
    first: u32,
) {
    for DuplicatePair { rows: (one, other), similarity } in duplicates {
        for row in [*one as usize, *other as usize] {
            let known = &mut assignments[row].near_duplicate_similarity;
            *known = known.max(*similarity);
        }
    }
    for assignment in &mut *assignments {
        assignment.uniqueness *= 1.0 - assignment.near_duplicate_similarity;
    }
    let order = order_by_group(duplicates, assignments.len());
    for (position, GroupedRow { row, link }) in (first..).zip(order) {
        let assignment = &mut assignments[row as usize];
        (assignment.duplicate_position, assignment.duplicate_link) = (Some(position), link);
    }
}

fn issue_scores(members: &ClusteredMedia, graph: &NeighborGraph) -> Vec<IssueScores> {
    let labels = members.labels.without_metadata();
    let labels: Vec<&[u32]> = labels.iter().collect();
    let (outliers, mislabels) =
        (outlier_scores(graph), issue_scores::mislabel_scores(&labels, graph));
    let class_outliers = issue_scores::class_outlier_scores(&labels, graph);
    let (odd_aspects, odd_sizes) =
        (aspect_ratio_scores(&members.sizes), size_scores(&members.sizes));
    let scores = |row: usize| IssueScores {
        outlier: outliers[row],
        mislabel: mislabels[row],
        class_outlier: class_outliers[row],
        odd_aspect: odd_aspects[row],
        odd_size: odd_sizes[row],
    };
    (0..members.len()).map(scores).collect()
}

/// Returns the members of each group: the largest group first, and groups of equal size by their first member.
fn group_rows(labels: &[u32]) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut indexes = HashMap::new();
    for (row, label) in (0..).zip(labels) {
        let group = *indexes.entry(label).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(row);
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

/// Explains why a dataset has no media, with the first skipped file as an example.
fn no_media_reason(context: &TaskContext, dataset: DatasetId) -> Result<String, TaskError> {
    let mut skipped = context.store.read(|c| indexed_files::skipped_files(c, dataset))?;
    skipped.retain(|(_, reason)| reason != HIDDEN);
    let find = |is_cause: fn(&str) -> bool| skipped.iter().find(|(_, reason)| is_cause(reason));
    let broken = find(|reason| reason.starts_with("broken"));
    let excluded = find(|reason| reason == EXCLUDED);
    let is_media = |path: &Path| FileKind::from_name(&path.to_string_lossy()).is_media();
    let failed = skipped.iter().find(|(path, reason)| reason != EXCLUDED && is_media(path));
    let opened = broken.or(failed);
    if let (None, Some((path, _))) = (opened, excluded) {
        return Ok(format!(
            "patterns leave no picture of its folder: they exclude {}; rescan it with --all-files or with other patterns",
            printable_path(path)
        ));
    }
    Ok(match opened.or(skipped.first()) {
        None => "there are no pictures left in its folder".to_owned(),
        Some((path, reason)) => format!(
            "none of its {} files can be opened as a picture, for example {}: {reason}",
            skipped.len(),
            printable_path(path)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_by_size_then_first_row() {
        let expected = vec![vec![1, 3, 4], vec![0, 2], vec![5]];
        assert_eq!(group_rows(&[0, 1, 0, 1, 1, 5]), expected);
        assert!(group_rows(&[]).is_empty());
    }
}
