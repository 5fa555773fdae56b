//! The steps in which the neighbor graph and the near-duplicates of many rows are computed. Each has ranges that do not
//! depend on each other, so that several workers can compute them.

use std::ops::Range;

use super::{NeighborGraph, RangeResult, RowCandidates};

/// Rows of a range: one core computes a step of as many in about a second.
const RANGE_ROWS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeStep {
    /// Compares the rows that are in the same leaf of a projection tree; a range is several trees.
    Trees,
    /// Compares rows with the neighbors of their neighbors, from 0 on.
    Links { round: usize },
    /// Finds rows that share parts of their keypoints.
    Candidates,
    /// Compares the corners of neighbors and candidates.
    Verification,
}

impl RangeStep {
    /// A name by which other workers know it.
    pub fn name(self) -> String {
        match self {
            Self::Trees => "trees".to_owned(),
            Self::Links { round } => format!("links/{round}"),
            Self::Candidates => "candidates".to_owned(),
            Self::Verification => "verification".to_owned(),
        }
    }

    /// Reads what [`Self::name`] wrote.
    pub fn parse(name: &str) -> Option<Self> {
        let rounds = (0..LINK_ROUNDS).map(|round| Self::Links { round });
        let mut steps =
            [Self::Trees, Self::Candidates, Self::Verification].into_iter().chain(rounds);
        steps.find(|step| step.name() == name)
    }
}

/// What later steps work with, beside the rows themselves.
pub enum StepInput<'a> {
    /// The graph before a round; after the last one, that of the other steps.
    Graph { round: usize, graph: &'a NeighborGraph },
    /// What the verification of a range compares.
    Candidates { range: usize, candidates: &'a RowCandidates },
}

/// Rounds in which rows are compared with the neighbors of their neighbors. The third one finds a neighbor in a thousand.
pub const LINK_ROUNDS: usize = 3;

/// `None` if it was stopped.
pub type Stoppable<T, E> = Result<Option<T>, E>;

/// Computes the ranges of steps: in this process, or together with other workers.
pub trait RangeExecutor<E> {
    /// Makes the input of a later step known to other workers.
    fn publish(&self, input: StepInput) -> Result<(), E>;

    /// Calls `merge` with the result of each range, in any order. It returns `false` for a result that is not complete,
    /// which another worker may have sent; the range is then computed here.
    fn run<R: RangeResult>(
        &self,
        step: RangeStep,
        ranges: usize,
        compute: impl Fn(usize) -> Stoppable<R, E>,
        merge: impl FnMut(usize, R) -> bool,
    ) -> Stoppable<(), E>;
}

/// Computes one range after the other; each with all cores.
#[derive(Clone, Copy, Debug)]
pub struct InProcess;

impl<E> RangeExecutor<E> for InProcess {
    fn publish(&self, _: StepInput) -> Result<(), E> {
        Ok(())
    }

    fn run<R: RangeResult>(
        &self,
        _: RangeStep,
        ranges: usize,
        compute: impl Fn(usize) -> Stoppable<R, E>,
        mut merge: impl FnMut(usize, R) -> bool,
    ) -> Stoppable<(), E> {
        for range in 0..ranges {
            let Some(result) = compute(range)? else { return Ok(None) };
            merge(range, result);
        }
        Ok(Some(()))
    }
}

/// The number of ranges of this number of rows.
pub fn row_ranges(rows: usize) -> usize {
    rows.div_ceil(RANGE_ROWS)
}

/// The rows of a range.
pub fn rows_of_range(rows: usize, range: usize) -> Range<usize> {
    let first = range * RANGE_ROWS;
    first.min(rows)..(first + RANGE_ROWS).min(rows)
}
