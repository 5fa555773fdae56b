//! Ranks the clusters of a search in memory by their best matching member, by scores or by an order of files. This file
//! decides the order of the clusters of a search. Without scores, and among equal scores, clusters keep the order of
//! browsing, which `cluster_step` of the service computes.
//!
//! The rest of the service reads a ranking only through [`SearchRanking`](super::SearchRanking).

use std::sync::Arc;

use tessera_model::Page;
use tessera_search::member_search::Grouping;
use tessera_store::{
    cluster::MAX_PREVIEWS,
    search_table::{ClusterMatch, SelectedMember},
};

use crate::{
    dataset_index::DatasetIndex, member_clusters::MemberClusters, member_columns::NO_VIDEO,
};

/// The wire name of full-text scores. A lower score is better.
pub const BM25: &str = "bm25";

/// A score for every member. A lower score is better. Members without a score have an infinite one.
#[derive(Clone, Debug)]
pub struct Scores {
    pub values: Vec<f32>,
    /// The kind of the scores, in the spelling of the wire.
    pub kind: &'static str,
}

/// Which members match, and what orders them.
#[derive(Default)]
pub struct MatchingMembers {
    pub mask: Vec<bool>,
    pub scores: Option<Scores>,
    /// The position of each matching member in an order of files, which takes the place of the order by scores.
    pub positions: Option<Vec<u32>>,
}

impl MatchingMembers {
    /// Returns a number that sorts matching members.
    fn sort_key(&self, member: usize) -> i64 {
        match (&self.positions, &self.scores) {
            (Some(positions), _) => positions[member].into(),
            (None, Some(scores)) => total_order(scores.values[member]).into(),
            (None, None) => 0,
        }
    }

    fn score(&self, member: usize) -> Option<f32> {
        self.scores.as_ref().map(|scores| scores.values[member])
    }
}

pub struct ClusterRanking {
    index: Arc<DatasetIndex>,
    clusters: MemberClusters,
    found: MatchingMembers,
    /// The ranks of clusters, best first.
    order: Vec<u32>,
    /// The scores of members that were found by their names.
    name_distances: Vec<f32>,
}

impl ClusterRanking {
    /// Orders the clusters that contain matching members. If the query ranks, members must also have a score.
    pub fn new(
        index: Arc<DatasetIndex>,
        grouping: Grouping,
        mut found: MatchingMembers,
        name_distances: Vec<f32>,
    ) -> Self {
        const NOT_FOUND: i64 = i64::MAX;
        let clusters = MemberClusters::new(&index, grouping);
        let mut best = vec![NOT_FOUND; clusters.members(&index).len()];
        for (member, &rank) in clusters.ranks(&index).iter().enumerate() {
            found.mask[member] &= found.score(member).is_none_or(f32::is_finite);
            if found.mask[member] {
                let best = &mut best[rank as usize];
                *best = found.sort_key(member).min(*best);
            }
        }
        let matching = (0..).zip(best).filter(|(_, key)| *key != NOT_FOUND);
        // Equal keys keep the order of browsing.
        let mut order: Vec<(i64, u32)> = matching.map(|(cluster, key)| (key, cluster)).collect();
        if found.scores.is_some() || found.positions.is_some() {
            order.sort_unstable();
        }
        let order = order.into_iter().map(|(_, cluster)| cluster).collect();
        Self { index, clusters, found, order, name_distances }
    }

    pub fn name_distances(&self) -> &[f32] {
        &self.name_distances
    }

    pub fn score_kind(&self) -> Option<&'static str> {
        self.found.scores.as_ref().map(|scores| scores.kind)
    }

    /// Returns the matching members of all clusters, in the order of the index.
    pub fn members(&self) -> impl Iterator<Item = SelectedMember> {
        let matching = self.found.mask.iter().enumerate().filter(|(_, matches)| **matches);
        matching.map(|(member, _)| self.selected(member))
    }

    /// Returns the matching members of one cluster, in the order of the index.
    pub fn members_of(&self, cluster: u32) -> impl Iterator<Item = SelectedMember> {
        self.matching_of(cluster).map(|member| self.selected(member))
    }

    /// Returns the matching members of one cluster, best first. Equal members keep the order of the index.
    pub fn best_members_of(&self, cluster: u32) -> Vec<SelectedMember> {
        let mut members: Vec<usize> = self.matching_of(cluster).collect();
        members.sort_by_key(|&member| self.found.sort_key(member));
        members.into_iter().map(|member| self.selected(member)).collect()
    }

    fn matching_of(&self, cluster: u32) -> impl Iterator<Item = usize> {
        let members = self.clusters.members(&self.index).of(cluster).iter();
        members.map(|&member| member as usize).filter(|&member| self.found.mask[member])
    }

    fn selected(&self, member: usize) -> SelectedMember {
        SelectedMember {
            row: self.index.members.rows[member],
            cluster: self.clusters.ranks(&self.index)[member],
            score: self.found.score(member),
        }
    }

    pub fn page(&self, page: u64) -> Vec<ClusterMatch> {
        let from = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(Page::SIZE);
        let clusters = self.order.iter().skip(from).take(Page::SIZE);
        clusters.map(|&cluster| self.cluster_match(cluster)).collect()
    }

    /// Returns one of the matching clusters.
    pub fn cluster(&self, cluster: u32) -> Option<ClusterMatch> {
        Some(self.cluster_match(cluster)).filter(|found| !found.best_members.is_empty())
    }

    fn cluster_match(&self, cluster: u32) -> ClusterMatch {
        let columns = &self.index.members;
        let mut found = ClusterMatch { cluster, ..ClusterMatch::default() };
        let (mut pictures, mut videos, mut best) = (Vec::new(), Vec::new(), Vec::new());
        for member in self.matching_of(cluster) {
            let (row, picture_row) = (columns.rows[member], columns.picture_rows[member]);
            let video = columns.videos[member];
            if picture_row != row {
                found.counts.objects += 1;
                pictures.push(picture_row);
            } else if video != NO_VIDEO {
                found.counts.frames += 1;
                videos.push(video);
            } else {
                found.counts.images += 1;
            }
            insert_best(&mut best, self.found.sort_key(member), member);
        }
        let with_score =
            |(_, member): (i64, usize)| (columns.rows[member], self.found.score(member));
        found.best_members = best.into_iter().map(with_score).collect();
        found.counts.images += count_distinct(pictures);
        found.counts.videos = count_distinct(videos);
        found
    }
}

fn count_distinct<T: Ord>(mut values: Vec<T>) -> u64 {
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

/// Returns a number that sorts like [`f32::total_cmp`].
fn total_order(score: f32) -> i32 {
    let bits = score.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// Inserts a member if it is among the best ones. Among equal members, earlier ones come first.
fn insert_best(best: &mut Vec<(i64, usize)>, key: i64, member: usize) {
    let position = best.partition_point(|&(other, _)| other <= key);
    if position < MAX_PREVIEWS {
        best.insert(position, (key, member));
        best.truncate(MAX_PREVIEWS);
    }
}

#[cfg(test)]
mod tests;
