//! The members of each cluster of one level, in the order of the index.

#[derive(Debug)]
pub struct ClusterMembers {
    /// By rank: where the members of each cluster begin, and where those of the last one end.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl ClusterMembers {
    /// A counting sort of the members by the `ranks` of their clusters.
    pub fn new(ranks: &[u32]) -> Self {
        let clusters = ranks.iter().max().map_or(0, |&rank| rank as usize + 1);
        let mut starts = vec![0; clusters + 1];
        for &rank in ranks {
            starts[rank as usize + 1] += 1;
        }
        for cluster in 0..clusters {
            starts[cluster + 1] += starts[cluster];
        }
        let mut next = starts.clone();
        let mut members = vec![0; ranks.len()];
        for (member, &rank) in (0..).zip(ranks) {
            let position = &mut next[rank as usize];
            members[*position as usize] = member;
            *position += 1;
        }
        Self { starts, members }
    }

    /// One more than the highest rank.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Empty if no cluster has this rank.
    pub fn of(&self, rank: u32) -> &[u32] {
        let bounds = self.starts.get(rank as usize..).unwrap_or_default();
        let &[first, last, ..] = bounds else { return &[] };
        &self.members[first as usize..last as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_cluster_are_in_the_order_of_the_index() {
        let clusters = ClusterMembers::new(&[3, 0, 3, 1, 0]);
        assert_eq!(clusters.len(), 4);
        let members: Vec<&[u32]> = (0..5).map(|rank| clusters.of(rank)).collect();
        assert_eq!(members, [&[1, 4][..], &[3], &[], &[0, 2], &[]]);
        assert!(ClusterMembers::new(&[]).of(0).is_empty());
    }
}
