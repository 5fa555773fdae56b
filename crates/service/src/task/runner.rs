//! The threads that run tasks. The threads take indexing tasks and exports from the store, including tasks that other
//! processes accepted. With a store in a file, only the threads of one process do.

use std::{
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use super::{
    WorkerContext,
    compare_folder::FoldersToCompare,
    index_preparation::IndexPreparation,
    pack_sweep::PackSweep,
    run_export::{delete_archives, delete_expired_exports, run_next_export},
    run_indexing::run_next_indexing,
    several_processes::{RangeWorker, keep_leases, watch_file},
    wake_signal::WakeSignal,
};
use tessera_model::DatasetId;
use tessera_store::StoreError;

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
            runner.start_tasks(jobs)?;
        }
        Ok(runner)
    }

    fn start_tasks(&mut self, jobs: usize) -> Result<(), StoreError> {
        let mut expired = Vec::new();
        if self.worker.may_run_tasks() {
            expired = delete_expired_exports(&self.worker)?;
        }
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
            // If the store cannot be written, the next check deletes the exports.
            expired.extend(delete_expired_exports(worker).unwrap_or_default());
            delete_archives(worker, &mut expired);
            sweep.run_when_due(worker);
            run_next_export(worker)
        });
        Ok(())
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
                while !worker.is_stopped() && run_next(&worker) {}
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
        let body = move || {
            if worker.store.is_on_server() {
                keep_leases(&worker, &signal, &ended);
            } else {
                watch_file(&worker, &signal, &ended);
            }
        };
        // Without the thread, other workers take the tasks of this one when their leases expire, and this one takes
        // other tasks only when it accepts some.
        self.threads.extend(thread::Builder::new().name("watcher".to_owned()).spawn(body));
        self.watcher = Some(sender);
    }

    /// Compares the folder of a dataset in object storage with what is stored, in the background.
    pub fn compare_folder(&self, dataset: DatasetId) {
        self.folders.add(dataset);
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
