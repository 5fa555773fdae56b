//! Follows an export to its end.

use crate::Client;
use tessera_model::{DatasetId, ExportTask, ExportTaskId, Failure};

impl Client {
    /// Polls an export until it has ended, and returns its final state. `pause` receives each
    /// response before that, or the failure if the connection was lost, and waits until the next
    /// poll; its error ends polling.
    pub async fn follow_export<E>(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
        mut pause: impl AsyncFnMut(Result<ExportTask, Failure>) -> Result<(), E>,
    ) -> Result<Result<ExportTask, Failure>, E> {
        loop {
            match self.export_status(dataset, task).await {
                Ok(export) if export.has_ended() => return Ok(Ok(export)),
                Err(failure) if !failure.is_connection_failure() => return Ok(Err(failure)),
                response => pause(response).await?,
            }
        }
    }
}
