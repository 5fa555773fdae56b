//! Work that goes on in the background: two queues, one for operations and one for exports, each
//! performed in order by a thread of its own.
//!
//! Every task has its state in the store. Stopping (or a kill) leaves it there unfinished, and
//! the next opening of the store queues it again.

mod apply_sidecars;
mod cluster_step;
mod embed_step;
mod encode_media;
mod extract_media;
mod extract_objects;
mod fetch_batch;
mod index_source;
mod progress;
mod queue;
mod run_export;
mod run_operation;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::sync::watch;

use crate::{
    settings::{DeploymentSettings, InjectedFailure},
    store::{Store, StoreError, dataset, export as exports, operation as operations},
};
pub use cluster_step::MAX_PREVIEWS;
use queue::TaskQueue;
use tessera_model::{DatasetId, ExportTaskId};

/// Version of the features stored: to be raised when `index::extract` computes them differently,
/// so that datasets indexed before are indexed anew.
pub const EXTRACTOR_VERSION: u32 = 3;

/// Why a task ends before its goal.
#[derive(Debug)]
pub(crate) enum TaskError {
    /// The deployment is being closed; the task stays as it is in the store.
    Stopped,
    /// It cannot be done, and why; fit for the wire.
    Failed(String),
}

/// Works towards the goal of a task unless it was stopped before. A panic on the way is a failure
/// of this task, not of those that wait behind it.
fn catch_panics<T>(
    stop: &AtomicBool,
    run: impl FnOnce() -> Result<T, TaskError>,
) -> Result<T, TaskError> {
    if stop.load(Ordering::Relaxed) {
        return Err(TaskError::Stopped);
    }
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(TaskError::Failed("a fault of the program ended it".to_owned())))
}

impl From<StoreError> for TaskError {
    fn from(_: StoreError) -> Self {
        Self::Failed("the store could not be read or written; check free disk space".to_owned())
    }
}

impl From<rusqlite::Error> for TaskError {
    fn from(cause: rusqlite::Error) -> Self {
        StoreError::from(cause).into()
    }
}

/// What every task works with.
pub(crate) struct TaskContext<'a> {
    store: &'a Store,
    settings: &'a DeploymentSettings,
    stop: &'a AtomicBool,
}

impl<'a> TaskContext<'a> {
    fn new(store: &'a Store, settings: &'a DeploymentSettings, stop: &'a AtomicBool) -> Self {
        Self { store, settings, stop }
    }

    /// Fails if the deployment is being closed.
    fn check_cancelled(&self) -> Result<(), TaskError> {
        if self.stop.load(Ordering::Relaxed) { Err(TaskError::Stopped) } else { Ok(()) }
    }

    /// Tells how far the operation of a dataset is, 0.0-1.0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    fn report_progress(&self, dataset: DatasetId, part: f64) -> Result<(), TaskError> {
        let percent = (part.clamp(0.0, 1.0) * 100.0) as u8;
        Ok(self.store.write(|tx| dataset::set_progress(tx, dataset, percent))?)
    }

    /// Takes the time that rehearsals ask for, telling its parts of the work, and fails where they want.
    fn simulate(
        &self,
        failing: Option<InjectedFailure>,
        mut tell: impl FnMut(f64) -> Result<(), TaskError>,
    ) -> Result<(), TaskError> {
        const STEPS: u32 = 20;
        for step in 0..STEPS {
            if self.settings.simulated_delay.is_zero() {
                break;
            }
            self.check_cancelled()?;
            thread::sleep(self.settings.simulated_delay / STEPS);
            // The real work tells the rest.
            tell(0.05 * f64::from(step) / f64::from(STEPS))?;
        }
        match failing.filter(|failing| self.settings.injected_failures.contains(failing)) {
            Some(failing) => {
                Err(TaskError::Failed(format!("{} was asked to fail", failing.as_str())))
            }
            None => Ok(()),
        }
    }
}

/// The background work of a deployment. Dropping it stops the work at the next file.
pub struct TaskRunner {
    operations: TaskQueue<i64>,
    exports: TaskQueue<ExportTaskId>,
    outstanding: Arc<watch::Sender<usize>>,
    stop: Arc<AtomicBool>,
}

impl TaskRunner {
    /// Starts the queues and puts into them what the store holds unfinished.
    ///
    /// # Errors
    /// The store failed.
    pub fn resume(
        store: &Arc<Store>,
        settings: &Arc<DeploymentSettings>,
    ) -> Result<Self, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let outstanding = Arc::new(watch::Sender::new(0));
        let work = Self {
            operations: {
                let (store, settings, stop) = (store.clone(), settings.clone(), stop.clone());
                TaskQueue::start("operation", outstanding.clone(), move |row| {
                    let workshop = TaskContext::new(&store, &settings, &stop);
                    let mut next = Some(row);
                    while let Some(row) = next {
                        // A store that takes no writes leaves the operation as it is: the next
                        // opening goes on.
                        next = run_operation::run_operation(&workshop, row).unwrap_or(None);
                    }
                })
            },
            exports: {
                let (store, settings, stop) = (store.clone(), settings.clone(), stop.clone());
                TaskQueue::start("export", outstanding.clone(), move |id| {
                    let workshop = TaskContext::new(&store, &settings, &stop);
                    // As above: the export stays unfinished and is begun again.
                    let _ = run_export::run_export(&workshop, id);
                })
            },
            outstanding,
            stop,
        };
        let (running, unfinished) =
            store.read(|c| Ok((operations::all_running(c)?, exports::unfinished(c)?)))?;
        for operation in running {
            work.queue_operation(operation.row);
        }
        for id in unfinished {
            work.queue_export(id);
        }
        Ok(work)
    }

    /// Queues an operation that is RUNNING in the store.
    pub fn queue_operation(&self, operation: i64) {
        self.operations.push(operation);
    }

    /// Queues an export that is in the store.
    pub fn queue_export(&self, id: ExportTaskId) {
        self.exports.push(id);
    }

    /// Waits until no work is queued or running.
    pub async fn wait_until_idle(&self) {
        // An error would mean the sender is gone, and `self` holds it.
        let _ = self.outstanding.subscribe().wait_for(|&left| left == 0).await;
    }
}

impl Drop for TaskRunner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
