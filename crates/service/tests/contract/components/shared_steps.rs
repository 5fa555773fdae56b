//! Ranges of the neighbor graph and near-duplicates that another worker computes.

use std::{cell::RefCell, collections::HashMap, convert::Infallible};

use half::f16;
use tessera_model::pseudorandom::splitmix64;
use tessera_search::{
    index::Keypoints,
    similarity::{
        DuplicatePair, NeighborGraph, RowCandidates, Stoppable, Vectors,
        approximate_neighbor_graph, near_duplicates,
        several_processes::{
            RangeExecutor, RangeResult, RangeStep, StepInput, StepWorker, shared_near_duplicates,
            shared_neighbor_graph,
        },
    },
};

/// Two ranges.
const ROWS: u64 = 4_200;
const NEIGHBORS: usize = 4;

fn vectors() -> Vectors {
    let mut vectors = Vectors::new(4);
    for row in 0..ROWS {
        let numbers = splitmix64(row / 2).to_le_bytes();
        let parts: Vec<f32> = numbers[..4].iter().map(|part| f32::from(*part) - 128.0).collect();
        let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
        let unit: Vec<f16> = parts.iter().map(|part| f16::from_f32(part / length)).collect();
        vectors.push(&unit);
    }
    vectors
}

/// Each row has the corners of the one 1,500 rows before.
fn keypoints() -> Vec<Keypoints> {
    let of_row = |row: u64| {
        let corners = (0..30).flat_map(|corner| {
            let picture = row % 1_500;
            let [x, y, ..] = splitmix64(picture << 8 | corner).to_le_bytes();
            let descriptor = [picture << 9 | corner, picture << 9 | corner | 1 << 8];
            let descriptor = descriptor.map(splitmix64).map(u64::to_le_bytes).concat();
            [x, y].into_iter().chain(descriptor)
        });
        Keypoints::from_bytes(&corners.collect::<Vec<u8>>())
    };
    (0..ROWS).map(of_row).collect()
}

fn received<R: RangeResult>(parts: impl Iterator<Item = Vec<u8>>) -> R {
    let mut received = R::default();
    parts.for_each(|part| received.add_part(&part).unwrap());
    received
}

/// Computes every other range as another worker does; it sends what is in `lost` incompletely.
struct TwoWorkers<'a> {
    other: RefCell<StepWorker>,
    keypoints: &'a [Keypoints],
    candidates: RefCell<HashMap<usize, RowCandidates>>,
    /// The step that the other worker joins at.
    first: RangeStep,
    has_joined: RefCell<bool>,
    graphs: RefCell<Vec<(usize, NeighborGraph)>>,
    lost: Option<RangeStep>,
}

impl<'a> TwoWorkers<'a> {
    fn new(keypoints: &'a [Keypoints], first: RangeStep) -> Self {
        Self {
            other: StepWorker::new(vectors(), NEIGHBORS).into(),
            keypoints,
            candidates: RefCell::default(),
            first,
            has_joined: false.into(),
            graphs: RefCell::default(),
            lost: None,
        }
    }

    fn compute(&self, step: RangeStep, range: usize) -> Vec<Vec<u8>> {
        let mut other = self.other.borrow_mut();
        let goes_on = || true;
        match step {
            RangeStep::Trees => {
                other.neighbors_in_leaves(range, goes_on).unwrap().parts().collect()
            }
            RangeStep::Links { .. } => {
                other.compare_linked(range, goes_on).unwrap().parts().collect()
            }
            RangeStep::Candidates => {
                let Ok(found) = other.find_candidates(self.keypoints, range, goes_on);
                found.unwrap().parts().collect()
            }
            RangeStep::Verification => {
                let candidates = &self.candidates.borrow()[&range];
                let Ok(found) = other.verify(self.keypoints, range, candidates, goes_on);
                found.unwrap().parts().collect()
            }
        }
    }
}

impl RangeExecutor<Infallible> for TwoWorkers<'_> {
    fn publish(&self, input: StepInput) -> Result<(), Infallible> {
        match input {
            StepInput::Graph { round, graph } => {
                let graph: NeighborGraph = received(graph.parts());
                self.graphs.borrow_mut().push((round, graph));
            }
            StepInput::Candidates { range, candidates } => {
                self.candidates.borrow_mut().insert(range, received(candidates.parts()));
            }
        }
        Ok(())
    }

    fn run<R: RangeResult>(
        &self,
        step: RangeStep,
        ranges: usize,
        compute: impl Fn(usize) -> Stoppable<R, Infallible>,
        mut merge: impl FnMut(usize, R) -> bool,
    ) -> Stoppable<(), Infallible> {
        *self.has_joined.borrow_mut() |= step == self.first;
        let mut computed_elsewhere = 0;
        if *self.has_joined.borrow() {
            for (round, graph) in self.graphs.borrow_mut().drain(..) {
                assert!(self.other.borrow_mut().add_graph(round, graph));
            }
        }
        for range in (0..ranges).rev() {
            if *self.has_joined.borrow() && range % 2 == 1 {
                let mut parts = self.compute(step, range);
                if self.lost == Some(step) {
                    parts.clear();
                }
                computed_elsewhere += 1;
                if merge(range, received(parts.into_iter())) {
                    continue;
                }
                assert_eq!(self.lost, Some(step), "complete results are merged");
            }
            let Some(result) = compute(range)? else { return Ok(None) };
            assert!(merge(range, result));
        }
        assert!(!*self.has_joined.borrow() || computed_elsewhere > 0);
        Ok(Some(()))
    }
}

fn shared(executor: &impl RangeExecutor<Infallible>) -> (NeighborGraph, Vec<DuplicatePair>) {
    let Ok(graph) = shared_neighbor_graph(&vectors(), NEIGHBORS, executor, |_| true);
    let graph = graph.unwrap();
    let Ok(pairs) = shared_near_duplicates(&*keypoints(), &graph, executor, |_| true);
    (graph, pairs.unwrap())
}

#[test]
fn ranges_of_another_worker_have_the_results_of_one_process() {
    let keypoints = keypoints();
    let graph = approximate_neighbor_graph(&vectors(), NEIGHBORS, |_| true).unwrap();
    let Ok(pairs) = near_duplicates(&*keypoints, &graph, |_| true);
    let alone = (graph, pairs.unwrap());
    assert!(alone.1.len() > 1_500, "{} pairs", alone.1.len());
    let whole = TwoWorkers::new(&keypoints, RangeStep::Trees);
    assert!(shared(&whole) == alone);
    let late = TwoWorkers::new(&keypoints, RangeStep::Links { round: 1 });
    let incomplete = TwoWorkers { lost: Some(RangeStep::Candidates), ..late };
    assert!(shared(&incomplete) == alone);
}

#[test]
fn a_worker_without_the_graph_computes_nothing() {
    let keypoints = keypoints();
    let mut worker = StepWorker::new(vectors(), NEIGHBORS);
    assert!(worker.compare_linked(0, || true).is_none());
    assert!(worker.find_candidates(&*keypoints, 0, || true).unwrap().is_none());
    assert!(!worker.add_graph(0, NeighborGraph::new(7, NEIGHBORS)), "of other rows");
    assert!(worker.add_graph(3, NeighborGraph::new(4_200, NEIGHBORS)));
    let incomplete = RowCandidates::default();
    assert!(worker.verify(&*keypoints, 0, &incomplete, || true).unwrap().is_none());
}
