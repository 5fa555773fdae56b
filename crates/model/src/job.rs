//! Jobs that the user started, in the form in which they are saved across restarts.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Archive, DatasetId, ExportSpec, ExportTask, ExportTaskId, SafeText, export::write_path,
};

/// Time since the Unix epoch by the local clock.
pub type Timestamp = Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobKind {
    Export(ExportJob),
    AddMedia(AdditionJob),
    Reindex,
    GetModel(ModelJob),
}

impl JobKind {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Export(_) => "export",
            Self::AddMedia(_) => "add media",
            Self::Reindex => "reindex",
            Self::GetModel(_) => "get model",
        }
    }

    pub fn export(&self) -> Option<&ExportJob> {
        match self {
            Self::Export(export) => Some(export),
            Self::AddMedia(_) | Self::Reindex | Self::GetModel(_) => None,
        }
    }
}

/// What an export of a selection contains.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ExportPart {
    #[default]
    Selection,
    /// Everything else that a search finds.
    RestOfSearch,
    /// Everything else in the dataset.
    RestOfDataset,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportJob {
    #[serde(flatten)]
    pub spec: ExportSpec,
    /// A summary of the exported selection, such as `3 clusters, 9 media items`, or `None` if the whole dataset is
    /// exported.
    pub selection: Option<SafeText>,
    #[serde(default)]
    pub part: ExportPart,
    #[serde(serialize_with = "write_path")]
    pub folder: PathBuf,
    pub auto_download: bool,
    /// What the finished archive lacks, as the service says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<SafeText>,
}

impl ExportJob {
    /// Returns the export of a whole dataset, which is not downloaded by itself.
    pub fn of_dataset(spec: ExportSpec) -> Self {
        Self {
            spec,
            selection: None,
            part: ExportPart::default(),
            folder: PathBuf::new(),
            auto_download: false,
            shortfall: None,
        }
    }

    /// Says what is exported: `3 clusters`, or `all but 3 clusters`. Returns `None` for the whole dataset.
    pub fn content(&self) -> Option<SafeText> {
        let selection = self.selection.as_ref()?;
        let text = match self.part {
            ExportPart::Selection => return Some(selection.clone()),
            ExportPart::RestOfSearch => format!("all that a search finds but {selection}"),
            ExportPart::RestOfDataset => format!("all but {selection}"),
        };
        Some(SafeText::name(&text))
    }

    pub fn target(&self) -> PathBuf {
        self.folder.join(self.spec.file_name.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdditionJob {
    /// The source for display: `/data/new`, `s3://bucket/new/`.
    pub source: SafeText,
    /// The options of the command line that name the source: `--dir /data/new`.
    pub cli_options: SafeText,
    pub auto_reindex: bool,
}

/// Downloads a model, and encodes the media of the dataset with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelJob {
    pub model: SafeText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The start time, which also identifies the job, because no two jobs of a user start at the same time.
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    #[serde(rename = "dataset_id")]
    pub dataset: DatasetId,
    /// The dataset's name when the job started.
    pub dataset_name: SafeText,
    #[serde(flatten)]
    pub kind: JobKind,
    #[serde(flatten)]
    pub state: SavedJobState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SavedJobState {
    /// The job waits on this machine until the dataset is free.
    Queued,
    /// The request was sent, but the service has not acknowledged it yet.
    Sent,
    /// The service is working on the export.
    Running {
        export_task_id: ExportTaskId,
    },
    /// The service is working on the dataset.
    Accepted,
    /// The archive can be downloaded.
    Completed {
        export_task_id: ExportTaskId,
    },
    Downloaded {
        archive: Archive,
        export_task_id: ExportTaskId,
    },
    /// Finished, with the final status of the dataset.
    Done {
        status_new: SafeText,
    },
    Failed {
        reason: SafeText,
        /// The export, if the service accepted one.
        #[serde(flatten)]
        export: Option<FailedExport>,
    },
    /// The job may have started. The reason explains why this is unknown.
    Uncertain {
        reason: SafeText,
    },
    /// The job is no longer watched. If there is an export, watching can be resumed.
    Unwatched {
        export_task_id: Option<ExportTaskId>,
    },
}

/// An export that the service accepted but that produced no archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedExport {
    #[serde(rename = "export_task_id")]
    pub id: ExportTaskId,
    /// FAILED, REJECTED or another word for it, as received.
    #[serde(rename = "export_status")]
    pub status: SafeText,
}

impl FailedExport {
    /// The status of a failed job without an export.
    pub const STATUS: &str = "FAILED";
}

impl From<&ExportTask> for FailedExport {
    fn from(task: &ExportTask) -> Self {
        Self { id: task.id, status: SafeText::name(task.state.as_str()) }
    }
}

impl SavedJobState {
    /// Returns the export of the job, if the service has accepted one.
    pub fn export(&self) -> Option<ExportTaskId> {
        match self {
            Self::Running { export_task_id }
            | Self::Completed { export_task_id }
            | Self::Downloaded { export_task_id, .. } => Some(*export_task_id),
            Self::Unwatched { export_task_id } => *export_task_id,
            Self::Failed { export, .. } => export.as_ref().map(|export| export.id),
            Self::Queued
            | Self::Sent
            | Self::Accepted
            | Self::Done { .. }
            | Self::Uncertain { .. } => None,
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(
            self,
            Self::Done { .. }
                | Self::Failed { .. }
                | Self::Downloaded { .. }
                | Self::Uncertain { .. }
        )
    }

    /// Whether the job proceeds without any action of the user, on this machine or at the service.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Queued | Self::Sent | Self::Running { .. } | Self::Accepted)
    }
}

const MAX_RECORDS: usize = 200;

/// Removes the oldest successful jobs beyond the limit. `records` must be sorted by age, the oldest first.
pub fn drop_oldest_finished(records: &mut Vec<JobRecord>) {
    let succeeded = |record: &JobRecord| {
        matches!(record.state, SavedJobState::Downloaded { .. } | SavedJobState::Done { .. })
    };
    while records.len() > MAX_RECORDS
        && let Some(old) = records.iter().position(succeeded)
    {
        records.remove(old);
    }
}
