//! The media items of one dataset and entity type, with everything that rankings and filters need. Members can be found
//! by their cluster, or by the picture that contains them.

use std::{io, sync::OnceLock};

use tessera_model::Granularity;
use tessera_search::member_search::{DistanceQuery, VectorQuery};

use crate::{
    caption_index::{CaptionIndex, FileNames},
    columns::Lists,
    member_columns::{MemberColumns, NameTable},
    vector_source::PartialVectors,
};

pub struct DatasetIndex {
    pub(super) generation: i64,
    pub members: MemberColumns,
    pub names: NameTable,
    /// The captions of the pictures that are members or contain members.
    pub captions: CaptionIndex,
    pub file_names: FileNames,
    /// The vectors of the members that have one, in the order of
    /// [`MemberVector`](tessera_search::member_search::MemberVector).
    pub vectors: [PartialVectors; 3],
    /// The memory of the columns that filters read, without what is computed when first needed.
    pub memory_bytes: usize,
    /// The members of the clusters at each level, computed when first needed.
    clusters: [OnceLock<Lists<u32>>; Granularity::LEVELS],
    pictures: OnceLock<PictureMembers>,
}

impl DatasetIndex {
    pub fn new(
        generation: i64,
        mut members: MemberColumns,
        names: NameTable,
        captions: CaptionIndex,
        file_names: FileNames,
        vectors: [PartialVectors; 3],
    ) -> Self {
        let names_bytes = file_names.0.memory_bytes();
        Self {
            generation,
            memory_bytes: members.memory_bytes() + captions.memory_bytes() + names_bytes,
            members,
            names,
            captions,
            file_names,
            vectors,
            clusters: [const { OnceLock::new() }; Granularity::LEVELS],
            pictures: OnceLock::new(),
        }
    }

    /// Returns the members of the clusters at a level.
    pub fn clusters(&self, level: usize) -> &Lists<u32> {
        self.clusters[level].get_or_init(|| cluster_members(&self.members.cluster_ranks[level]))
    }

    pub fn pictures(&self) -> &PictureMembers {
        self.pictures.get_or_init(|| PictureMembers::new(&self.members.picture_rows))
    }

    /// Returns the score of every member, which is infinite for members without a vector of the query.
    pub(super) fn distances(&self, query: &DistanceQuery) -> io::Result<Vec<f32>> {
        match query {
            DistanceQuery::Single(query) => self.single_distances(query),
            DistanceQuery::Merged { builtin, model, rule } => {
                let mut scores = self.single_distances(builtin)?;
                for (score, model) in scores.iter_mut().zip(self.single_distances(model)?) {
                    *score = rule.score(*score, model);
                }
                Ok(scores)
            }
        }
    }

    fn single_distances(&self, query: &VectorQuery) -> io::Result<Vec<f32>> {
        let partial = &self.vectors[query.of as usize];
        let mut distances = vec![f32::INFINITY; self.members.len()];
        if query.vector.len() != partial.vectors.dimension() {
            return Ok(distances);
        }
        let found = partial.vectors.distances(&query.vector)?;
        if found.len() == distances.len() {
            return Ok(found);
        }
        for (&member, distance) in partial.members.iter().zip(found) {
            distances[member as usize] = distance;
        }
        Ok(distances)
    }
}

/// Returns the members of each cluster in the order of the index, sorted by the `ranks` of the clusters (counting sort).
/// There is one more list than the highest rank.
pub fn cluster_members(ranks: &[u32]) -> Lists<u32> {
    let mut unfilled = vec![0; ranks.iter().max().map_or(0, |&rank| rank as usize + 1)];
    for &rank in ranks {
        unfilled[rank as usize] += 1;
    }
    let mut clusters = Lists::filled(unfilled.iter().copied(), 0);
    for (member, &rank) in (0..).zip(ranks) {
        let (cluster, unfilled) = (clusters.get_mut(rank as usize), &mut unfilled[rank as usize]);
        cluster[cluster.len() - *unfilled] = member;
        *unfilled -= 1;
    }
    clusters
}

/// The members that each picture is or contains.
#[derive(Debug)]
pub struct PictureMembers {
    /// The rows of pictures in increasing order. A row occurs as often as the picture has members.
    rows: Vec<i64>,
    members: Vec<u32>,
}

impl PictureMembers {
    /// Creates the lists. `picture_rows` has the row of the picture of each member.
    pub fn new(picture_rows: &[i64]) -> Self {
        let mut pairs: Vec<(i64, u32)> = picture_rows.iter().copied().zip(0..).collect();
        pairs.sort_unstable();
        let (rows, members) = pairs.into_iter().unzip();
        Self { rows, members }
    }

    /// Calls `each` with every member of the pictures `found`, which must be in increasing order of rows.
    pub fn for_each<T: Copy>(&self, found: &[(i64, T)], mut each: impl FnMut(u32, T)) {
        let mut position = 0;
        for &(row, value) in found {
            position += galloping_lower_bound(&self.rows[position..], row);
            while self.rows.get(position) == Some(&row) {
                each(self.members[position], value);
                position += 1;
            }
        }
    }
}

/// Returns the position of the first of the increasing `rows` that is not below `row`. The position is usually near the
/// start.
fn galloping_lower_bound(rows: &[i64], row: i64) -> usize {
    let mut bound = 1;
    while rows.get(bound - 1).is_some_and(|&other| other < row) {
        bound *= 2;
    }
    let (from, to) = (bound / 2, (bound - 1).min(rows.len()));
    from + rows[from..to].partition_point(|&other| other < row)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_of_a_cluster_are_in_the_order_of_the_index() {
        let clusters = cluster_members(&[3, 0, 3, 1, 0]);
        assert_eq!(clusters.len(), 4);
        let members: Vec<&[u32]> = (0..5).map(|rank| clusters.get(rank)).collect();
        assert_eq!(members, [&[1, 4][..], &[3], &[], &[0, 2], &[]]);
        assert!(cluster_members(&[]).get(0).is_empty());
    }

    proptest! {
        #[test]
        fn members_of_found_pictures_are_those_that_a_scan_finds(
            picture_rows in proptest::collection::vec(0..60_i64, 0..80),
            found in proptest::collection::btree_map(-2..64_i64, 0..9_u8, 0..40),
        ) {
            let pairs: Vec<(i64, u8)> = found.iter().map(|(row, value)| (*row, *value)).collect();
            let mut members = Vec::new();
            PictureMembers::new(&picture_rows)
                .for_each(&pairs, |member, value| members.push((member, value)));
            members.sort_unstable();
            let scan = (0..).zip(&picture_rows);
            let scan = scan.filter_map(|(member, row)| Some((member, *found.get(row)?)));
            prop_assert_eq!(members, scan.collect::<Vec<(u32, u8)>>());
        }
    }
}
