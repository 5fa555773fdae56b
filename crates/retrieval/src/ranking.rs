//! Ranks the clusters of a search in memory by their best matching member, by scores or by an order of files. This file
//! decides the order of the clusters of a search. Without scores, and among equal scores, clusters keep the order of
//! browsing, which `cluster_step` of the service computes.
//!
//! The rest of the service reads a ranking only through [`SearchRanking`].

use std::{cmp::Ordering, sync::Arc};

use super::{
    columns::Lists,
    dataset_index::{DatasetIndex, cluster_members},
    member_columns::{MemberColumns, NO_DUPLICATES, NO_VIDEO},
    property_columns::PropertyColumns,
};
use crate::search_query::RetrievalError;
use tessera_model::{FileOrder, FileSortKey, Page, ScoreKind, search_form, vql::ItemValue};
use tessera_search::member_search::Grouping;
use tessera_store::{
    cluster::{ClusterMatch, MAX_PREVIEWS},
    search_table::SelectedMember,
};

/// The result of a search, wherever it was computed. Its functions fail with [`RetrievalError::Outdated`] if an
/// indexing task on the dataset has ended since the search.
pub trait SearchRanking {
    fn page(&self, page: u64) -> Result<Vec<ClusterMatch>, RetrievalError>;

    /// Returns one of the matching clusters by its rank.
    fn cluster(&self, rank: u32) -> Result<Option<ClusterMatch>, RetrievalError>;

    /// Returns the matching members of one cluster, or of all clusters, in the order of the index.
    fn members(&self, cluster: Option<u32>) -> Result<Vec<SelectedMember>, RetrievalError>;

    /// Returns the matching members of one cluster, best first. Equal members keep the order of the index.
    fn best_members_of(&self, cluster: u32) -> Result<Vec<SelectedMember>, RetrievalError>;

    /// Returns the kind of the scores in the spelling of the wire, or `None` if the query does not rank.
    fn score_kind(&self) -> Option<&'static str>;

    /// Returns the scores of members that were found by their names.
    fn name_distances(&self) -> &[f32];

    /// Whether only the nearest of the matching members were considered.
    fn is_bounded(&self) -> bool {
        false
    }

    /// Whether the scores are distances from which similarities can be computed.
    fn is_similarity(&self) -> bool {
        self.score_kind() == Some(ScoreKind::COSINE_DISTANCE)
    }

    /// Whether a score says that a member was found by its name. Distances of vectors practically never equal those of
    /// names.
    fn is_by_name(&self, score: f32) -> bool {
        self.name_distances().iter().any(|distance| distance.to_bits() == score.to_bits())
    }
}

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

    fn matching_of(&self, cluster: u32) -> impl Iterator<Item = usize> {
        let members = self.clusters.members(&self.index).get(cluster as usize).iter();
        members.map(|&member| member as usize).filter(|&member| self.found.mask[member])
    }

    fn selected(&self, member: usize) -> SelectedMember {
        SelectedMember {
            row: self.index.members.rows[member],
            cluster: self.clusters.ranks(&self.index)[member],
            score: self.found.score(member),
        }
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

impl SearchRanking for ClusterRanking {
    fn page(&self, page: u64) -> Result<Vec<ClusterMatch>, RetrievalError> {
        let from = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(Page::SIZE);
        let clusters = self.order.iter().skip(from).take(Page::SIZE);
        Ok(clusters.map(|&cluster| self.cluster_match(cluster)).collect())
    }

    fn cluster(&self, rank: u32) -> Result<Option<ClusterMatch>, RetrievalError> {
        Ok(Some(self.cluster_match(rank)).filter(|found| !found.best_members.is_empty()))
    }

    fn members(&self, cluster: Option<u32>) -> Result<Vec<SelectedMember>, RetrievalError> {
        if let Some(cluster) = cluster {
            return Ok(self.matching_of(cluster).map(|member| self.selected(member)).collect());
        }
        let matching = self.found.mask.iter().enumerate().filter(|(_, matches)| **matches);
        Ok(matching.map(|(member, _)| self.selected(member)).collect())
    }

    fn best_members_of(&self, cluster: u32) -> Result<Vec<SelectedMember>, RetrievalError> {
        let mut members: Vec<usize> = self.matching_of(cluster).collect();
        members.sort_by_key(|&member| self.found.sort_key(member));
        Ok(members.into_iter().map(|member| self.selected(member)).collect())
    }

    fn score_kind(&self) -> Option<&'static str> {
        self.found.scores.as_ref().map(|scores| scores.kind)
    }

    fn name_distances(&self) -> &[f32] {
        &self.name_distances
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

// Orders the matching members of a search by a property of their files.

/// Returns the position of each member in an order of files. Members that do not match have no meaningful position.
/// Equal files keep the order of browsing, so that pages never repeat or skip a cluster.
pub fn file_positions(columns: &PropertyColumns, mask: &[bool], order: FileOrder) -> Vec<u32> {
    let path = |member| {
        let mut path = String::new();
        columns.path(member, &mut path);
        path
    };
    let sorted = match order.by {
        FileSortKey::Name => {
            let key = |member| Some((search_form(columns.name(member)), path(member)));
            sorted_by(mask, order, key)
        }
        FileSortKey::Path => sorted_by(mask, order, |member| Some(path(member))),
        FileSortKey::Bytes => sorted_by(mask, order, |member| Some(columns.sizes[member])),
        FileSortKey::Date => sorted_by(mask, order, |member| match columns.date(member) {
            Some(ItemValue::Date(date)) => Some(date),
            _ => None,
        }),
    };
    let mut positions = vec![u32::MAX; mask.len()];
    for (position, member) in (0..).zip(sorted) {
        positions[member] = position;
    }
    positions
}

/// Sorts the matching members. Members without a key come last.
fn sorted_by<K: Ord>(
    mask: &[bool],
    order: FileOrder,
    key: impl Fn(usize) -> Option<K>,
) -> Vec<usize> {
    let matching = mask.iter().enumerate().filter(|(_, matches)| **matches);
    let mut keyed: Vec<(Option<K>, usize)> =
        matching.map(|(member, _)| (key(member), member)).collect();
    keyed.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) if order.reversed => other.cmp(one),
        (Some(one), Some(other)) => one.cmp(other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    keyed.into_iter().map(|(_, member)| member).collect()
}

// The clusters of a ranking in memory: those of a granularity, which the index has, or the groups of near-duplicates
// of a similarity, which are computed for the ranking.

pub enum MemberClusters {
    OfLevel(usize),
    OfDuplicates { ranks: Vec<u32>, members: Lists<u32> },
}

impl MemberClusters {
    pub fn new(index: &DatasetIndex, grouping: Grouping) -> Self {
        match grouping {
            Grouping::Level(level) => Self::OfLevel(usize::from(level.level())),
            Grouping::Duplicates(similarity) => {
                let ranks = group_ranks(&index.members, similarity);
                Self::OfDuplicates { members: cluster_members(&ranks), ranks }
            }
        }
    }

    /// Returns the rank of each member's cluster.
    pub fn ranks<'a>(&'a self, index: &'a DatasetIndex) -> &'a [u32] {
        match self {
            Self::OfLevel(level) => &index.members.cluster_ranks[*level],
            Self::OfDuplicates { ranks, .. } => ranks,
        }
    }

    pub fn members<'a>(&'a self, index: &'a DatasetIndex) -> &'a Lists<u32> {
        match self {
            Self::OfLevel(level) => index.clusters(*level),
            Self::OfDuplicates { members, .. } => members,
        }
    }
}

/// Returns the position of the first member of each member's group. Members without near-duplicates are together in a
/// cluster after all groups, and do not match.
fn group_ranks(members: &MemberColumns, similarity: f32) -> Vec<u32> {
    let positions = members.duplicate_positions.iter().copied().zip(0..);
    let mut order: Vec<(u32, usize)> =
        positions.filter(|(position, _)| *position != NO_DUPLICATES).collect();
    order.sort_unstable();
    let after_all = order.last().map_or(0, |(position, _)| position + 1);
    let mut ranks = vec![after_all; members.len()];
    let (mut first, mut next) = (0, 0);
    for (position, member) in order {
        // A member whose previous position is missing begins a group as well, because that media item was removed.
        if members.duplicate_links[member] < similarity || position != next {
            first = position;
        }
        ranks[member] = first;
        next = position + 1;
    }
    ranks
}

#[cfg(test)]
mod order_tests {
    use super::*;

    const ORDERS: [FileSortKey; 2] = [FileSortKey::Bytes, FileSortKey::Date];

    fn order_of(keys: &[Option<i64>], mask: &[bool], reversed: bool) -> Vec<usize> {
        ORDERS
            .map(|by| sorted_by(mask, FileOrder { by, reversed }, |member| keys[member]))
            .into_iter()
            .reduce(|one, other| {
                assert_eq!(one, other);
                one
            })
            .unwrap_or_default()
    }

    #[test]
    fn equal_members_keep_their_order_and_those_without_a_key_come_last() {
        let keys = [Some(3), None, Some(1), Some(3), Some(9), Some(2)];
        let mask = [true, true, true, true, false, true];
        assert_eq!(order_of(&keys, &mask, false), [2, 5, 0, 3, 1]);
        assert_eq!(order_of(&keys, &mask, true), [0, 3, 5, 2, 1]);
    }

    #[test]
    fn a_group_ends_at_a_weaker_link_and_at_a_missing_position() {
        let mut members = MemberColumns::default();
        members.rows = (0..7).collect();
        members.duplicate_positions = vec![4, NO_DUPLICATES, 0, 1, 2, 6, 7];
        members.duplicate_links = vec![0.0, 0.0, 0.0, 0.97, 0.91, 0.99, 0.93];
        assert_eq!(group_ranks(&members, 0.9), [4, 8, 0, 0, 0, 6, 6]);
        assert_eq!(group_ranks(&members, 0.95), [4, 8, 0, 0, 2, 6, 7]);
        assert_eq!(group_ranks(&MemberColumns::default(), 0.9), [0; 0]);
    }
}
