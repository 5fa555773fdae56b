//! Jobs: what a person started that takes time, and what of it outlives the program.

use std::{path::PathBuf, time::Duration};

use crate::{Archive, DatasetId, ExportSpec, ExportTaskId, SafeText};

/// Time since 1970 by the clock of this machine, so that it means the same after a restart.
pub type Timestamp = Duration;

/// What a job does.
#[derive(Clone, Debug, PartialEq)]
pub enum JobKind {
    /// A dataset, or what is marked in it, becomes an archive.
    Export(ExportJob),
    /// Media come into a dataset.
    AddMedia(AdditionJob),
    /// A dataset is clustered anew.
    Reindex,
}

impl JobKind {
    /// The word for it on screen.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Export(_) => "export",
            Self::AddMedia(_) => "add media",
            Self::Reindex => "reindex",
        }
    }
}

/// An export as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportJob {
    /// How it is exported; the name of the archive on this machine.
    pub spec: ExportSpec,
    /// What is exported when it is not the whole dataset: `3 clusters, 9 media`.
    pub selection: Option<SafeText>,
    /// Where the archive goes.
    pub folder: PathBuf,
    /// Whether it is fetched as soon as it is there.
    pub auto_download: bool,
}

impl ExportJob {
    /// The archive on this machine.
    pub fn target(&self) -> PathBuf {
        self.folder.join(self.spec.file_name.as_str())
    }
}

/// An addition as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdditionJob {
    /// Where the media come from, in words: `folder /data/new`, `s3://bucket/new/`.
    pub source: SafeText,
    /// The same as an option of the command line: `--dir /data/new`.
    pub cli_options: SafeText,
    /// Whether a full reindex follows by itself.
    pub auto_reindex: bool,
}

/// A job as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// When it was started; no two jobs of a person have the same.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// The dataset it works on.
    pub dataset: DatasetId,
    /// Its name when the job was started.
    pub dataset_name: SafeText,
    /// What it does.
    pub kind: JobKind,
    /// How far it was.
    pub state: SavedJobState,
}

/// How far a job was when it was written down.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedJobState {
    /// Waits on this machine until its dataset is free.
    Queued,
    /// Sent, not yet acknowledged.
    Sent,
    /// The service works on the export.
    Running(ExportTaskId),
    /// The service works on the dataset.
    Accepted,
    /// The archive of the export can be fetched.
    Completed(ExportTaskId),
    /// The archive is on this machine.
    Downloaded(Archive),
    /// Over; the status the dataset came to rest in.
    Done(SafeText),
    /// Over, badly; why.
    Failed(SafeText),
    /// It may have been started; why that is not known.
    Uncertain(SafeText),
    /// Not watched any more; the export, to watch it again.
    Unwatched(Option<ExportTaskId>),
}

impl SavedJobState {
    /// The export at the service, as long as it matters here.
    pub fn export(&self) -> Option<ExportTaskId> {
        match self {
            Self::Running(task) | Self::Completed(task) => Some(*task),
            Self::Unwatched(task) => *task,
            Self::Queued
            | Self::Sent
            | Self::Accepted
            | Self::Downloaded(_)
            | Self::Done(_)
            | Self::Failed(_)
            | Self::Uncertain(_) => None,
        }
    }

    /// Whether nothing more happens to the job.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Done(_) | Self::Failed(_) | Self::Downloaded(_) | Self::Uncertain(_) => true,
            Self::Queued
            | Self::Sent
            | Self::Running(_)
            | Self::Accepted
            | Self::Completed(_)
            | Self::Unwatched(_) => false,
        }
    }

    /// Whether the job goes on by itself, here or at the service.
    pub fn is_running(&self) -> bool {
        match self {
            Self::Queued | Self::Sent | Self::Running(_) | Self::Accepted => true,
            Self::Completed(_)
            | Self::Downloaded(_)
            | Self::Done(_)
            | Self::Failed(_)
            | Self::Uncertain(_)
            | Self::Unwatched(_) => false,
        }
    }
}

/// Jobs that are written down.
const MAX_RECORDS: usize = 200;

/// Lets the oldest jobs that ended well go when there are too many; `records` are oldest first.
pub fn drop_oldest_finished(records: &mut Vec<JobRecord>) {
    let is_well = |record: &JobRecord| {
        matches!(record.state, SavedJobState::Downloaded(_) | SavedJobState::Done(_))
    };
    while records.len() > MAX_RECORDS
        && let Some(old) = records.iter().position(is_well)
    {
        records.remove(old);
    }
}
