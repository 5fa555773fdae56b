//! Divides the computation of the neighbor graph and of the near-duplicates into steps of independent ranges, which a
//! `RangeExecutor` shares among several processes.

use std::{iter, ops::Range};

use crate::similarity::{
    DuplicatePair, Neighbor, NeighborGraph, RowCandidates, Stoppable,
    approximate_graph::LINK_ROUNDS,
};

/// Number of rows in a range. One core computes a step of a range in about a second.
const RANGE_ROWS: usize = 4096;
/// Approximate maximum size of a part of a result.
const PART_BYTES: usize = 1 << 20;

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

/// A result that can be sent to other workers as bytes, in parts of about a megabyte. Each part contains whole records.
pub trait RangeResult: Default {
    /// Returns the numbers of each record.
    fn records(&self) -> impl Iterator<Item = Vec<u32>>;

    /// Adds the next record. Returns `None` if the numbers are not a record of such a result.
    fn add_record(&mut self, record: &[u32]) -> Option<()>;

    /// Returns the parts. In a part, each record follows the count of its numbers.
    fn parts(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut records = self.records();
        iter::from_fn(move || {
            let mut part = Vec::new();
            for record in records.by_ref() {
                part.extend((record.len() as u32).to_le_bytes());
                part.extend(record.into_iter().flat_map(u32::to_le_bytes));
                if part.len() >= PART_BYTES {
                    break;
                }
            }
            (!part.is_empty()).then_some(part)
        })
    }

    /// Adds the next part. Returns `None` if the bytes are not part of such a result.
    fn add_part(&mut self, part: &[u8]) -> Option<()> {
        let (numbers, rest) = part.as_chunks::<4>();
        let numbers: Vec<u32> = numbers.iter().copied().map(u32::from_le_bytes).collect();
        let mut left = &numbers[..];
        while let [count, following @ ..] = left {
            let (record, others) = following.split_at_checked(*count as usize)?;
            self.add_record(record)?;
            left = others;
        }
        rest.is_empty().then_some(())
    }
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

/// A record has the maximum number of neighbors of a row, followed by the rows and distances of its neighbors.
impl RangeResult for NeighborGraph {
    fn records(&self) -> impl Iterator<Item = Vec<u32>> {
        self.iter().map(|nearest| {
            let nearest = nearest.iter().flat_map(|it| [it.row, it.distance.to_bits()]);
            iter::once(self.k() as u32).chain(nearest).collect()
        })
    }

    fn add_record(&mut self, record: &[u32]) -> Option<()> {
        let (&k, nearest) = record.split_first()?;
        if self.is_empty() {
            *self = Self::new(0, k as usize);
        }
        let (nearest, rest) = nearest.as_chunks::<2>();
        if k as usize != self.k() || nearest.len() > self.k() || !rest.is_empty() {
            return None;
        }
        let neighbor = |&[row, bits]: &[u32; 2]| Neighbor { row, distance: f32::from_bits(bits) };
        self.push(nearest.iter().map(neighbor));
        Some(())
    }
}

/// A record has a row, followed by its candidates.
impl RangeResult for RowCandidates {
    fn records(&self) -> impl Iterator<Item = Vec<u32>> {
        self.iter().map(|(row, candidates)| [&[row][..], candidates].concat())
    }

    fn add_record(&mut self, record: &[u32]) -> Option<()> {
        let (row, candidates) = record.split_first()?;
        self.push(*row, candidates.iter().copied());
        Some(())
    }
}

/// A record has the two rows of a pair and their similarity.
impl RangeResult for Vec<DuplicatePair> {
    fn records(&self) -> impl Iterator<Item = Vec<u32>> {
        self.iter().map(|pair| vec![pair.rows.0, pair.rows.1, pair.similarity.to_bits()])
    }

    fn add_record(&mut self, record: &[u32]) -> Option<()> {
        let &[one, other, bits] = record else { return None };
        self.push(DuplicatePair { rows: (one, other), similarity: f32::from_bits(bits) });
        Some(())
    }
}
