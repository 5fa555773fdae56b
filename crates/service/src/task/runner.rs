//! The two queues of background work: operations and exports, each with a thread of its own.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::watch;
use uuid::Uuid;

use super::{
    WorkerContext,
    queue::TaskQueue,
    run_export::{delete_archives, delete_expired_exports, run_export},
    run_operation::run_operation,
};
use crate::{
    originals::Originals,
    settings::DeploymentSettings,
    store::{Store, StoreError, export, operation},
};
use tessera_model::ExportTaskId;

/// How often ended exports are checked within the time that they are kept.
const EXPIRY_CHECKS: u32 = 24;

/// The background work of a deployment. Dropping it stops the work at the next file.
pub struct TaskRunner {
    /// Operations that are RUNNING in the store, by their row.
    pub operations: TaskQueue<i64>,
    pub exports: TaskQueue<ExportTaskId>,
    outstanding: Arc<watch::Sender<usize>>,
    stop: Arc<AtomicBool>,
}

impl TaskRunner {
    /// Starts the queues with the unfinished tasks of the store.
    pub fn resume(
        store: &Arc<Store>,
        settings: &Arc<DeploymentSettings>,
        originals: &Arc<Originals>,
    ) -> Result<Self, StoreError> {
        let outstanding = Arc::new(watch::Sender::new(0));
        let context = WorkerContext {
            store: store.clone(),
            settings: settings.clone(),
            originals: originals.clone(),
            stop: Arc::new(AtomicBool::new(false)),
            holder: Uuid::new_v4(),
        };
        let stop = context.stop.clone();
        let export_context = context.clone();
        let pause = settings.export_retention / EXPIRY_CHECKS;
        let operations = TaskQueue::start("operation", outstanding.clone(), pause, move |row| {
            let mut next = row;
            while let Some(row) = next {
                next = context.until_stored(|| run_operation(&context, row)).flatten();
            }
        });
        let mut expired = delete_expired_exports(&export_context)?;
        let exports = TaskQueue::start("export", outstanding.clone(), pause, move |id| {
            // If the store cannot be written, the next check deletes them.
            expired.extend(delete_expired_exports(&export_context).unwrap_or_default());
            delete_archives(&export_context, &mut expired);
            if let Some(id) = id {
                export_context.until_stored(|| run_export(&export_context, id));
            }
        });
        let runner = Self { operations, exports, outstanding, stop };
        let (running, unfinished) =
            store.read(|c| Ok((operation::all_running(c)?, export::unfinished(c)?)))?;
        for operation in running {
            runner.operations.push(operation.row);
        }
        for id in unfinished {
            runner.exports.push(id);
        }
        Ok(runner)
    }

    pub async fn wait_until_idle(&self) {
        // It cannot fail: `self` owns the sender.
        let _ = self.outstanding.subscribe().wait_for(|&left| left == 0).await;
    }
}

impl Drop for TaskRunner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
