//! Jobs that the user started, as they are saved across restarts.

use std::{path::PathBuf, time::Duration};

use crate::{Archive, DatasetId, ExportSpec, ExportTaskId, SafeText};

/// Time since the Unix epoch by the local clock.
pub type Timestamp = Duration;

#[derive(Clone, Debug, PartialEq)]
pub enum JobKind {
    Export(ExportJob),
    AddMedia(AdditionJob),
    Reindex,
}

impl JobKind {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Export(_) => "export",
            Self::AddMedia(_) => "add media",
            Self::Reindex => "reindex",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportJob {
    pub spec: ExportSpec,
    /// A summary of the exported selection, `3 clusters, 9 media items`; `None` for the whole dataset.
    pub selection: Option<SafeText>,
    pub folder: PathBuf,
    pub auto_download: bool,
}

impl ExportJob {
    pub fn target(&self) -> PathBuf {
        self.folder.join(self.spec.file_name.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdditionJob {
    /// The source for display: `/data/new`, `s3://bucket/new/`.
    pub source: SafeText,
    /// The same as options of the command line: `--dir /data/new`.
    pub cli_options: SafeText,
    pub auto_reindex: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// Identifies the job: no two jobs of a user start at the same time.
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub dataset: DatasetId,
    /// The dataset's name when the job started.
    pub dataset_name: SafeText,
    pub kind: JobKind,
    pub state: SavedJobState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SavedJobState {
    /// Waiting locally until the dataset is free.
    Queued,
    /// Sent, not yet acknowledged.
    Sent,
    /// The service is working on the export.
    Running(ExportTaskId),
    /// The service is working on the dataset.
    Accepted,
    /// The archive can be downloaded.
    Completed(ExportTaskId),
    Downloaded(Archive),
    /// Finished, with the final status of the dataset.
    Done(SafeText),
    Failed(SafeText),
    /// It may have started; the reason why that is unknown.
    Uncertain(SafeText),
    /// No longer watched; the export, to resume watching.
    Unwatched(Option<ExportTaskId>),
}

impl SavedJobState {
    /// The export at the service, while it matters.
    pub fn export(&self) -> Option<ExportTaskId> {
        match self {
            Self::Running(task) | Self::Completed(task) => Some(*task),
            Self::Unwatched(task) => *task,
            _ => None,
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed(_) | Self::Downloaded(_) | Self::Uncertain(_))
    }

    /// Whether the job continues without the user, here or at the service.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Queued | Self::Sent | Self::Running(_) | Self::Accepted)
    }
}

const MAX_RECORDS: usize = 200;

/// Removes the oldest successful jobs beyond the limit; `records` are oldest first.
pub fn drop_oldest_finished(records: &mut Vec<JobRecord>) {
    let succeeded = |record: &JobRecord| {
        matches!(record.state, SavedJobState::Downloaded(_) | SavedJobState::Done(_))
    };
    while records.len() > MAX_RECORDS
        && let Some(old) = records.iter().position(succeeded)
    {
        records.remove(old);
    }
}
