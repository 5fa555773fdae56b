//! Waits for operations of the service: exports by their own status, additions and reindexes by the
//! dataset's status.

use std::time::Duration;

use serde_json::json;

use super::{Poller, timestamp_now};
use crate::cli::{CliError, Connection, Context, Exit};
use tessera_model::{
    DatasetId, ExportState, ExportTask, ExportTaskId, JobKind, SafeText,
    operation_tracker::{OperationStatus, OperationTracker},
    polling::PollTarget,
};

impl Context {
    /// Waits for an export to finish.
    pub async fn follow_export(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        task: ExportTaskId,
        interval: Option<Duration>,
    ) -> Result<ExportTask, CliError> {
        let mut follow = Poller::new(self, interval);
        let mut last = String::new();
        loop {
            if let Some(export) =
                follow.request(connection.client.export_status(dataset, task)).await?
            {
                let word = export.state.as_str().to_owned();
                if word != last {
                    let fields =
                        json!({ "dataset_id": dataset, "export_task_id": task, "to": word });
                    follow.emit("export", fields, &format!("export {word}"))?;
                    last = word;
                }
                match &export.state {
                    ExportState::Completed if export.download.is_some() => return Ok(export),
                    ExportState::Failed(word) => {
                        let why = export.message.as_ref().map(|words| format!(": {words}"));
                        let message =
                            format!("the export ended with {word}{}", why.unwrap_or_default());
                        return Err(CliError::new(Exit::Remote, message));
                    }
                    // Completed, but without a download link yet.
                    ExportState::Completed | ExportState::Running(_) => {}
                }
            }
            follow.wait(PollTarget::Export(follow.elapsed())).await?;
        }
    }

    /// Waits for an addition or a reindex to finish, and returns the final status. `tracker` is
    /// created from the dataset before the request.
    pub async fn follow_operation(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        work: &JobKind,
        mut tracker: OperationTracker,
    ) -> Result<SafeText, CliError> {
        let mut follow = Poller::new(self, None);
        tracker.accept(timestamp_now());
        loop {
            let seen = follow.fetch_dataset(connection, dataset).await?;
            follow.observe(&seen)?;
            match tracker.observe(work, timestamp_now(), &seen) {
                OperationStatus::Running => {}
                OperationStatus::Finished(rest) => return Ok(rest),
                OperationStatus::Failed(failure) => {
                    return Err(CliError::new(Exit::Remote, failure.to_string()));
                }
            }
            follow.wait(follow.watch()).await?;
        }
    }
}
