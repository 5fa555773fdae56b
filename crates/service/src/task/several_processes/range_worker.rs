//! Computes ranges of the indexing tasks of all workers: extracts files, and computes the neighbor graph and the
//! near-duplicates.

use std::{cell::RefCell, fs::File, thread, time::Duration};

use parking_lot::Mutex;

use super::shared_ranges::{candidates_name, graph_name, read_parts};
use crate::{
    task::{
        TaskContext, WorkerContext,
        clustered_media::ClusteredMedia,
        extract_media::{extract_media, percent},
        member_features::{GRAPH_NEIGHBORS, MemberVectors, Scope, StoredKeypoints, read_members},
    },
    task_error::{TaskError, UnfinishedRun},
};
use tessera_files::open_locked;
use tessera_media::ingest::FileToExtract;
use tessera_model::DatasetId;
use tessera_search::similarity::{
    DuplicatePair, NeighborGraph, RowCandidates,
    several_processes::{LINK_ROUNDS, RangeResult, RangeStep, StepWorker},
};
use tessera_store::{
    StoreError,
    extraction::{self, ExtractionRange, ExtractionState},
    indexing_task,
    lease::LeasedTask,
    similarity_range::{self, ClusteredMembers, SimilarityRange},
    source::{self, SourceFolder},
};

/// Keeps the members of an indexing task while it may have ranges. Only one thread of a process and one process of a
/// machine compute ranges at a time, because each range uses all cores and the members take much memory.
#[derive(Default)]
pub struct RangeWorker(Mutex<CurrentMembers>);

#[derive(Default)]
struct CurrentMembers {
    members: Option<Members>,
    lock: Option<File>,
}

/// The members of one entity type, in an indexing task of another worker.
struct Members {
    run: ClusteredMembers,
    dataset: DatasetId,
    media: ClusteredMedia,
    corners: usize,
    steps: StepWorker,
}

enum ComputedRange {
    Graph(NeighborGraph),
    Candidates(RowCandidates),
    Duplicates(Vec<DuplicatePair>),
}

impl RangeWorker {
    /// Computes the oldest range that no worker is computing. Returns whether there was one. A store in a file has no
    /// ranges.
    pub fn run_next(&self, worker: &WorkerContext) -> bool {
        worker.store.is_on_server()
            && (extract_next_range(worker, None) || self.run_next_similarity(worker))
    }

    fn run_next_similarity(&self, worker: &WorkerContext) -> bool {
        let Some(mut current) = self.0.try_lock() else { return false };
        if current.lock.is_none() {
            current.lock = open_locked(&worker.store.computation_lock_file()).ok().flatten();
        }
        if current.lock.is_none() {
            return false;
        }
        let members = RefCell::new(&mut current.members);
        let was_one = worker.run_next(
            |tx| {
                let found = similarity_range::next_unleased(tx, worker.holder)?;
                Ok(found.map(|range| (LeasedTask::SimilarityRange(range.row), range)))
            },
            |tx, range| similarity_range::find(tx, range.row),
            |context, range| run_range(context, range, &mut members.borrow_mut()),
        );
        if !was_one && !has_next_step(worker, current.members.as_ref()) {
            *current = CurrentMembers::default();
        }
        was_one
    }
}

/// Whether the indexing task of the members may soon have another step.
fn has_next_step(worker: &WorkerContext, members: Option<&Members>) -> bool {
    let Some(Members { run, .. }) = members else { return false };
    // If the store cannot be read, nothing can be computed either.
    worker.store.read(|c| similarity_range::is_open(c, *run)).unwrap_or(false)
}

/// Computes a range. Fails only if the store cannot even record the failure.
fn run_range(
    context: &TaskContext,
    range: &SimilarityRange,
    members: &mut Option<Members>,
) -> Result<(), UnfinishedRun> {
    let ended = match context.run(|| compute(context, range, members)) {
        Ok(Some(result)) => context.write_end(|tx| match &result {
            ComputedRange::Graph(graph) => similarity_range::finish(tx, range.row, graph.parts()),
            ComputedRange::Candidates(found) => {
                similarity_range::finish(tx, range.row, found.parts())
            }
            ComputedRange::Duplicates(found) => {
                similarity_range::finish(tx, range.row, found.parts())
            }
        }),
        // The worker of the indexing task computes the range, or fails with a reason.
        Ok(None) => context.write_end(|tx| similarity_range::remove(tx, range.row)),
        Err(cause) => {
            return context.end(cause, |tx, _| similarity_range::remove(tx, range.row));
        }
    };
    Ok(ended?)
}

/// Computes a range. Returns `None` if something that it needs is not stored.
fn compute(
    context: &TaskContext,
    range: &SimilarityRange,
    members: &mut Option<Members>,
) -> Result<Option<ComputedRange>, TaskError> {
    let Some(step) = RangeStep::parse(&range.step) else { return Ok(None) };
    if members.as_ref().is_none_or(|known| known.run != range.members) {
        // The old members are dropped before new ones are read, to save memory.
        *members = None;
        *members = Members::read(context, range.members)?;
    }
    let Some(members) = members else { return Ok(None) };
    if !members.read_graphs(context, step)? {
        return Ok(None);
    }
    let result = members.compute(context, step, range.number)?;
    context.check_cancelled()?;
    Ok(result)
}

impl Members {
    /// Reads the members. Returns `None` if the indexing task has ended.
    fn read(context: &TaskContext, run: ClusteredMembers) -> Result<Option<Self>, TaskError> {
        let ClusteredMembers { indexing_task, entity, source, .. } = run;
        let dataset = context.store.read(|c| indexing_task::dataset_of(c, indexing_task))?;
        let Some(dataset) = dataset else { return Ok(None) };
        let scope = source.map_or(Scope::Everything, Scope::Batch);
        let media = read_members(context, dataset, scope, entity)?;
        let MemberVectors { vectors, corners } =
            MemberVectors::read(context, dataset, scope, entity, &media)?;
        let steps = StepWorker::new(vectors, GRAPH_NEIGHBORS);
        Ok(Some(Self { run, dataset, media, corners, steps }))
    }

    /// Reads the graphs that a step needs, unless they are known. Returns `false` if one is missing.
    fn read_graphs(&mut self, context: &TaskContext, step: RangeStep) -> Result<bool, TaskError> {
        let (first, last) = match step {
            RangeStep::Trees => return Ok(true),
            RangeStep::Links { round } => (round.saturating_sub(1), round),
            RangeStep::Candidates | RangeStep::Verification => (LINK_ROUNDS, LINK_ROUNDS),
        };
        let known = self.steps.known_round();
        if known == Some(last) {
            return Ok(true);
        }
        let first = if known == Some(first) { last } else { first };
        for round in first..=last {
            let graph = read_input(context, self.run.indexing_task, &graph_name(round))?;
            if !graph.is_some_and(|graph| self.steps.add_graph(round, graph)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn compute(
        &mut self,
        context: &TaskContext,
        step: RangeStep,
        range: usize,
    ) -> Result<Option<ComputedRange>, TaskError> {
        let dataset = self.dataset;
        let ClusteredMembers { indexing_task, entity, source, .. } = self.run;
        let (members, corners) = (&self.media, self.corners);
        let keypoints = StoredKeypoints { context, dataset, entity, source, members, corners };
        let advance = || context.check_cancelled().is_ok();
        let steps = &mut self.steps;
        Ok(match step {
            RangeStep::Trees => steps.neighbors_in_leaves(range, advance).map(ComputedRange::Graph),
            RangeStep::Links { .. } => {
                steps.compare_linked(range, advance).map(ComputedRange::Graph)
            }
            RangeStep::Candidates => {
                let found = steps.find_candidates(&keypoints, range, advance)?;
                found.map(ComputedRange::Candidates)
            }
            RangeStep::Verification => {
                let candidates = read_input(context, indexing_task, &candidates_name(range))?;
                let Some(candidates) = candidates else { return Ok(None) };
                steps
                    .verify(&keypoints, range, &candidates, advance)?
                    .map(ComputedRange::Duplicates)
            }
        })
    }
}

/// Reads an input of a step. Returns `None` if it is incomplete.
fn read_input<R: RangeResult>(
    context: &TaskContext,
    indexing_task: i64,
    name: &str,
) -> Result<Option<R>, StoreError> {
    context.store.read(|c| {
        read_parts(|each| similarity_range::for_each_input_part(c, indexing_task, name, each))
    })
}

// Extracts files in ranges. The worker of an indexing task creates the ranges, and extracts them together with all
// workers that have nothing else to do. It continues when no range is left.

/// The number of ranges that are added in one transaction, which bounds the time that other transactions wait in a
/// database file.
const ADDED_RANGES: usize = 16;
/// The interval at which the worker of an indexing task checks whether other workers have extracted their last ranges.
/// A check reads two rows.
const CHECK_PAUSE: Duration = Duration::from_millis(100);

/// Extracts `files` into the store, together with all workers. `all` is the number of files in the folder, from which
/// the progress is computed.
pub fn extract_in_ranges(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    files: &[FileToExtract],
    all: usize,
) -> Result<(), TaskError> {
    if files.is_empty() {
        return Ok(());
    }
    let length = context.settings.range_files.max(1);
    context.write(|tx| extraction::begin(tx, indexing_task, all, all - files.len()))?;
    for files in files.chunks(ADDED_RANGES * length) {
        context.write(|tx| {
            let mut ranges = files.chunks(length);
            ranges.try_for_each(|files| extraction::add_range(tx, indexing_task, source.row, files))
        })?;
    }
    loop {
        context.check_cancelled()?;
        if extract_next_range(context, Some(indexing_task)) {
            continue;
        }
        match context.store.read(|c| extraction::state(c, indexing_task))? {
            ExtractionState::Running => thread::sleep(CHECK_PAUSE),
            ExtractionState::Ended => return Ok(()),
            ExtractionState::Failed(reason) => return Err(TaskError::Failed(reason)),
        }
    }
}

/// Extracts the oldest range that no worker is extracting, of one indexing task or of any. Returns whether there was
/// one.
fn extract_next_range(worker: &WorkerContext, indexing_task: Option<i64>) -> bool {
    worker.run_next(
        |tx| {
            let found = extraction::next_unleased(tx, indexing_task)?;
            Ok(found.map(|range| (LeasedTask::Range(range.row), range)))
        },
        |tx, range| extraction::find(tx, range.row),
        run_extraction,
    )
}

/// Extracts a range. Fails only if the store cannot even record the failure.
fn run_extraction(context: &TaskContext, range: &ExtractionRange) -> Result<(), UnfinishedRun> {
    match context.run(|| extract_range(context, range)) {
        Ok(()) => Ok(context.write_end(|tx| extraction::end_range(tx, range))?),
        Err(cause) => context.end(cause, |tx, reason| extraction::fail_range(tx, range, reason)),
    }
}

fn extract_range(context: &TaskContext, range: &ExtractionRange) -> Result<(), TaskError> {
    let (source, files) = context
        .store
        .read(|c| Ok((source::find(c, range.source)?, extraction::files(c, range.row)?)))?;
    let source = source.ok_or(TaskError::Stopped)?;
    let folder = context.open_source(&source)?;
    extract_media(context, &source, &*folder, &files, |tx, extracted| {
        let progress = extraction::finish_files(tx, range, extracted.iter().copied())?;
        Ok(percent(progress.done, progress.files))
    })
}
