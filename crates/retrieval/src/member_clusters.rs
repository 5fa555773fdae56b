//! The clusters of a ranking in memory: those of a granularity, which the index has, or the groups of near-duplicates
//! of a similarity, which are computed for the ranking.

use tessera_search::member_search::Grouping;

use crate::{
    dataset_index::{ClusterMembers, DatasetIndex},
    member_columns::{MemberColumns, NO_DUPLICATES},
};

pub enum MemberClusters {
    OfLevel(usize),
    OfDuplicates { ranks: Vec<u32>, members: ClusterMembers },
}

impl MemberClusters {
    pub fn new(index: &DatasetIndex, grouping: Grouping) -> Self {
        match grouping {
            Grouping::Level(level) => Self::OfLevel(usize::from(level.level())),
            Grouping::Duplicates(similarity) => {
                let ranks = group_ranks(&index.members, similarity);
                Self::OfDuplicates { members: ClusterMembers::new(&ranks), ranks }
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

    pub fn members<'a>(&'a self, index: &'a DatasetIndex) -> &'a ClusterMembers {
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
mod tests {
    use super::*;

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
