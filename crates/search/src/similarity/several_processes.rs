//! Computes the neighbor graph and the near-duplicates of one dataset in several processes, with the results of one
//! process. A deployment of one process needs nothing from here.
//!
//! The computation is divided into steps of independent ranges. A [`RangeExecutor`] shares the ranges among processes,
//! and a [`StepWorker`] computes ranges of steps that another process has begun.

use std::{iter, ops::Range};

pub use super::approximate_graph::LINK_ROUNDS;
use super::{
    DuplicatePair, KeypointSource, Neighbor, NeighborGraph, RowCandidates, RowLists, Stoppable,
    Vectors,
    approximate_graph::{
        LEAF_ROWS, LINKED_ROWS_PER_STEP, NeighborLinks, TREES, compare_linked, neighbors_in_leaves,
    },
    duplicates::{ROWS_PER_STEP, find_candidates, in_order_of_rows, read_keypoints, verify},
    keypoint_index::KeypointIndex,
    progress::StepCounter,
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
fn row_ranges(rows: usize) -> usize {
    rows.div_ceil(RANGE_ROWS)
}

/// Returns the rows of a range.
fn rows_of_range(rows: usize, range: usize) -> Range<usize> {
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

/// Number of trees in a range. The result of a range has neighbors for all rows, so a range takes several trees.
const TREES_PER_RANGE: usize = 3;

/// Finds the same neighbors as [`approximate_neighbor_graph`](super::approximate_neighbor_graph).
pub fn shared_neighbor_graph<E, X: RangeExecutor<E>>(
    vectors: &Vectors,
    k: usize,
    executor: &X,
    progress: impl Fn(f32) -> bool + Sync,
) -> Stoppable<NeighborGraph, E> {
    let rows = vectors.len();
    let steps_of_trees = rows.div_ceil(LEAF_ROWS) * TREES_PER_RANGE;
    let steps_of = |range| rows_of_range(rows, range).len().div_ceil(LINKED_ROWS_PER_STEP);
    let links: usize = (0..row_ranges(rows)).map(steps_of).sum();
    let tree_ranges = TREES / TREES_PER_RANGE;
    let steps = StepCounter::new(tree_ranges * steps_of_trees + LINK_ROUNDS * links, &progress);

    let mut graph = NeighborGraph::new(rows, k);
    let compare = |range| Ok(compare_tree_range(vectors, k, range, || steps.advance()));
    let trees = executor.run(RangeStep::Trees, tree_ranges, compare, |_, found| {
        let is_complete = graph.merge(&found);
        steps.end_range(steps_of_trees);
        is_complete
    })?;
    if trees.is_none() {
        return Ok(None);
    }
    let mut new = None;
    for round in 0..LINK_ROUNDS {
        executor.publish(StepInput::Graph { round, graph: &graph })?;
        let links = NeighborLinks::new(&graph, new.as_ref());
        let mut next = NeighborGraph::new(rows, k);
        let compare =
            |range| Ok(compare_linked_range(vectors, &graph, &links, range, || steps.advance()));
        let step = RangeStep::Links { round };
        let compared = executor.run(step, row_ranges(rows), compare, |range, found| {
            let rows = rows_of_range(rows, range);
            let is_complete = found.len() == rows.len();
            rows.zip(found.iter()).for_each(|(row, nearest)| next.replace(row, nearest));
            steps.end_range(steps_of(range));
            is_complete
        })?;
        if compared.is_none() {
            return Ok(None);
        }
        new = Some(new_neighbors(&graph, &next));
        graph = next;
    }
    Ok(Some(graph))
}

fn compare_tree_range(
    vectors: &Vectors,
    k: usize,
    range: usize,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let trees = range * TREES_PER_RANGE..(range + 1) * TREES_PER_RANGE;
    neighbors_in_leaves(vectors, k, trees, advance)
}

/// Returns the neighbors of the rows of a range after a round, which begins with `graph`.
fn compare_linked_range(
    vectors: &Vectors,
    graph: &NeighborGraph,
    links: &NeighborLinks,
    range: usize,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let rows = rows_of_range(vectors.len(), range);
    let (first, mut nearest) = (rows.start, graph.rows(rows));
    compare_linked(vectors, links, first, &mut nearest, advance)?;
    Some(nearest)
}

/// Returns the neighbors of each row that it did not have in the `former` graph.
fn new_neighbors(former: &NeighborGraph, graph: &NeighborGraph) -> RowLists<u32> {
    let mut new = RowLists::default();
    for (former, nearest) in former.iter().zip(graph.iter()) {
        let is_new = |row: &u32| former.iter().all(|known| known.row != *row);
        new.push(nearest.iter().map(|neighbor| neighbor.row).filter(is_new));
    }
    new
}

/// Finds the same pairs as [`near_duplicates`](super::near_duplicates).
pub fn shared_near_duplicates<S: KeypointSource + ?Sized, X: RangeExecutor<S::Error>>(
    source: &S,
    graph: &NeighborGraph,
    executor: &X,
    progress: impl Fn(f32) -> bool + Sync,
) -> Stoppable<Vec<DuplicatePair>, S::Error> {
    let rows = source.rows();
    let ranges = row_ranges(rows);
    let steps_of = |range| rows_of_range(rows, range).len().div_ceil(ROWS_PER_STEP);
    let all: usize = (0..ranges).map(steps_of).sum();
    let steps = StepCounter::new(2 * all, &progress);

    executor.publish(StepInput::Graph { round: LINK_ROUNDS, graph })?;
    let index = KeypointIndex::new(source)?;
    let mut candidates: Vec<RowCandidates> = Vec::new();
    candidates.resize_with(ranges, RowCandidates::default);
    let find = |range| {
        let positions = rows_of_range(rows, range);
        find_candidates(source, positions, &index, graph, || steps.advance())
    };
    let found = executor.run(RangeStep::Candidates, ranges, find, |range, found| {
        let is_complete = found.rows() == rows_of_range(rows, range).len();
        candidates[range] = found;
        steps.end_range(steps_of(range));
        is_complete
    })?;
    drop(index);
    if found.is_none() {
        return Ok(None);
    }
    for (range, candidates) in candidates.iter().enumerate() {
        executor.publish(StepInput::Candidates { range, candidates })?;
    }
    let keypoints = read_keypoints(source)?;
    let verify =
        |range: usize| Ok(verify(&keypoints, graph, &candidates[range], || steps.advance()));
    let mut pairs = Vec::new();
    let verified = executor.run(RangeStep::Verification, ranges, verify, |range, found| {
        pairs.extend(found);
        steps.end_range(steps_of(range));
        true
    })?;
    Ok(verified.map(|()| in_order_of_rows(pairs)))
}

/// Computes ranges. The inputs are kept from one range to the next, because reading them takes longer than computing
/// most ranges.
pub struct StepWorker {
    vectors: Vectors,
    k: usize,
    /// The latest graph, and the round before which it was computed.
    graph: Option<(usize, NeighborGraph)>,
    /// The graph of the previous round.
    former: Option<NeighborGraph>,
    /// The structure that was derived from the graphs or the source for the current step.
    derived: Derived,
}

enum Derived {
    Nothing,
    Links(NeighborLinks),
    Index(KeypointIndex),
    Keypoints(RowLists<u8>),
}

impl StepWorker {
    pub fn new(vectors: Vectors, k: usize) -> Self {
        Self { vectors, k, graph: None, former: None, derived: Derived::Nothing }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.vectors.len()
    }

    /// Returns the round before which the latest known graph was computed.
    pub fn known_round(&self) -> Option<usize> {
        self.graph.as_ref().map(|(round, _)| *round)
    }

    /// Adds the graph before a round. Returns `false` if the graph has a wrong number of rows.
    pub fn add_graph(&mut self, round: usize, graph: NeighborGraph) -> bool {
        if graph.len() != self.rows() {
            return false;
        }
        self.derived = Derived::Nothing;
        let latest = self.graph.replace((round, graph));
        self.former = latest.filter(|(known, _)| known + 1 == round).map(|(_, graph)| graph);
        true
    }

    pub fn neighbors_in_leaves(
        &self,
        range: usize,
        advance: impl Fn() -> bool + Sync,
    ) -> Option<NeighborGraph> {
        compare_tree_range(&self.vectors, self.k, range, advance)
    }

    /// Compares the pictures of a range with the neighbors of their neighbors. Returns `None` if it was stopped or
    /// there is no graph.
    pub fn compare_linked(
        &mut self,
        range: usize,
        advance: impl Fn() -> bool + Sync,
    ) -> Option<NeighborGraph> {
        let (_, graph) = self.graph.as_ref()?;
        if !matches!(self.derived, Derived::Links(_)) {
            let new = self.former.as_ref().map(|former| new_neighbors(former, graph));
            self.derived = Derived::Links(NeighborLinks::new(graph, new.as_ref()));
        }
        let Derived::Links(links) = &self.derived else { return None };
        compare_linked_range(&self.vectors, graph, links, range, advance)
    }

    /// Finds the pictures that may be near-duplicates of those of a range. Returns `None` if it was stopped or there is
    /// no graph.
    pub fn find_candidates<S: KeypointSource + ?Sized>(
        &mut self,
        source: &S,
        range: usize,
        advance: impl Fn() -> bool + Sync,
    ) -> Stoppable<RowCandidates, S::Error> {
        self.former = None;
        let Some((_, graph)) = &self.graph else { return Ok(None) };
        if !matches!(self.derived, Derived::Index(_)) {
            self.derived = Derived::Nothing;
            self.derived = Derived::Index(KeypointIndex::new(source)?);
        }
        let Derived::Index(index) = &self.derived else { return Ok(None) };
        let positions = rows_of_range(self.vectors.len(), range);
        find_candidates(source, positions, index, graph, advance)
    }

    /// Decides which candidates of a range are near-duplicates. Returns `None` if it was stopped, there is no graph, or
    /// the candidates are not those of the range.
    pub fn verify<S: KeypointSource + ?Sized>(
        &mut self,
        source: &S,
        range: usize,
        candidates: &RowCandidates,
        advance: impl Fn() -> bool + Sync,
    ) -> Stoppable<Vec<DuplicatePair>, S::Error> {
        self.former = None;
        let Some((_, graph)) = &self.graph else { return Ok(None) };
        if !matches!(self.derived, Derived::Keypoints(_)) {
            self.derived = Derived::Nothing;
            self.derived = Derived::Keypoints(read_keypoints(source)?);
        }
        let Derived::Keypoints(keypoints) = &self.derived else { return Ok(None) };
        if candidates.rows() != rows_of_range(self.rows(), range).len() {
            return Ok(None);
        }
        Ok(verify(keypoints, graph, candidates, advance))
    }
}
