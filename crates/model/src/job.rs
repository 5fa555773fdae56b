//! Jobs: what a person started that takes time, and what of it outlives the program.

use std::{path::PathBuf, time::Duration};

use crate::{
    Archive, DatasetId, ExportSpec, ExportTaskId, MediaAddition, MediaSource, SafeText,
    shell::quote,
};

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

    /// The command line that does the same to `dataset`.
    pub fn command_line(&self, dataset: DatasetId) -> String {
        match self {
            Self::Export(export) => {
                let images = if export.spec.include_images { " --images" } else { "" };
                let what = if export.selection.is_some() { " --selection NAME" } else { "" };
                let (format, name) =
                    (export.spec.format.word(), quote(export.spec.file_name.as_str()));
                format!(
                    "tessera export start {dataset}{what} --format {format}{images} --name {name}"
                )
            }
            Self::AddMedia(addition) => {
                let reindex = if addition.auto_reindex { " --reindex" } else { "" };
                format!("tessera media add {dataset} {}{reindex}", addition.cli_options)
            }
            Self::Reindex => format!("tessera reindex {dataset} --wait"),
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

impl AdditionJob {
    /// An addition in words. Some of its paths are `folders`; what the disk knows, this does not.
    pub fn from_request(addition: &MediaAddition, folders: &[PathBuf]) -> Self {
        let name = |path: &PathBuf| path.to_string_lossy().into_owned();
        let (source, option) = match &addition.source {
            MediaSource::Storage(uri) => (uri.clone(), format!("--s3 {}", quote(uri))),
            MediaSource::Archive(path) => (name(path), format!("--archive {}", quote(&name(path)))),
            MediaSource::ServerPath(path) => {
                (path.clone(), format!("--server-path {}", quote(path)))
            }
            MediaSource::Files(paths) => {
                let words = match paths.as_slice() {
                    [only] => name(only),
                    many => format!("{} files and folders", many.len()),
                };
                let options = paths.iter().map(|path| {
                    let flag = if folders.contains(path) { "--dir" } else { "--file" };
                    format!("{flag} {}", quote(&name(path)))
                });
                (words, options.collect::<Vec<_>>().join(" "))
            }
        };
        Self {
            source: SafeText::file_name(&source),
            cli_options: SafeText::file_name(&(option + &extra_options(addition))),
            auto_reindex: addition.auto_reindex,
        }
    }
}

/// What is asked for beside the media, as options with a space before each. The reindex is not among
/// them.
fn extra_options(addition: &MediaAddition) -> String {
    let counts = [
        ("images", addition.batch_images),
        ("videos", addition.batch_videos),
        ("objects", addition.batch_objects),
    ];
    let mut options: String = counts
        .iter()
        .filter_map(|(what, count)| Some(format!(" --batch-{what} {}", (*count)?)))
        .collect();
    let role = addition.assume_role.iter();
    options.extend(role.map(|role| format!(" --assume-role {}", quote(role))));
    let spot = addition.spot.map(|spot| if spot { " --spot=on" } else { " --spot=off" });
    options + spot.unwrap_or_default()
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
