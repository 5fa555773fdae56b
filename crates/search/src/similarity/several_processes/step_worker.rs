//! Computes ranges of steps that another process has begun.

use super::{
    super::{
        DuplicatePair, KeypointSource, NeighborGraph, RowCandidates, RowLists, Stoppable, Vectors,
        approximate_graph::NeighborLinks,
        duplicates::{find_candidates, read_keypoints, verify},
        keypoint_index::KeypointIndex,
    },
    range_step::rows_of_range,
    shared_search::{compare_linked_range, compare_tree_range, new_neighbors},
};

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
