//! Clusters a dataset, or a batch of media, at every granularity. Everything is computed first and
//! written in the transaction that ends the operation.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use super::{TaskContext, progress::ProgressRange};
use crate::{
    cluster::{
        Clustering, aspect_ratio_scores, by_centrality, cluster, mislabels, outlier_scores,
        size_scores,
    },
    index::{DIMENSION, Keypoints},
    similarity::{DuplicatePair, Neighbor, Vectors, near_duplicates, neighbor_graph},
    store::{
        self, Transaction,
        assignment::{ClusterAssignment, IssueScores},
        cluster::{self as clusters, ClusterRecord, MemberCounts},
        indexed_files,
        media::{self, MediaFeatures, MediaKind, MediaRecord},
        preview::{MAX_PREVIEWS, StoredPreview},
    },
    task_error::TaskError,
};
use tessera_model::{DatasetId, EntityType, Granularity, is_metadata_label};

const GRAPH_NEIGHBORS: usize = 24;
/// Per cluster.
const MAX_LABELS_OR_TAGS: usize = 8;

/// Share of the progress for images; the rest is for objects.
const IMAGES_SHARE: f64 = 0.8;
/// Share of that for the neighbor graph; the rest is for near-duplicates.
const GRAPH_SHARE: f64 = 0.6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole dataset; its clusters are replaced.
    Everything,
    /// The new media of one source; their clusters are appended to the existing ones.
    Batch(i64),
}

impl Scope {
    pub fn source_row(self) -> Option<i64> {
        match self {
            Self::Everything => None,
            Self::Batch(source) => Some(source),
        }
    }

    /// Media of its source with an assignment keep it when more are added to the same folder.
    fn includes(self, features: &MediaFeatures) -> bool {
        self == Self::Everything || features.assignment.is_none()
    }
}

pub struct ClusterUpdate {
    dataset: DatasetId,
    scope: Scope,
    by_entity: Vec<EntityClusters>,
}

struct EntityClusters {
    entity: EntityType,
    first_ranks: [u32; Granularity::LEVELS],
    levels: [Vec<ClusterRecord>; Granularity::LEVELS],
    assignments: Vec<ClusterAssignment>,
}

impl ClusterUpdate {
    pub fn compute(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        progress: &ProgressRange,
    ) -> Result<Self, TaskError> {
        let mut parts = Vec::new();
        for (entity, progress) in [
            (EntityType::Images, progress.subrange(0.0, IMAGES_SHARE)),
            (EntityType::Objects, progress.subrange(IMAGES_SHARE, 1.0)),
        ] {
            context.check_cancelled()?;
            parts.extend(EntityClusters::of(context, dataset, scope, entity, &progress)?);
        }
        if parts.is_empty() && scope == Scope::Everything {
            return Err(TaskError::Failed(no_media_reason(context, dataset)?));
        }
        Ok(Self { dataset, scope, by_entity: parts })
    }

    /// The new assignments of one type, ordered by path.
    pub fn assignments(&self, entity: EntityType) -> &[ClusterAssignment] {
        let of_entity = self.by_entity.iter().find(|clusters| clusters.entity == entity);
        of_entity.map(|clusters| &*clusters.assignments).unwrap_or_default()
    }

    pub fn write(&self, transaction: &Transaction) -> store::Result<()> {
        if self.scope == Scope::Everything {
            clusters::delete_all(transaction, self.dataset)?;
        }
        for EntityClusters { entity, first_ranks: first, levels, assignments } in &self.by_entity {
            clusters::insert_all(transaction, self.dataset, *entity, *first, levels, assignments)?;
        }
        Ok(())
    }
}

impl EntityClusters {
    /// Returns `None` if the scope has no media of this type.
    fn of(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        entity: EntityType,
        progress: &ProgressRange,
    ) -> Result<Option<Self>, TaskError> {
        let mut vectors = Vectors::new(DIMENSION);
        let mut keypoints = Vec::new();
        let mut members: Vec<MediaRecord> = Vec::new();
        context.store.read(|c| {
            media::for_each_with_features(c, dataset, entity, scope.source_row(), |features| {
                if scope.includes(&features) {
                    vectors.push(&features.descriptor);
                    keypoints.push(Keypoints::from_bytes(features.keypoints));
                    members.push(features.media);
                }
                Ok(())
            })
        })?;
        if members.is_empty() {
            return Ok(None);
        }
        let first = match scope {
            Scope::Everything => [0; Granularity::LEVELS],
            Scope::Batch(_) => context.store.read(|c| clusters::counts(c, dataset, entity))?,
        };
        let near = |share: f32| progress.report(f64::from(share) * GRAPH_SHARE);
        let graph = neighbor_graph(&vectors, GRAPH_NEIGHBORS, near).ok_or(TaskError::Stopped)?;
        let same =
            |share: f32| progress.report(GRAPH_SHARE + f64::from(share) * (1.0 - GRAPH_SHARE));
        let duplicates = near_duplicates(&keypoints, &graph, same).ok_or(TaskError::Stopped)?;
        // Frees a tenth of a gigabyte at a hundred thousand media items.
        drop(keypoints);
        let clustering = cluster(&vectors, &graph, &duplicates);
        let mut ranks = vec![first; members.len()];
        let mut levels = [const { Vec::new() }; Granularity::LEVELS];
        for (index, level) in (0..).map_while(Granularity::new).enumerate() {
            for (rank, group) in (first[index]..).zip(group_rows(&clustering.levels[index])) {
                for &member in &group {
                    ranks[member as usize][index] = rank;
                }
                levels[index].push(build_cluster(dataset, level, &vectors, &members, &group));
            }
        }
        let assignments = assignments(&members, &graph, &duplicates, &clustering, ranks);
        Ok(Some(Self { entity, first_ranks: first, levels, assignments }))
    }
}

fn build_cluster(
    dataset: DatasetId,
    level: Granularity,
    vectors: &Vectors,
    members: &[MediaRecord],
    group: &[u32],
) -> ClusterRecord {
    let member = |row: u32| &members[row as usize];
    ClusterRecord {
        id: clusters::cluster_id(dataset, level, member(group[0]).id),
        counts: count_members(group.iter().map(|&row| member(row))),
        previews: (by_centrality(vectors, group).iter().take(MAX_PREVIEWS))
            .map(|&row| StoredPreview::from(member(row)))
            .collect(),
        labels: frequent_labels(group.iter().map(|&row| member(row))),
        tags: most_frequent(group.iter().flat_map(|&row| &member(row).tags)),
    }
}

fn count_members<'a>(members: impl Iterator<Item = &'a MediaRecord>) -> MemberCounts {
    let mut counts = MemberCounts::default();
    let (mut pictures, mut videos) = (HashSet::new(), HashSet::new());
    for member in members {
        match member.kind {
            MediaKind::Frame => {
                counts.frames += 1;
                videos.insert(member.video_file());
            }
            MediaKind::Object => {
                counts.objects += 1;
                pictures.insert(member.picture_row());
            }
            MediaKind::Image => _ = pictures.insert(member.row),
        }
    }
    (counts.images, counts.videos) = (pictures.len() as u64, videos.len() as u64);
    counts
}

fn assignments(
    members: &[MediaRecord],
    graph: &[Vec<Neighbor>],
    duplicates: &[DuplicatePair],
    clustering: &Clustering,
    ranks: Vec<[u32; Granularity::LEVELS]>,
) -> Vec<ClusterAssignment> {
    let scores = issue_scores(members, graph);
    let mut nearest_twin = vec![0.0_f32; members.len()];
    for DuplicatePair { rows: (one, other), similarity } in duplicates {
        for row in [*one as usize, *other as usize] {
            nearest_twin[row] = nearest_twin[row].max(*similarity);
        }
    }
    let assign = |(row, ranks): (usize, [u32; Granularity::LEVELS])| ClusterAssignment {
        media: members[row].row,
        uniqueness: clustering.uniqueness[row],
        near_duplicate_similarity: nearest_twin[row],
        issue_scores: scores[row],
        cluster_ranks: ranks,
    };
    ranks.into_iter().enumerate().map(assign).collect()
}

fn issue_scores(members: &[MediaRecord], graph: &[Vec<Neighbor>]) -> Vec<IssueScores> {
    let labels: Vec<Vec<&String>> = (members.iter())
        .map(|member| member.labels.iter().filter(|label| !is_metadata_label(label)).collect())
        .collect();
    let labels: Vec<&[&String]> = labels.iter().map(Vec::as_slice).collect();
    let sizes: Vec<(u32, u32)> = members.iter().map(MediaRecord::cropped_size).collect();
    let (outliers, mislabels) = (outlier_scores(graph), mislabels::mislabel_scores(&labels, graph));
    let class_outliers = mislabels::class_outlier_scores(&labels, graph);
    let (odd_aspects, odd_sizes) = (aspect_ratio_scores(&sizes), size_scores(&sizes));
    let scores = |row: usize| IssueScores {
        outlier: outliers[row],
        mislabel: mislabels[row],
        class_outlier: class_outliers[row],
        odd_aspect: odd_aspects[row],
        odd_size: odd_sizes[row],
    };
    (0..members.len()).map(scores).collect()
}

/// The members of each group: largest group first, equal sizes by first member.
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

/// The most frequent labels of the dataset, then those of the model, of which ties have their order: the nearest first.
fn frequent_labels<'a>(members: impl Iterator<Item = &'a MediaRecord> + Clone) -> Vec<String> {
    let mut labels = most_frequent(members.clone().flat_map(|member| &member.labels));
    let mut by_model: Vec<(&String, usize)> = Vec::new();
    let mut positions: HashMap<&String, usize> = HashMap::new();
    for name in members.flat_map(|member| &member.model_labels) {
        let position = *positions.entry(name).or_insert(by_model.len());
        match by_model.get_mut(position) {
            Some((_, count)) => *count += 1,
            None => by_model.push((name, 1)),
        }
    }
    by_model.sort_by_key(|&(_, count)| Reverse(count));
    // Those that say nothing about what a picture shows are last.
    let shown = labels.iter().take_while(|label| !is_metadata_label(label)).count();
    let further = by_model.into_iter().map(|(name, _)| name.clone());
    let further: Vec<String> = further.filter(|name| !labels.contains(name)).collect();
    labels.splice(shown..shown, further);
    labels.truncate(MAX_LABELS_OR_TAGS);
    labels
}

/// The most frequent names, ties in alphabetical order; those that say what a picture shows come first.
fn most_frequent<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_unstable_by_key(|&(name, count)| (is_metadata_label(name), Reverse(count), name));
    names.truncate(MAX_LABELS_OR_TAGS);
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Why a dataset has no media, with the first skipped file as an example.
fn no_media_reason(context: &TaskContext, dataset: DatasetId) -> Result<String, TaskError> {
    let skipped = context.store.read(|c| indexed_files::skipped_files(c, dataset))?;
    let opened =
        skipped.iter().find(|(_, reason)| reason.starts_with("broken")).or(skipped.first());
    Ok(match opened {
        None => "there are no pictures left in its folder".to_owned(),
        Some((path, reason)) => format!(
            "none of its {} files can be opened as a picture, for example {}: {reason}",
            skipped.len(),
            path.display()
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

    #[test]
    fn cluster_shows_its_most_frequent_labels() {
        let labels = ["sea", "boat", "sky", "boat", "sea", "boat"].map(str::to_owned);
        assert_eq!(most_frequent(labels.iter()), ["boat", "sea", "sky"]);
        let many: Vec<String> = ('a'..='z').map(String::from).collect();
        assert_eq!(most_frequent(many.iter()), many[..MAX_LABELS_OR_TAGS]);
        assert!(most_frequent([].iter()).is_empty());
    }
}
