//! Computes the ranges of an indexing task, together with all workers that have nothing else to do.

use std::{cell::Cell, collections::BTreeSet, fs::File, thread, time::Duration};

use crate::{
    task::{
        TaskContext,
        member_features::{GRAPH_NEIGHBORS, SimilarMembers, StoredKeypoints},
    },
    task_error::TaskError,
};
use tessera_files::open_locked;
use tessera_search::similarity::{
    Stoppable, Vectors,
    several_processes::{
        RangeExecutor, RangeResult, RangeStep, StepInput, shared_near_duplicates,
        shared_neighbor_graph,
    },
};
use tessera_store::{
    Connection,
    similarity_range::{self, ClusteredMembers, RangeState},
};

/// The interval at which the worker of an indexing task checks whether other workers have computed their last ranges.
const CHECK_PAUSE: Duration = Duration::from_millis(100);

/// The ranges of the members of one entity type. What this worker computes stays in its memory. What other workers
/// compute is stored until it is read.
pub struct SharedRanges<'a> {
    context: &'a TaskContext,
    members: ClusteredMembers,
    /// Whether other workers took ranges of the last step, or could not compute them. Inputs are stored only for other
    /// workers.
    are_shared: Cell<bool>,
    /// The lock of the index folder. Only one of the processes that share the folder takes part in a computation,
    /// because each one would use all cores of the machine, and keep everything in memory that is needed for the
    /// computation.
    _lock: Option<File>,
}

impl<'a> SharedRanges<'a> {
    /// Begins. Removes what a previous worker of the indexing task has left.
    pub fn begin(context: &'a TaskContext, members: ClusteredMembers) -> Result<Self, TaskError> {
        let lock = open_locked(&context.store.computation_lock_file()).ok().flatten();
        let ranges = Self { context, members, are_shared: Cell::new(false), _lock: lock };
        ranges.end()?;
        Ok(ranges)
    }

    pub fn end(&self) -> Result<(), TaskError> {
        Ok(self.context.write(|tx| similarity_range::remove_all(tx, self.members.indexing_task))?)
    }

    /// Returns the ranges of the step, of which those in `missing` have no result yet. Notes whether other workers take
    /// part.
    fn states(&self, missing: usize) -> Result<Vec<RangeState>, TaskError> {
        let indexing_task = self.members.indexing_task;
        let states = self.context.store.read(|c| similarity_range::states(c, indexing_task))?;
        let are_taken = states.iter().any(|state| state.is_done || state.is_leased);
        if are_taken || states.len() < missing {
            self.are_shared.set(true);
        }
        Ok(states)
    }

    /// Reads the result of a range that another worker computed. Returns `None` if the result is incomplete.
    fn read_result<R: RangeResult>(&self, range: &RangeState) -> Result<Option<R>, TaskError> {
        let read =
            |c: &Connection| read_parts(|each| similarity_range::for_each_part(c, range.row, each));
        Ok(self.context.store.read(read)?)
    }
}

/// Joins parts. Returns `None` if they are parts of something else.
pub(super) fn read_parts<R: RangeResult>(
    for_each: impl FnOnce(&mut dyn FnMut(&[u8])) -> tessera_store::Result<()>,
) -> tessera_store::Result<Option<R>> {
    let mut result = Some(R::default());
    for_each(&mut |part| {
        result = result.take().and_then(|mut known| known.add_part(part).map(|()| known));
    })?;
    Ok(result)
}

impl RangeExecutor<TaskError> for SharedRanges<'_> {
    fn publish(&self, input: StepInput) -> Result<(), TaskError> {
        if !self.are_shared.get() {
            return Ok(());
        }
        let (context, indexing_task) = (self.context, self.members.indexing_task);
        match input {
            StepInput::Graph { round, graph } => {
                // The graph of two rounds earlier is replaced. The previous graph is kept, because new links are those
                // that it does not have.
                let former = round.checked_sub(2).map(graph_name);
                let names = (&*graph_name(round), former.as_deref());
                context.write(|tx| {
                    similarity_range::publish(tx, indexing_task, names, graph.parts())
                })?;
            }
            StepInput::Candidates { range, candidates } => {
                let names = (&*candidates_name(range), None);
                let parts = || candidates.parts();
                context.write(|tx| similarity_range::publish(tx, indexing_task, names, parts()))?;
            }
        }
        Ok(())
    }

    fn run<R: RangeResult>(
        &self,
        step: RangeStep,
        ranges: usize,
        compute: impl Fn(usize) -> Stoppable<R, TaskError>,
        mut merge: impl FnMut(usize, R) -> bool,
    ) -> Stoppable<(), TaskError> {
        let (context, members) = (self.context, self.members);
        let name = step.name();
        context.write(|tx| similarity_range::begin_step(tx, members, &name, ranges))?;
        self.are_shared.set(false);
        let mut missing: BTreeSet<usize> = (0..ranges).collect();
        while !missing.is_empty() {
            context.check_cancelled()?;
            let states = self.states(missing.len())?;
            for state in states.iter().filter(|state| state.is_done) {
                if missing.contains(&state.number)
                    && let Some(result) = self.read_result(state)?
                    && merge(state.number, result)
                {
                    missing.remove(&state.number);
                }
            }
            let Some(range) = first_unleased(&missing, &states) else {
                thread::sleep(CHECK_PAUSE);
                continue;
            };
            if let Some(state) = states.iter().find(|state| state.number == range) {
                context.write(|tx| similarity_range::remove(tx, state.row))?;
            }
            let Some(result) = compute(range)? else { return Ok(None) };
            merge(range, result);
            missing.remove(&range);
        }
        Ok(Some(()))
    }
}

/// Returns the first missing range that no worker is computing. A range that has lost its row, for example by a crash
/// of the server, is computed here as well.
fn first_unleased(missing: &BTreeSet<usize>, states: &[RangeState]) -> Option<usize> {
    let is_leased = |number| states.iter().any(|state| state.number == number && state.is_leased);
    missing.iter().copied().find(|number| !is_leased(*number))
}

pub(super) fn graph_name(round: usize) -> String {
    format!("graph/{round}")
}

pub(super) fn candidates_name(range: usize) -> String {
    format!("candidates/{range}")
}

/// Whether other workers take part: they reach the same store, and there are enough members.
pub fn is_shared(context: &TaskContext, members: usize) -> bool {
    context.store.is_on_server() && members > context.settings.unshared_members
}

/// Computes what [`similar_members`](crate::task::member_features::similar_members) does, and removes what other
/// workers sent. The result does not depend on the number of workers.
pub fn shared_similar_members(
    indexing_task: i64,
    vectors: Vectors,
    keypoints: &StoredKeypoints,
    graph_progress: impl Fn(f32) -> bool + Sync,
    duplicate_progress: impl Fn(f32) -> bool + Sync,
) -> Result<SimilarMembers, TaskError> {
    let StoredKeypoints { context, entity, source, .. } = *keypoints;
    let members = ClusteredMembers { indexing_task, fence: context.fence(), entity, source };
    let shared = SharedRanges::begin(context, members)?;
    let graph = shared_neighbor_graph(&vectors, GRAPH_NEIGHBORS, &shared, graph_progress)?;
    let graph = graph.ok_or(TaskError::Stopped)?;
    drop(vectors);
    let duplicates = shared_near_duplicates(keypoints, &graph, &shared, duplicate_progress)?;
    let duplicates = duplicates.ok_or(TaskError::Stopped)?;
    shared.end()?;
    Ok(SimilarMembers { graph, duplicates })
}
