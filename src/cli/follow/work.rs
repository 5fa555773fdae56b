//! Jobs of the service, followed to their end: exports by their own state, additions and reindexes by
//! the statuses of the dataset.

use std::time::Duration;

use serde_json::json;

use super::{Follow, clock};
use crate::cli::{Connection, Context, Ended, Exit};
use tessera_model::{
    DatasetId, ExportState, ExportTask, ExportTaskId, SafeText, Work,
    cadence::Watch,
    course::{Course, Seen},
};

impl Context {
    /// Follows an export to its end.
    ///
    /// # Errors
    /// [`Exit::Remote`] when it failed, [`Exit::TimedOut`], or what keeps its state away.
    pub async fn follow_export(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        task: ExportTaskId,
        interval: Option<Duration>,
    ) -> Result<ExportTask, Ended> {
        let mut follow = Follow::new(self, interval);
        let mut last = String::new();
        loop {
            if let Some(export) = follow.ask(connection.client.export_status(dataset, task)).await?
            {
                let word = export.state.word().to_owned();
                if word != last {
                    let fields =
                        json!({ "dataset_id": dataset, "export_task_id": task, "to": word });
                    follow.tell("export", fields, &format!("export {word}"))?;
                    last = word;
                }
                match &export.state {
                    ExportState::Completed if export.download.is_some() => return Ok(export),
                    ExportState::Failed(word) => {
                        let why = export.message.as_ref().map(|words| format!(": {words}"));
                        let sentence =
                            format!("the export ended as {word}{}", why.unwrap_or_default());
                        return Err(Ended::new(Exit::Remote, sentence));
                    }
                    // Complete, and the link comes later (M21).
                    ExportState::Completed | ExportState::Running(_) => {}
                }
            }
            follow.pause(Watch::Export(follow.age())).await?;
        }
    }

    /// Follows an addition or a reindex to its end: the status the dataset came to rest in. `course`
    /// is the dataset as it was before the request.
    ///
    /// # Errors
    /// [`Exit::Remote`] when it ended in ERROR, [`Exit::TimedOut`], or what keeps the dataset away.
    pub async fn follow_operation(
        &self,
        connection: &Connection,
        dataset: DatasetId,
        work: &Work,
        mut course: Course,
    ) -> Result<SafeText, Ended> {
        let mut follow = Follow::new(self, None);
        course.accept(clock());
        loop {
            let seen = follow.dataset(connection, dataset).await?;
            follow.see(&seen)?;
            match course.see(work, clock(), &seen) {
                Seen::Going => {}
                Seen::Over(rest) => return Ok(rest),
                Seen::Failed(failure) => {
                    return Err(Ended::new(Exit::Remote, failure.to_string()));
                }
            }
            follow.pause(follow.pace()).await?;
        }
    }
}
