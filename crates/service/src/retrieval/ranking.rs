//! Ranks clusters by their best matching member; without scores they keep the order of browsing.

use std::{collections::HashSet, sync::Arc};

use super::dataset_index::DatasetIndex;
use crate::store::{cluster::MemberCounts, preview::MAX_PREVIEWS};
use tessera_model::{Granularity, Page};

/// The wire name of a distance from 0, which is the same, to 2.
pub const COSINE_DISTANCE: &str = "cosine_distance";

/// A score for every member, lower is better; infinite for members without one.
#[derive(Clone, Debug)]
pub struct Scores {
    pub values: Vec<f32>,
    /// The kind of score, as spelled on the wire.
    pub kind: &'static str,
}

pub struct ClusterRanking {
    index: Arc<DatasetIndex>,
    level: usize,
    mask: Vec<bool>,
    scores: Option<Scores>,
    /// Cluster ranks at the level, best first.
    order: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterMatch {
    /// Its rank at the level, which identifies it in the store.
    pub cluster: u32,
    /// Only of the matching members.
    pub counts: MemberCounts,
    /// The best matching members, best first: row in the store, and score if the query ranks.
    pub best_members: Vec<(i64, Option<f32>)>,
}

/// A member that matches a query.
#[derive(Clone, Copy, Debug)]
pub struct SelectedMember {
    /// Its row in the store.
    pub row: i64,
    /// The rank of its cluster.
    pub cluster: u32,
    /// Lower is better; `None` if the query does not rank.
    pub score: Option<f32>,
}

impl ClusterRanking {
    /// Orders the clusters of the members that match and, if the query ranks, have a score.
    pub fn new(
        index: Arc<DatasetIndex>,
        level: Granularity,
        mut mask: Vec<bool>,
        scores: Option<Scores>,
    ) -> Self {
        let level = usize::from(level.level());
        let mut best: Vec<f32> = Vec::new();
        for (row, member) in index.members.iter().enumerate() {
            let score = scores.as_ref().map_or(0.0, |scores| scores.values[row]);
            mask[row] &= score.is_finite();
            if mask[row] {
                let cluster = member.assignment.cluster_ranks[level] as usize;
                if cluster >= best.len() {
                    best.resize(cluster + 1, f32::INFINITY);
                }
                best[cluster] = best[cluster].min(score);
            }
        }
        let mut order: Vec<u32> =
            (0..).zip(&best).filter(|(_, s)| s.is_finite()).map(|(c, _)| c).collect();
        // A stable sort: ties keep the order of browsing.
        order.sort_by(|&a, &b| best[a as usize].total_cmp(&best[b as usize]));
        Self { index, level, mask, scores, order }
    }

    /// Whether the scores are distances that similarities can be computed from.
    pub fn is_similarity(&self) -> bool {
        self.score_kind() == Some(COSINE_DISTANCE)
    }

    pub fn score_kind(&self) -> Option<&'static str> {
        self.scores.as_ref().map(|scores| scores.kind)
    }

    /// The matching members of one cluster, or of all, in the order of the index.
    pub fn selected_members(&self, cluster: Option<u32>) -> impl Iterator<Item = SelectedMember> {
        let members = self.index.members.iter().zip(&self.mask).enumerate();
        members.filter(|(_, (_, matches))| **matches).filter_map(move |(at, (member, _))| {
            let rank = member.assignment.cluster_ranks[self.level];
            let score = self.scores.as_ref().map(|scores| scores.values[at]);
            let selected = cluster.is_none_or(|cluster| cluster == rank);
            selected.then_some(SelectedMember { row: member.row, cluster: rank, score })
        })
    }

    pub fn page(&self, page: u64) -> Vec<ClusterMatch> {
        let from = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(Page::SIZE);
        let page_clusters = self.order.get(from..).unwrap_or_default();
        let page_clusters = &page_clusters[..page_clusters.len().min(Page::SIZE)];
        let highest = page_clusters.iter().copied().max().map_or(0, |rank| rank as usize + 1);
        let mut page_positions = vec![None; highest];
        let mut page: Vec<ClusterMatch> = Vec::with_capacity(page_clusters.len());
        for &cluster in page_clusters {
            page_positions[cluster as usize] = Some(page.len());
            page.push(ClusterMatch { cluster, ..ClusterMatch::default() });
        }
        let mut pictures = vec![HashSet::new(); page.len()];
        let mut videos = pictures.clone();
        for (index, member) in self.index.members.iter().enumerate() {
            let cluster = member.assignment.cluster_ranks[self.level] as usize;
            let Some(position) =
                page_positions.get(cluster).copied().flatten().filter(|_| self.mask[index])
            else {
                continue;
            };
            let score = self.scores.as_ref().map(|scores| scores.values[index]);
            let ranked = &mut page[position];
            if member.picture_row != member.row {
                ranked.counts.objects += 1;
                pictures[position].insert(member.picture_row);
            } else if let Some(video) = member.video {
                ranked.counts.frames += 1;
                videos[position].insert(i64::from(video));
            } else {
                ranked.counts.images += 1;
            }
            insert_best(&mut ranked.best_members, member.row, score);
        }
        for (ranked, (pictures, videos)) in page.iter_mut().zip(pictures.iter().zip(videos)) {
            ranked.counts.images += pictures.len() as u64;
            ranked.counts.videos = videos.len() as u64;
        }
        page
    }
}

/// Inserts a member if it is among the best; earlier members precede equal ones.
fn insert_best(best: &mut Vec<(i64, Option<f32>)>, row: i64, score: Option<f32>) {
    // Half precision may give a picture a small negative distance from itself.
    let value = score.unwrap_or_default();
    let position = best.partition_point(|&(_, other)| other.unwrap_or_default() <= value);
    if position < MAX_PREVIEWS {
        best.insert(position, (row, score));
        best.truncate(MAX_PREVIEWS);
    }
}
