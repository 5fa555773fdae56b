//! Work that goes on in the background: two queues, one for indexing and one for exports, each
//! performed in order by a thread of its own.
//!
//! Every task has its state in the store. Stopping (or a kill) leaves it there unfinished, and
//! the next opening of the store queues it again.

mod arrange;
mod describe;
mod export;
mod extract;
mod index;
mod queue;

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::watch;

use crate::{
    local::store::{Store, StoreError, dataset, export as exports, held},
    model::{DatasetId, ExportTaskId, Status},
};
pub use arrange::PREVIEWS;
use queue::Queue;

/// Version of the features stored: to be raised when `index::extract` computes them differently,
/// so that datasets indexed before are indexed anew.
pub const EXTRACTOR: u32 = 2;

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
fn goal(stop: &AtomicBool, run: impl FnOnce() -> Result<(), End>) -> Result<(), End> {
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

/// The background work of a deployment. Dropping it stops the work at the next file.
pub struct Work {
    indexing: Queue<DatasetId>,
    exporting: Queue<ExportTaskId>,
    indexed_next: Arc<Mutex<HashSet<DatasetId>>>,
    outstanding: Arc<watch::Sender<usize>>,
    stop: Arc<AtomicBool>,
}

impl Work {
    /// Starts the queues and puts into them what the store holds unfinished.
    ///
    /// # Errors
    /// The store failed.
    pub fn resume(store: &Arc<Store>) -> Result<Self, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let outstanding = Arc::new(watch::Sender::new(0));
        let indexed_next = Arc::new(Mutex::new(HashSet::new()));
        let work = Self {
            indexing: {
                let (store, stop, next) = (store.clone(), stop.clone(), indexed_next.clone());
                Queue::start("index", outstanding.clone(), move |id| {
                    // A store that takes no writes leaves the dataset INDEXING: the next
                    // opening goes on.
                    let _ = index::index(&store, id, &stop);
                    held(&next).remove(&id);
                })
            },
            exporting: {
                let (store, stop) = (store.clone(), stop.clone());
                Queue::start("export", outstanding.clone(), move |id| {
                    // As above: the export stays unfinished and is begun again.
                    let _ = export::export(&store, id, &stop);
                })
            },
            indexed_next,
            outstanding,
            stop,
        };
        let (datasets, unfinished) =
            store.read(|c| Ok((dataset::all(c)?, exports::unfinished(c)?)))?;
        for dataset in datasets {
            if dataset.status == Status::Indexing {
                work.index(dataset.id);
            }
        }
        for id in unfinished {
            work.export(id);
        }
        Ok(work)
    }

    /// Whether an indexing of the dataset is queued or running.
    #[must_use]
    pub fn is_indexing(&self, id: DatasetId) -> bool {
        held(&self.indexed_next).contains(&id)
    }

    /// Queues the indexing of a dataset that is INDEXING in the store.
    pub fn index(&self, id: DatasetId) {
        if held(&self.indexed_next).insert(id) {
            self.indexing.push(id);
        }
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
