//! Waits for operations: exports by their own status, others by the status of the dataset.

use std::time::Duration;

use serde_json::json;

use super::Poller;
use crate::cli::{CliError, CliResult, Connection, Exit, timestamps::timestamp_now};
use tessera_model::{
    DatasetId, ExportTask, ExportTaskId, JobKind, SafeText,
    operation_tracker::{OperationStatus, OperationTracker},
    polling::PollTarget,
};

impl Connection<'_> {
    /// Returns the export when it has ended, also without an archive.
    pub async fn follow_export(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
        interval: Option<Duration>,
    ) -> CliResult<ExportTask> {
        let mut poller = Poller::new(self.context, interval);
        let mut last = String::new();
        let mut report = |poller: &mut Poller<'_>, export: &ExportTask| {
            let state = export.state.as_str();
            if state == last {
                return Ok(());
            }
            state.clone_into(&mut last);
            let fields = json!({ "dataset_id": dataset, "export_task_id": task, "to": state });
            poller.emit("export", fields, &format!("export {state}"))
        };
        let limit = poller.time_limit();
        let followed = self.client.follow_export(dataset, task, async |response| {
            if let Some(export) = poller.tolerate_outage(response)? {
                report(&mut poller, &export)?;
            }
            poller.wait(PollTarget::Export(poller.elapsed())).await
        });
        let export = limit.apply(followed).await???;
        poller.report_recovery()?;
        report(&mut poller, &export)?;
        Ok(export)
    }

    /// Returns the final status. `tracker` is created from the dataset before the request.
    pub async fn follow_operation(
        &self,
        dataset: DatasetId,
        kind: &JobKind,
        mut tracker: OperationTracker,
    ) -> CliResult<SafeText> {
        let mut poller = Poller::new(self.context, None);
        tracker.accept(timestamp_now());
        loop {
            let dataset = poller.fetch_dataset(self, dataset).await?;
            poller.observe(&dataset)?;
            match tracker.observe(kind, timestamp_now(), &dataset) {
                OperationStatus::Running => {}
                OperationStatus::Finished(status) => return Ok(status),
                OperationStatus::Failed(failure) => {
                    return Err(CliError::new(Exit::Remote, failure.to_string()));
                }
            }
            poller.wait_for_dataset().await?;
        }
    }
}
