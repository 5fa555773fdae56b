//! Divides the computation of the neighbor graph and of the near-duplicates into steps of independent ranges, which a
//! `RangeExecutor` shares among several processes.

use std::ops::Range;

use crate::similarity::{
    DuplicatePair, Neighbor, NeighborGraph, RowCandidates, Stoppable,
    approximate_graph::LINK_ROUNDS,
};

/// Number of rows in a range. One core computes a step of a range in about a second.
const RANGE_ROWS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeStep {
    /// Compares the rows that are in the same leaf of a projection tree. A range is several trees.
    Trees,
    /// Compares rows with the neighbors of their neighbors. Rounds are counted from 0.
    Links { round: usize },
    /// Finds rows that share parts of their keypoints.
    Candidates,
    /// Compares the corners of neighbors and candidates.
    Verification,
}

impl RangeStep {
    /// Returns the name by which other workers know the step.
    pub fn name(self) -> String {
        match self {
            Self::Trees => "trees".to_owned(),
            Self::Links { round } => format!("links/{round}"),
            Self::Candidates => "candidates".to_owned(),
            Self::Verification => "verification".to_owned(),
        }
    }

    /// Parses what [`Self::name`] returned.
    pub fn parse(name: &str) -> Option<Self> {
        let rounds = (0..LINK_ROUNDS).map(|round| Self::Links { round });
        let mut steps =
            [Self::Trees, Self::Candidates, Self::Verification].into_iter().chain(rounds);
        steps.find(|step| step.name() == name)
    }
}

/// The input of later steps, in addition to the rows themselves.
pub enum StepInput<'a> {
    /// The graph before a round. The graph after the last round is the input of the remaining steps.
    Graph { round: usize, graph: &'a NeighborGraph },
    /// The candidates that the verification of a range compares.
    Candidates { range: usize, candidates: &'a RowCandidates },
}

/// A result that can be sent to other workers, in parts of about a megabyte.
pub trait RangeResult: Default {
    fn parts(&self) -> impl Iterator<Item = Vec<u8>>;

    /// Adds the next part. Returns `None` if the bytes are not part of such a result.
    fn add_part(&mut self, part: &[u8]) -> Option<()>;
}

/// Computes the ranges of steps together with other workers.
pub trait RangeExecutor<E> {
    /// Makes the input of a later step known to other workers.
    fn publish(&self, input: StepInput) -> Result<(), E>;

    /// Calls `merge` with the result of each range, in any order. `merge` returns `false` for an incomplete result,
    /// which another worker may have sent. Such a range is computed here.
    fn run<R: RangeResult>(
        &self,
        step: RangeStep,
        ranges: usize,
        compute: impl Fn(usize) -> Stoppable<R, E>,
        merge: impl FnMut(usize, R) -> bool,
    ) -> Stoppable<(), E>;
}

/// Returns the number of ranges of this number of rows.
pub fn row_ranges(rows: usize) -> usize {
    rows.div_ceil(RANGE_ROWS)
}

/// Returns the rows of a range.
pub fn rows_of_range(rows: usize, range: usize) -> Range<usize> {
    let first = range * RANGE_ROWS;
    first.min(rows)..(first + RANGE_ROWS).min(rows)
}

// Writes the results of ranges as bytes, which one process sends to another through the store, and reads them.

/// Approximate maximum size of a part.
const PART_BYTES: usize = 1 << 20;
/// Marks a place without a neighbor.
const NO_ROW: u32 = u32::MAX;

/// A part has the number of neighbors of each row, followed by their rows and distances.
impl RangeResult for NeighborGraph {
    fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        let rows_of_part = (PART_BYTES / (8 * self.k()).max(1)).max(1);
        (0..self.len()).step_by(rows_of_part).map(move |first| {
            let mut part = (self.k() as u32).to_le_bytes().to_vec();
            for row in first..(first + rows_of_part).min(self.len()) {
                let nearest = &self[row];
                for place in 0..self.k() {
                    let missing = Neighbor { row: NO_ROW, distance: 0.0 };
                    let Neighbor { row, distance } = nearest.get(place).copied().unwrap_or(missing);
                    part.extend(row.to_le_bytes());
                    part.extend(distance.to_le_bytes());
                }
            }
            part
        })
    }

    fn add_part(&mut self, part: &[u8]) -> Option<()> {
        let (k, places) = part.split_first_chunk()?;
        let k = u32::from_le_bytes(*k) as usize;
        if self.is_empty() {
            *self = Self::new(0, k);
        }
        let (rows, rest) = places.as_chunks::<8>();
        if k == 0 || k != self.k() || !rest.is_empty() || !rows.len().is_multiple_of(k) {
            return None;
        }
        for places in rows.chunks_exact(k) {
            let nearest = places.iter().map(|[a, b, c, d, distance @ ..]| Neighbor {
                row: u32::from_le_bytes([*a, *b, *c, *d]),
                distance: f32::from_le_bytes(*distance),
            });
            self.push(nearest.take_while(|neighbor| neighbor.row != NO_ROW));
        }
        Some(())
    }
}

/// A part contains, for each row, the row itself, the number of its candidates, and the candidates.
impl RangeResult for RowCandidates {
    fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut rows = self.iter();
        std::iter::from_fn(move || {
            let mut part = Vec::new();
            for (row, candidates) in rows.by_ref() {
                let count = candidates.len() as u32;
                let numbers = [row, count].into_iter().chain(candidates.iter().copied());
                part.extend(numbers.flat_map(u32::to_le_bytes));
                if part.len() >= PART_BYTES {
                    break;
                }
            }
            (!part.is_empty()).then_some(part)
        })
    }

    fn add_part(&mut self, part: &[u8]) -> Option<()> {
        let (numbers, rest) = part.as_chunks::<4>();
        let numbers: Vec<u32> = numbers.iter().copied().map(u32::from_le_bytes).collect();
        let mut left = &numbers[..];
        while let [row, count, following @ ..] = left {
            let (candidates, others) = following.split_at_checked(*count as usize)?;
            self.push(*row, candidates.iter().copied());
            left = others;
        }
        (left.is_empty() && rest.is_empty()).then_some(())
    }
}

/// A part has both rows and the similarity of each pair.
impl RangeResult for Vec<DuplicatePair> {
    fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        self.chunks(PART_BYTES / 12).map(|pairs| {
            let encode = |pair: &DuplicatePair| {
                let (one, other) = pair.rows;
                [one.to_le_bytes(), other.to_le_bytes(), pair.similarity.to_le_bytes()].concat()
            };
            pairs.iter().flat_map(encode).collect()
        })
    }

    fn add_part(&mut self, part: &[u8]) -> Option<()> {
        let (numbers, rest) = part.as_chunks::<4>();
        let (pairs, incomplete) = numbers.as_chunks::<3>();
        self.extend(pairs.iter().map(|&[one, other, similarity]| DuplicatePair {
            rows: (u32::from_le_bytes(one), u32::from_le_bytes(other)),
            similarity: f32::from_le_bytes(similarity),
        }));
        (incomplete.is_empty() && rest.is_empty()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent<R: RangeResult>(result: &R) -> R {
        let mut received = R::default();
        result.parts().for_each(|part| received.add_part(&part).unwrap());
        received
    }

    #[test]
    fn results_are_received_as_they_were_sent() {
        let list = |count: u32| (0..count).map(|row| Neighbor { row, distance: row as f32 });
        let graph: NeighborGraph =
            (0..100_000).map(|row| list(row % 4).collect::<Vec<_>>()).collect();
        assert!(graph.parts().count() > 1);
        assert_eq!(sent(&graph), graph);

        let mut candidates = RowCandidates::default();
        (0..200_000).for_each(|row| candidates.push(row, row..row + row % 3));
        assert!(candidates.parts().count() > 1);
        assert!(sent(&candidates).iter().eq(candidates.iter()));

        let pair = |row| DuplicatePair { rows: (row, row + 1), similarity: 0.9 };
        let pairs: Vec<_> = (0..100_000).map(pair).collect();
        assert!(pairs.parts().count() > 1);
        assert_eq!(sent(&pairs), pairs);
    }

    fn cut<R: RangeResult>(result: &R) -> Option<()> {
        let part = result.parts().next().unwrap();
        R::default().add_part(&part[..part.len() - 1])
    }

    #[test]
    fn incomplete_parts_are_refused() {
        let graph: NeighborGraph = [vec![Neighbor { row: 1, distance: 0.5 }]].into_iter().collect();
        let mut candidates = RowCandidates::default();
        candidates.push(7, [1, 2]);
        let pairs = vec![DuplicatePair { rows: (1, 2), similarity: 1.0 }];
        assert_eq!((cut(&graph), cut(&candidates), cut(&pairs)), (None, None, None));
    }
}
