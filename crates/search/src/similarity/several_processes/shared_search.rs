//! Computes the neighbor graph and the near-duplicates in ranges that an executor shares among processes.

use super::{
    super::{
        DuplicatePair, KeypointSource, NeighborGraph, RowCandidates, RowLists, Stoppable, Vectors,
        approximate_graph::{
            LEAF_ROWS, LINK_ROUNDS, LINKED_ROWS_PER_STEP, NeighborLinks, TREES, compare_linked,
            neighbors_in_leaves,
        },
        duplicates::{ROWS_PER_STEP, find_candidates, in_order_of_rows, read_keypoints, verify},
        keypoint_index::KeypointIndex,
        progress::StepCounter,
    },
    range_step::{RangeExecutor, RangeStep, StepInput, row_ranges, rows_of_range},
};

/// Number of trees in a range. The result of a range has neighbors for all rows, so a range takes several trees.
const TREES_PER_RANGE: usize = 3;

/// Finds the same neighbors as [`approximate_neighbor_graph`](super::super::approximate_neighbor_graph).
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

pub fn compare_tree_range(
    vectors: &Vectors,
    k: usize,
    range: usize,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let trees = range * TREES_PER_RANGE..(range + 1) * TREES_PER_RANGE;
    neighbors_in_leaves(vectors, k, trees, advance)
}

/// Returns the neighbors of the rows of a range after a round, which begins with `graph`.
pub fn compare_linked_range(
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
pub fn new_neighbors(former: &NeighborGraph, graph: &NeighborGraph) -> RowLists<u32> {
    let mut new = RowLists::default();
    for (former, nearest) in former.iter().zip(graph.iter()) {
        let is_new = |row: &u32| former.iter().all(|known| known.row != *row);
        new.push(nearest.iter().map(|neighbor| neighbor.row).filter(is_new));
    }
    new
}

/// Finds the same pairs as [`near_duplicates`](super::super::near_duplicates).
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
