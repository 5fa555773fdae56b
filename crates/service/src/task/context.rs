//! The environment of tasks: the store, the settings, the lease, the running tasks of this process, whether to stop,
//! and the progress.

use std::{
    collections::HashMap,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::encoding_runs::EncodingRuns;
use crate::{
    originals::{Originals, is_of_process},
    settings::{DeploymentSettings, InjectedFailure},
    tag_file::TagWriter,
    task_error::{DISK_FULL, STORAGE_UNREACHABLE, TaskError, UnfinishedRun},
};
use tessera_media::ingest::{OriginalFiles, read_error_name};
use tessera_model::DatasetId;
use tessera_retrieval::{IndexCache, Models};
use tessera_store::{
    QueryError, Store, StoreError, Transaction, dataset,
    lease::{self, Lease, LeasedTask},
    picture_table::PackedPictures,
    source::SourceFolder,
    store_now,
};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

/// The numbers of steps of the first and of the longest pause before a task is run again. A pause is divided into
/// steps, so that a stop is noticed.
const PAUSE_STEPS: (u32, u32) = (20, 160);
const PAUSE_STEP: Duration = Duration::from_millis(50);
/// A run that lasts longer than this has not failed at its start, so its task is not shown as waiting any more.
const SHORT_RUN: Duration = Duration::from_mins(1);
/// The number of times that a task is run again because object storage cannot be reached. The pauses before these runs
/// take five minutes together.
const MAX_STORAGE_RERUNS: u32 = 40;

/// The environment of the threads that run tasks.
#[derive(Clone)]
pub struct WorkerContext {
    pub store: Arc<Store>,
    pub settings: Arc<DeploymentSettings>,
    pub originals: Arc<Originals>,
    pub indexes: Arc<IndexCache>,
    pub models: Arc<Models>,
    pub encoding: Arc<EncodingRuns>,
    pub running: Arc<RunningTasks>,
    pub tag_writer: Arc<TagWriter>,
    /// The identifier of this worker in leases.
    pub holder: Uuid,
}

/// The environment of one task, while this worker has its lease.
#[derive(Clone)]
pub struct TaskContext {
    worker: WorkerContext,
    lease: Lease,
    stop: Arc<AtomicBool>,
    /// The thread that repeats the task until its end is stored.
    thread: ThreadId,
    started: Instant,
    /// How many times the task was run again because object storage could not be reached.
    storage_reruns: Arc<AtomicU32>,
}

impl Deref for TaskContext {
    type Target = WorkerContext;

    fn deref(&self) -> &WorkerContext {
        &self.worker
    }
}

impl WorkerContext {
    /// Runs the task that `next` finds, until its end is stored. `find` reads the task again before each further run.
    /// Returns whether there was a task.
    pub fn run_next<T>(
        &self,
        next: impl Fn(&Transaction) -> Result<Option<(LeasedTask, T)>, QueryError>,
        find: impl Fn(&Transaction, &T) -> Result<Option<T>, QueryError>,
        run: impl Fn(&TaskContext, &T) -> Result<(), UnfinishedRun>,
    ) -> bool {
        let taken = self.until_stored(|| Ok(self.take_next(&next, &find)?));
        let Some((mut lease, mut task)) = taken.flatten() else { return false };
        let (mut is_taken, storage_reruns) = (true, Arc::default());
        self.until_stored(|| {
            if !is_taken {
                let again = self.take_again(&lease, |tx| find(tx, &task))?;
                let Some(again) = again else { return Ok(()) };
                (lease, task) = again;
            }
            is_taken = false;
            let ran = run(&self.context(lease.clone(), &storage_reruns), &task);
            if let Err(UnfinishedRun::RunAgain(reason)) = &ran {
                // Another machine may have the space or the connection that this one lacks. If the lease cannot be
                // released, it expires.
                let _ = self.store.write_rows(|tx| lease::give_back(tx, &lease, reason));
            }
            ran
        });
        true
    }

    /// Takes the lease of the task that `next` finds, and repeats this until `next` finds none. Several threads may
    /// find the same task, but only one of them gets the lease.
    fn take_next<T>(
        &self,
        next: impl Fn(&Transaction) -> Result<Option<(LeasedTask, T)>, QueryError>,
        find: impl Fn(&Transaction, &T) -> Result<Option<T>, QueryError>,
    ) -> Result<Option<(Lease, T)>, StoreError> {
        loop {
            // Each attempt is a separate transaction, so that a transaction locks at most one lease.
            let taken = self.store.write_rows(|tx| {
                let Some((task, found)) = next(tx)? else { return Ok(None) };
                self.take(tx, task, |tx| find(tx, &found)).map(Some)
            })?;
            match taken {
                Some(None) => {}
                Some(taken) => return Ok(taken),
                None => return Ok(None),
            }
        }
    }

    /// Takes the lease of a task again after its last run could not be finished. Returns `None` if the task has ended or
    /// another worker runs it.
    fn take_again<T>(
        &self,
        last: &Lease,
        find: impl Fn(&Transaction) -> Result<Option<T>, QueryError>,
    ) -> Result<Option<(Lease, T)>, StoreError> {
        self.store.write_rows(|tx| {
            lease::release(tx, last)?;
            self.take(tx, last.task, find)
        })
    }

    /// Takes the lease of a task, and then reads the task, which may have ended meanwhile.
    fn take<T>(
        &self,
        transaction: &Transaction,
        task: LeasedTask,
        find: impl Fn(&Transaction) -> Result<Option<T>, QueryError>,
    ) -> Result<Option<(Lease, T)>, QueryError> {
        let (now, end) = (store_now(transaction)?, lease::end_of_new(transaction)?);
        let Some(lease) = lease::take(transaction, task, self.holder, now, end)? else {
            return Ok(None);
        };
        match find(transaction)? {
            Some(found) => Ok(Some((lease, found))),
            None => lease::end(transaction, &lease).map(|()| None),
        }
    }

    /// Opens the folder or bucket of a source.
    pub fn open_source(&self, source: &SourceFolder) -> Result<Box<dyn OriginalFiles>, TaskError> {
        self.originals.open(&source.folder).map_err(|cause| {
            let remedy = if is_of_process(&cause) {
                "let the service open more files (ulimit -n), and open the dataset again"
            } else if self.store.is_on_server() {
                "every worker needs it at the same path, or it has to be in object storage"
            } else {
                "restore it and open the dataset again"
            };
            let (name, why) = (source.public_name(), read_error_name(&cause));
            TaskError::Failed(format!("the folder {name} cannot be opened ({why}); {remedy}"))
        })
    }

    fn context(&self, lease: Lease, storage_reruns: &Arc<AtomicU32>) -> TaskContext {
        let stop = self.running.begin(&lease);
        let thread = thread::current().id();
        let storage_reruns = storage_reruns.clone();
        let started = Instant::now();
        TaskContext { worker: self.clone(), lease, stop, thread, started, storage_reruns }
    }

    /// Whether this process may run tasks now. A process without jobs never asks for the lock on the tasks of a file.
    pub fn may_run_tasks(&self) -> bool {
        if self.settings.jobs == 0 {
            return self.store.is_on_server();
        }
        // If the lock cannot be used, it is tried again at the next call.
        self.store.may_run_tasks().unwrap_or(false)
    }

    /// Whether the deployment is being closed.
    pub fn is_stopped(&self) -> bool {
        self.running.is_stopped()
    }

    /// Runs a task until the store could record its end, which a full disk, a server that does not respond, or object
    /// storage that cannot be reached may prevent. Each run resumes the previous one. Returns `None` if the worker was
    /// stopped, the store is damaged, or the task is for another worker. The task then stays unfinished.
    fn until_stored<T>(&self, mut task: impl FnMut() -> Result<T, UnfinishedRun>) -> Option<T> {
        let (mut pause, longest) = PAUSE_STEPS;
        loop {
            let outcome = task();
            let waiting = match outcome {
                Err(UnfinishedRun::RunAgain(reason)) => Some(reason),
                _ => None,
            };
            self.running.set_waiting(thread::current().id(), waiting);
            if waiting.is_none() {
                return outcome.ok();
            }
            for _ in 0..pause {
                if self.is_stopped() {
                    return None;
                }
                thread::sleep(PAUSE_STEP);
            }
            pause = (pause * 2).min(longest);
        }
    }
}

impl TaskContext {
    /// Fails if the deployment is being closed, or another worker has taken over the task.
    pub fn check_cancelled(&self) -> Result<(), TaskError> {
        if self.stop.load(Ordering::Relaxed) { Err(TaskError::Stopped) } else { Ok(()) }
    }

    /// Returns the flag that is set when the task must stop.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Returns how many times the task was begun.
    pub fn fence(&self) -> i64 {
        self.lease.fence
    }

    /// Whether the task is run again if object storage cannot be reached.
    pub fn is_rerun_for_storage(&self) -> bool {
        // On a server, any worker can run the task again, and each run increases the fence.
        let begun = u32::try_from(self.fence()).unwrap_or(u32::MAX);
        let begun = if self.store.is_on_server() { begun } else { 0 };
        self.storage_reruns.load(Ordering::Relaxed).max(begun) < MAX_STORAGE_RERUNS
    }

    /// Runs a task, unless it was stopped before. A panic fails only this task, and not the tasks queued behind it.
    pub fn run<T>(&self, task: impl FnOnce() -> Result<T, TaskError>) -> Result<T, TaskError> {
        self.check_cancelled()?;
        catch_unwind(AssertUnwindSafe(task))
            .unwrap_or_else(|_| Err(TaskError::Failed("an internal error ended it".to_owned())))
    }

    /// Runs `change` as one durable transaction, unless another worker has taken over the task.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T, QueryError>,
    ) -> Result<T, StoreError> {
        // On a full disk, small transactions still succeed at the start of each run.
        let continues = self.started.elapsed() > SHORT_RUN;
        let written = self.store.write_rows(|tx| {
            let require = if continues { lease::resume } else { lease::require };
            require(tx, &self.lease)?;
            let outcome = change(tx)?;
            // The lease is extended, because the transaction may have taken long and other threads could not extend the
            // lease meanwhile.
            if self.store.is_on_server() {
                lease::extend(tx, &self.lease, lease::end_of_new(tx)?)?;
            }
            Ok(outcome)
        })?;
        if continues {
            self.running.set_waiting(self.thread, None);
        }
        Ok(written)
    }

    /// Fails if another worker has taken over the task. Unlike [`lease::require`], this does not prevent other workers
    /// from doing so until a long transaction ends.
    pub fn require_held(&self, transaction: &Transaction) -> Result<(), QueryError> {
        let is_held = lease::is_held(transaction, &self.lease)?;
        is_held.then_some(()).ok_or(QueryError::LeaseLost)
    }

    /// Writes the pictures of the next transaction to the bucket, if there is one.
    pub fn put_pictures<'a>(
        &self,
        pictures: impl Iterator<Item = &'a [u8]>,
    ) -> Result<PackedPictures, TaskError> {
        self.originals.pictures.put(pictures).map_err(|cause| TaskError::storage(&cause))
    }

    /// Runs `change` as one durable transaction, which ends the task.
    pub fn write_end<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T, QueryError>,
    ) -> Result<T, StoreError> {
        self.store.write_rows(|tx| {
            lease::require(tx, &self.lease)?;
            lease::end(tx, &self.lease)?;
            change(tx)
        })
    }

    /// Allows another worker to take the unfinished task at once.
    pub fn release(&self) -> Result<(), StoreError> {
        self.store.write_rows(|tx| lease::release(tx, &self.lease))
    }

    /// Ends a task that has no result: it is released if it was stopped, and kept if it is run again. `fail` writes why
    /// it failed.
    pub fn end(
        &self,
        cause: TaskError,
        fail: impl FnOnce(&Transaction, &str) -> Result<(), QueryError>,
    ) -> Result<(), UnfinishedRun> {
        match cause {
            TaskError::Stopped => Ok(self.release()?),
            TaskError::Postponed(reason) => Err(UnfinishedRun::RunAgain(reason)),
            _ if self.rerun_reason(&cause).is_some() && self.is_rerun_for_storage() => {
                self.storage_reruns.fetch_add(1, Ordering::Relaxed);
                let is_full = matches!(cause, TaskError::NoSpace(_));
                let reason = if is_full { DISK_FULL } else { STORAGE_UNREACHABLE };
                Err(UnfinishedRun::RunAgain(reason))
            }
            TaskError::Unavailable(reason)
            | TaskError::NoSpace(reason)
            | TaskError::Failed(reason) => Ok(self.write_end(|tx| fail(tx, &reason))?),
        }
    }

    /// Returns why a task is run again, but not forever, if it is.
    pub fn rerun_reason<'a>(&self, cause: &'a TaskError) -> Option<&'a str> {
        match cause {
            TaskError::Unavailable(reason) => Some(reason),
            // Another machine may have space.
            TaskError::NoSpace(reason) => self.store.is_on_server().then_some(reason),
            TaskError::Stopped | TaskError::Postponed(_) | TaskError::Failed(_) => None,
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn report_progress(&self, dataset: DatasetId, share: f64) -> Result<(), TaskError> {
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u8;
        Ok(self.write(|tx| dataset::set_progress(tx, dataset, percent))?)
    }

    /// Returns a runtime for this thread, for requests to object storage.
    pub fn storage_runtime() -> Result<Runtime, TaskError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(|cause| TaskError::io("the transfer could not be started", &cause))
    }

    /// Waits for the simulated delay, reporting the first 5 percent meanwhile, and injects a failure if the settings
    /// request it.
    pub fn simulate(
        &self,
        failure: Option<InjectedFailure>,
        mut report: impl FnMut(f64) -> Result<(), TaskError>,
    ) -> Result<(), TaskError> {
        const STEPS: u32 = 20;
        for step in 0..STEPS {
            if self.settings.simulated_delay.is_zero() {
                break;
            }
            self.check_cancelled()?;
            thread::sleep(self.settings.simulated_delay / STEPS);
            report(0.05 * f64::from(step) / f64::from(STEPS))?;
        }
        match failure.filter(|failure| self.settings.injected_failures.contains(failure)) {
            Some(failure) => {
                Err(TaskError::Failed(format!("{} failed because of --fail", failure.as_str())))
            }
            None => Ok(()),
        }
    }
}

/// The running tasks, shared by the threads that run tasks and the thread that extends leases.
#[derive(Debug, Default)]
pub(crate) struct RunningTasks(Mutex<RunningState>);

#[derive(Debug, Default)]
struct RunningState {
    /// Whether no further task may begin.
    is_stopped: bool,
    /// The leases of the tasks, with the flag that stops each task. The flag no longer exists when the task has ended.
    tasks: Vec<(Lease, Weak<AtomicBool>)>,
    /// Why each thread that has to repeat a task is waiting.
    waiting: HashMap<ThreadId, &'static str>,
}

impl RunningTasks {
    /// Registers a task. Returns the flag that is set when the task must stop.
    pub fn begin(&self, lease: &Lease) -> Arc<AtomicBool> {
        let mut state = self.0.lock();
        let stop = Arc::new(AtomicBool::new(state.is_stopped));
        state.tasks.retain(|(_, stop)| stop.strong_count() > 0);
        state.tasks.push((lease.clone(), Arc::downgrade(&stop)));
        stop
    }

    pub fn is_stopped(&self) -> bool {
        self.0.lock().is_stopped
    }

    /// Notes why a thread waits, or that it does not.
    fn set_waiting(&self, thread: ThreadId, reason: Option<&'static str>) {
        let mut state = self.0.lock();
        match reason {
            Some(reason) => _ = state.waiting.insert(thread, reason),
            None => _ = state.waiting.remove(&thread),
        }
    }

    pub fn waiting_reason(&self) -> Option<&'static str> {
        self.0.lock().waiting.values().min().copied()
    }

    pub(crate) fn stop_all(&self) {
        let mut state = self.0.lock();
        state.is_stopped = true;
        state.tasks.iter().for_each(|(_, stop)| set(stop));
    }

    /// Stops the task of a lease that another worker has taken.
    pub fn stop(&self, lost: &Lease) {
        let state = self.0.lock();
        let lost = state.tasks.iter().filter(|(lease, _)| lease == lost);
        lost.for_each(|(_, stop)| set(stop));
    }

    /// Stops a task that was taken away from this process.
    pub fn stop_task(&self, task: LeasedTask) {
        let state = self.0.lock();
        let taken = state.tasks.iter().filter(|(lease, _)| lease.task == task);
        taken.for_each(|(_, stop)| set(stop));
    }

    /// Returns the leases of the tasks that have not ended.
    pub fn leases(&self) -> Vec<Lease> {
        let state = self.0.lock();
        let running = state.tasks.iter().filter(|(_, stop)| stop.strong_count() > 0);
        running.map(|(lease, _)| lease.clone()).collect()
    }
}

fn set(stop: &Weak<AtomicBool>) {
    if let Some(stop) = stop.upgrade() {
        stop.store(true, Ordering::Relaxed);
    }
}

/// Returns the share that is done, 0.0-1.0, or 0.0 if there is nothing to do.
#[expect(clippy::cast_precision_loss, reason = "a share, not a count")]
pub(crate) fn fraction(done: usize, all: usize) -> f64 {
    done as f64 / all.max(1) as f64
}

pub(crate) struct ProgressRange<'a> {
    context: &'a TaskContext,
    dataset: DatasetId,
    from: f64,
    to: f64,
    reported: AtomicU8,
}

impl<'a> ProgressRange<'a> {
    /// Creates the range between two shares of the whole, which are 0.0-1.0.
    pub fn new(context: &'a TaskContext, dataset: DatasetId, from: f64, to: f64) -> Self {
        Self { context, dataset, from, to, reported: AtomicU8::new(0) }
    }

    pub(crate) fn subrange(&self, from: f64, to: f64) -> Self {
        let at = |share: f64| self.from + share * (self.to - self.from);
        Self::new(self.context, self.dataset, at(from), at(to))
    }

    /// Reports which share of this range is done, 0.0-1.0. Returns whether to continue.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn report(&self, share: f64) -> bool {
        let whole = self.from + share.clamp(0.0, 1.0) * (self.to - self.from);
        let percent = (whole * 100.0) as u8;
        if self.reported.fetch_max(percent, Ordering::Relaxed) < percent {
            let reported = self.context.report_progress(self.dataset, whole);
            // Other errors are ignored: if the store cannot be written, writing the result fails too, with a message.
            if let Err(TaskError::Stopped) = reported {
                self.context.stop.store(true, Ordering::Relaxed);
            }
        }
        self.context.check_cancelled().is_ok()
    }
}
