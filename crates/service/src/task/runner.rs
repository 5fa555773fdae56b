//! The threads that run tasks. The threads take indexing tasks and exports from the store, including tasks that other
//! processes accepted. With a store in a file, only the threads of one process do. Beside tasks, the threads prepare
//! index files, and remove packs of pictures from the bucket: packs to which nothing refers any more, and packs of
//! workers that were killed before their transaction.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    WorkerContext,
    compare_folder::FoldersToCompare,
    run_export::{delete_expired_exports, run_next_export},
    run_indexing::run_next_indexing,
    several_processes::{RangeWorker, watch_store},
    wake_signal::WakeSignal,
};
use crate::task_error::TaskError;
use tessera_media::object_storage::INTERRUPTED_AFTER;
use tessera_model::{DatasetId, EntityType, Status};
use tessera_store::{
    StoreError,
    dataset::{self, DatasetRecord},
    lease::LeasedTask,
    picture_table, search_table,
};

/// The number of checks for expired exports within the time for which exports are kept.
const EXPIRY_CHECKS: u32 = 24;

/// The background work of a deployment. Dropping it stops the work at the next file, and allows other workers to
/// continue it.
pub struct TaskRunner {
    worker: WorkerContext,
    signal: Arc<WakeSignal>,
    folders: Arc<FoldersToCompare>,
    threads: Vec<JoinHandle<()>>,
    /// The sender whose closing ends the thread that watches the store.
    watcher: Option<mpsc::Sender<()>>,
}

impl TaskRunner {
    /// Starts the threads, which begin with the unfinished tasks in the store.
    pub fn start(worker: WorkerContext) -> Result<Self, StoreError> {
        let (jobs, prepares) = (worker.settings.jobs, worker.settings.prepare_indexes);
        // The first thread compares folders, and the last thread for tasks runs exports.
        let task_threads = if jobs == 0 { 1 } else { jobs + 2 };
        let threads = task_threads + usize::from(prepares);
        let signal = Arc::new(WakeSignal::new(threads));
        let folders = Arc::<FoldersToCompare>::default();
        if jobs > 0 && worker.store.is_on_server() {
            worker.store.note_worker(worker.holder)?;
        }
        let mut runner = Self { worker, signal, folders, threads: Vec::new(), watcher: None };
        runner.start_comparison();
        if jobs > 0 || prepares {
            runner.start_watcher();
        }
        if prepares {
            let mut preparation = IndexPreparation::default();
            runner.start_thread("index", task_threads, move |worker| {
                if worker.may_run_tasks() {
                    preparation.run(worker);
                }
                false
            });
        }
        if jobs > 0 {
            runner.start_tasks(jobs);
        }
        Ok(runner)
    }

    fn start_tasks(&mut self, jobs: usize) {
        let mut sweep = PackSweep::default();
        let ranges = Arc::<RangeWorker>::default();
        for number in 1..=jobs {
            let (signal, ranges) = (self.signal.clone(), ranges.clone());
            // A waiting indexing task comes before ranges, so that a small task does not wait for a large one.
            self.start_thread("indexing", number, move |worker| {
                if !worker.may_run_tasks() {
                    return false;
                }
                let has_run = run_next_indexing(worker);
                if has_run {
                    // The index of the dataset can be prepared now.
                    signal.wake();
                }
                has_run || ranges.run_next(worker)
            });
        }
        self.start_thread("export", jobs + 1, move |worker| {
            if !worker.may_run_tasks() {
                return false;
            }
            // If the store cannot be used now, the next check deletes the exports.
            let _ = delete_expired_exports(worker);
            sweep.run_when_due(worker);
            run_next_export(worker)
        });
    }

    /// Starts a thread. Whenever there may be tasks, it runs them until `run_next` finds none.
    fn start_thread(
        &mut self,
        name: &str,
        number: usize,
        mut run_next: impl FnMut(&WorkerContext) -> bool + Send + 'static,
    ) {
        let (worker, signal) = (self.worker.clone(), self.signal.clone());
        let pause = worker.settings.export_retention / EXPIRY_CHECKS;
        let body = move || {
            loop {
                let calls = signal.begin(number);
                // A panic ends only this search for tasks, so that nobody waits for a thread that is gone.
                let mut run_next = || catch_unwind(AssertUnwindSafe(|| run_next(&worker)));
                while !worker.is_stopped() && run_next().unwrap_or(false) {}
                if !signal.wait(number, calls, pause) {
                    return;
                }
            }
        };
        match thread::Builder::new().name(name.to_owned()).spawn(body) {
            Ok(thread) => self.threads.push(thread),
            // An error is ignored, because the tasks stay in the store.
            Err(_) => self.signal.ignore(number),
        }
    }

    fn start_comparison(&mut self) {
        let (folders, signal) = (self.folders.clone(), self.signal.clone());
        self.start_thread("comparison", 0, move |worker| {
            let was_one = folders.compare_next(worker);
            if was_one {
                // The comparison may have started an indexing task.
                signal.wake();
            }
            was_one
        });
    }

    fn start_watcher(&mut self) {
        let (sender, ended) = mpsc::channel();
        let (worker, signal) = (self.worker.clone(), self.signal.clone());
        let body = move || watch_store(&worker, &signal, &ended);
        // Without the thread, other workers take the tasks of this one when their leases expire, and this one takes
        // other tasks only when it accepts some.
        self.threads.extend(thread::Builder::new().name("watcher".to_owned()).spawn(body));
        self.watcher = Some(sender);
    }

    /// Returns why the tasks of this process wait, or `None` if they do not.
    pub fn waiting_reason(&self) -> Option<&'static str> {
        self.worker.running.waiting_reason()
    }

    /// Compares the folder of a dataset in object storage with what is stored, in the background.
    pub fn compare_folder(&self, dataset: DatasetId) {
        self.folders.add(dataset);
        self.wake();
    }

    /// Stops a task that was cancelled, if this process runs it. Other processes notice that they have lost it.
    pub fn stop_cancelled(&self, task: LeasedTask) {
        self.worker.running.stop_task(task);
        self.wake();
    }

    /// Makes the threads look for tasks.
    pub fn wake(&self) {
        self.signal.wake();
    }

    /// Waits until no thread of this process runs a task or finds one that it could run.
    pub async fn wait_until_idle(&self) {
        self.signal.wait_until_idle().await;
    }
}

impl Drop for TaskRunner {
    fn drop(&mut self) {
        self.worker.running.stop_all();
        self.signal.stop();
        self.watcher = None;
        for thread in self.threads.drain(..) {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

/// Writes the index files of datasets whose clusters changed, so that the first search does not need to. This process
/// or another one may have changed the clusters.
#[derive(Default)]
struct IndexPreparation {
    /// The latest generation of each index that was handled. An index that had no space is not tried again.
    prepared: HashMap<(DatasetId, EntityType), i64>,
}

impl IndexPreparation {
    /// Writes the missing files of datasets that no indexing task is changing.
    fn run(&mut self, worker: &WorkerContext) {
        // If the store cannot be read now, it is read at the next call.
        let datasets = worker.store.read(dataset::all).unwrap_or_default();
        for dataset in &datasets {
            if matches!(dataset.status, Status::Ready | Status::PartialIndex) {
                self.prepare(worker, dataset, EntityType::Images);
                self.prepare(worker, dataset, EntityType::Objects);
            }
        }
    }

    fn prepare(&mut self, worker: &WorkerContext, dataset: &DatasetRecord, entity: EntityType) {
        let has_media = match entity {
            EntityType::Images => dataset.n_images + dataset.n_frames > 0,
            EntityType::Objects => dataset.n_objects > 0,
        };
        let key = (dataset.id, entity);
        if !has_media || self.prepared.get(&key) == Some(&dataset.generation) {
            return;
        }
        let is_stopped = || worker.is_stopped();
        let prepared = worker.store.read(|c| search_table::find(c, dataset.id, entity));
        let prepared = prepared.and_then(|table| match table {
            // The database searches this dataset, so it needs no index files.
            Some(_) => Ok(()),
            None => worker.indexes.prepare(&worker.store, dataset, entity, &is_stopped),
        });
        if prepared.is_ok() {
            self.prepared.insert(key, dataset.generation);
        }
    }
}

/// The time between two sweeps.
const SWEEP_PAUSE: Duration = Duration::from_hours(24);
/// The number of packs that are removed before the next check whether to stop.
const PACKS_AT_A_TIME: usize = 64;

/// Sweeps at the first call, and then once a day.
#[derive(Default)]
struct PackSweep {
    begun_at: Option<Instant>,
}

impl PackSweep {
    fn run_when_due(&mut self, worker: &WorkerContext) {
        let is_due = self.begun_at.is_none_or(|begun_at| begun_at.elapsed() >= SWEEP_PAUSE);
        if is_due && worker.settings.bucket.is_some() {
            self.begun_at = Some(Instant::now());
            // Whatever cannot be removed now is removed by the next sweep.
            let _ = remove_unused(worker).and_then(|()| remove_unknown(worker));
        }
    }
}

/// Removes the packs to which nothing has referred for a day. A backup that is being made may still refer to younger
/// ones.
fn remove_unused(worker: &WorkerContext) -> Result<(), TaskError> {
    let store = &worker.store;
    store.write_rows(|tx| picture_table::mark_unused_packs(tx))?;
    let unused = store.read(|c| picture_table::packs_unused_for(c, INTERRUPTED_AFTER))?;
    for packs in unused.chunks(PACKS_AT_A_TIME) {
        delete_packs(worker, packs)?;
        store.write_rows(|tx| picture_table::delete_packs(tx, packs))?;
    }
    Ok(())
}

/// Removes the packs in the bucket that the store does not know. A younger pack may belong to a transaction that has
/// not been committed yet.
fn remove_unknown(worker: &WorkerContext) -> Result<(), TaskError> {
    let found = worker.originals.pictures.packs_older_than(INTERRUPTED_AFTER);
    for packs in found.map_err(|cause| TaskError::storage(&cause))?.chunks(PACKS_AT_A_TIME) {
        let known = worker.store.read(|c| picture_table::known_packs(c, packs))?;
        let unknown: Vec<String> =
            packs.iter().filter(|pack| !known.contains(*pack)).cloned().collect();
        delete_packs(worker, &unknown)?;
    }
    Ok(())
}

fn delete_packs(worker: &WorkerContext, packs: &[String]) -> Result<(), TaskError> {
    if worker.is_stopped() {
        return Err(TaskError::Stopped);
    }
    worker.originals.pictures.delete_packs(packs).map_err(|cause| TaskError::storage(&cause))
}
