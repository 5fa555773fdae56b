//! Work that goes on in the background: two queues, one for operations and one for exports, each
//! performed in order by a thread of its own.
//!
//! Every task has its state in the store. Stopping (or a kill) leaves it there unfinished, and
//! the next opening of the store queues it again.

mod arrange;
mod arrive;
mod describe;
mod encode;
mod export;
mod extract;
mod intake;
mod objects;
mod operation;
mod progress;
mod queue;
mod understand;

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
    settings::{Failing, Settings},
    store::{Store, StoreError, dataset, export as exports, operation as operations},
};
pub use arrange::PREVIEWS;
use queue::Queue;
use tessera_model::{DatasetId, ExportTaskId};

/// Version of the features stored: to be raised when `index::extract` computes them differently,
/// so that datasets indexed before are indexed anew.
pub const EXTRACTOR: u32 = 3;

/// Why a task ends before its goal.
#[derive(Debug)]
pub(crate) enum End {
    /// The deployment is being closed; the task stays as it is in the store.
    Stopped,
    /// It cannot be done, and why; fit for the wire.
    Failed(String),
}

/// Works towards the goal of a task unless it was stopped before. A panic on the way is a failure
/// of this task, not of those that wait behind it.
fn goal<T>(stop: &AtomicBool, run: impl FnOnce() -> Result<T, End>) -> Result<T, End> {
    if stop.load(Ordering::Relaxed) {
        return Err(End::Stopped);
    }
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(End::Failed("a fault of the program ended it".to_owned())))
}

impl From<StoreError> for End {
    fn from(_: StoreError) -> Self {
        Self::Failed("the store could not be read or written; check free disk space".to_owned())
    }
}

impl From<rusqlite::Error> for End {
    fn from(cause: rusqlite::Error) -> Self {
        StoreError::from(cause).into()
    }
}

/// What every task works with.
pub(crate) struct Workshop<'a> {
    store: &'a Store,
    settings: &'a Settings,
    stop: &'a AtomicBool,
}

impl<'a> Workshop<'a> {
    fn new(store: &'a Store, settings: &'a Settings, stop: &'a AtomicBool) -> Self {
        Self { store, settings, stop }
    }

    /// Fails if the deployment is being closed.
    fn go_on(&self) -> Result<(), End> {
        if self.stop.load(Ordering::Relaxed) { Err(End::Stopped) } else { Ok(()) }
    }

    /// Tells how far the operation of a dataset is, 0.0-1.0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    fn tell(&self, dataset: DatasetId, part: f64) -> Result<(), End> {
        let percent = (part.clamp(0.0, 1.0) * 100.0) as u8;
        Ok(self.store.write(|tx| dataset::set_progress(tx, dataset, percent))?)
    }

    /// Takes the time that rehearsals ask for, telling its parts of the work, and fails where they want.
    fn rehearse(
        &self,
        failing: Option<Failing>,
        mut tell: impl FnMut(f64) -> Result<(), End>,
    ) -> Result<(), End> {
        const STEPS: u32 = 20;
        for step in 0..STEPS {
            if self.settings.slow.is_zero() {
                break;
            }
            self.go_on()?;
            thread::sleep(self.settings.slow / STEPS);
            // The real work tells the rest.
            tell(0.05 * f64::from(step) / f64::from(STEPS))?;
        }
        match failing.filter(|failing| self.settings.failing.contains(failing)) {
            Some(failing) => Err(End::Failed(format!("{} was asked to fail", failing.word()))),
            None => Ok(()),
        }
    }
}

/// The background work of a deployment. Dropping it stops the work at the next file.
pub struct Work {
    operating: Queue<i64>,
    exporting: Queue<ExportTaskId>,
    outstanding: Arc<watch::Sender<usize>>,
    stop: Arc<AtomicBool>,
}

impl Work {
    /// Starts the queues and puts into them what the store holds unfinished.
    ///
    /// # Errors
    /// The store failed.
    pub fn resume(store: &Arc<Store>, settings: &Arc<Settings>) -> Result<Self, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let outstanding = Arc::new(watch::Sender::new(0));
        let work = Self {
            operating: {
                let (store, settings, stop) = (store.clone(), settings.clone(), stop.clone());
                Queue::start("operation", outstanding.clone(), move |row| {
                    let workshop = Workshop::new(&store, &settings, &stop);
                    let mut next = Some(row);
                    while let Some(row) = next {
                        // A store that takes no writes leaves the operation as it is: the next
                        // opening goes on.
                        next = operation::perform(&workshop, row).unwrap_or(None);
                    }
                })
            },
            exporting: {
                let (store, settings, stop) = (store.clone(), settings.clone(), stop.clone());
                Queue::start("export", outstanding.clone(), move |id| {
                    let workshop = Workshop::new(&store, &settings, &stop);
                    // As above: the export stays unfinished and is begun again.
                    let _ = export::export(&workshop, id);
                })
            },
            outstanding,
            stop,
        };
        let (running, unfinished) =
            store.read(|c| Ok((operations::all(c)?, exports::unfinished(c)?)))?;
        for operation in running {
            work.operate(operation.row);
        }
        for id in unfinished {
            work.export(id);
        }
        Ok(work)
    }

    /// Queues an operation that is RUNNING in the store.
    pub fn operate(&self, operation: i64) {
        self.operating.push(operation);
    }

    /// Queues an export that is in the store.
    pub fn export(&self, id: ExportTaskId) {
        self.exporting.push(id);
    }

    /// Waits until no work is queued or running.
    pub async fn settled(&self) {
        // An error would mean the sender is gone, and `self` holds it.
        let _ = self.outstanding.subscribe().wait_for(|&left| left == 0).await;
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
