//! Follows a job to its end by its state machine: an export by its own status, an addition or a reindex
//! by the status of the dataset.

use std::time::Duration;

use serde_json::json;

use super::Poller;
use crate::{
    cli::{CliError, CliResult, Connection, Exit, timestamps::timestamp_now},
    job::{Job, JobState},
};
use tessera_model::{ExportTask, SafeText, polling::PollTarget};

impl Connection<'_> {
    /// Returns the export of a job when it has ended, even if it has no archive.
    pub async fn follow_export(
        &self,
        job: &mut Job,
        interval: Option<Duration>,
    ) -> CliResult<ExportTask> {
        let JobState::ExportRunning(task, _) = *job.state() else {
            return Err(CliError::failed("the service has not accepted the job yet"));
        };
        let mut poller = Poller::new(self.context, interval);
        let mut last = String::new();
        loop {
            let request = self.client.export_status(job.dataset, task);
            let response = poller.time_limit().apply(request).await?;
            let elapsed = poller.elapsed();
            if let Err(failure) = &response {
                job.poll_failed(elapsed, failure.clone())?;
            }
            if let Some(export) = poller.tolerate_outage(response)? {
                let state = export.state.as_str();
                if state != last {
                    state.clone_into(&mut last);
                    let fields =
                        json!({ "dataset_id": job.dataset, "export_task_id": task, "to": state });
                    poller.emit("export", fields, &format!("export {state}"))?;
                }
                job.export_reported(elapsed, export.clone())?;
                if !job.is_active() {
                    return Ok(export);
                }
            }
            poller.wait(PollTarget::Export(elapsed)).await?;
        }
    }

    /// Returns the final status of the dataset of an addition or a reindex.
    pub async fn follow_operation(&self, job: &mut Job) -> CliResult<SafeText> {
        let mut poller = Poller::new(self.context, None);
        loop {
            let dataset = poller.fetch_dataset(self, job.dataset).await?;
            poller.observe(&dataset)?;
            job.dataset_observed(timestamp_now(), &dataset);
            match job.state() {
                JobState::DatasetDone(status) => return Ok(status.clone()),
                JobState::Failed(failure, _) => {
                    return Err(CliError::new(Exit::Remote, failure.to_string()));
                }
                _ => poller.wait_for_dataset().await?,
            }
        }
    }
}
