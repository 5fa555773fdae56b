//! Divides the computation of the neighbor graph and of the near-duplicates into steps of independent ranges, which a
//! `RangeExecutor` shares among several processes.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::super::{NeighborGraph, RowCandidates, Stoppable, approximate_graph::LINK_ROUNDS};

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

/// Counts the steps of ranges that are computed here or elsewhere.
pub struct RangeProgress<'a, P> {
    total: usize,
    /// Steps of the ranges that have ended.
    done: AtomicUsize,
    /// Steps of the range that is being computed here.
    in_range: AtomicUsize,
    progress: &'a P,
}

impl<'a, P: Fn(f32) -> bool> RangeProgress<'a, P> {
    pub fn new(total: usize, progress: &'a P) -> Self {
        Self { total, done: AtomicUsize::new(0), in_range: AtomicUsize::new(0), progress }
    }

    /// Counts a step. Returns whether to continue.
    pub fn advance(&self) -> bool {
        let done =
            self.done.load(Ordering::Relaxed) + self.in_range.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done as f32 / self.total as f32)
    }

    /// Counts the steps of a range that has ended, here or elsewhere.
    pub fn end_range(&self, steps: usize) {
        self.in_range.store(0, Ordering::Relaxed);
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}
