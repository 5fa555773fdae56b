//! The words between app and worker: what is asked, what comes back, and the ticket that pairs
//! the two. Everything here is a plain value that can be compared and printed, so a test can say
//! "after this key, exactly this request".

use std::{path::PathBuf, sync::Arc};

use tessera_model::{
    Anchor, Archive, Dataset, DatasetId, Enrichment, EntityType, ExportFormat, ExportSpec,
    ExportTask, ExportTaskId, Failure, FolderListing, Granularity, Inspection, Link, MediaAddition,
    MediaSource, Page, PictureSource, Preflight, RecordField, Region, Search, Selection,
    SelectionItem, StateKey, StateValue,
};
use tessera_picture::{Canvas, Crop, PictureView, Thumbnail};

/// A job of this program, from the moment the person starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub u32);

/// The slot an answer fills. A lane has at most one open request; opening it again makes the
/// older answer stale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// The list of datasets.
    Datasets,
    /// One page of clusters.
    Page(Search),
    /// The registration of a query image.
    Anchor,
    /// One dataset that the list may lack.
    Dataset(DatasetId),
    /// The enrichments of a dataset.
    Enrichment(DatasetId),
    /// Every field of a dataset's record.
    Record(DatasetId),
    /// The start of a job: an export, a reindex; a write, so never cancelled.
    StartJob(JobId),
    /// The sending of media, and the answer to it. Given up by a person only, who is told that what
    /// was sent whole may have been taken on.
    Upload(JobId),
    /// What a source of media holds.
    Preflight,
    /// The state of an export.
    Export(JobId),
    /// The archive of an export.
    Download(JobId),
    /// One picture, or a part of it, at one size.
    Picture(PictureView, Canvas),
    /// What is in a folder of this machine.
    Folder(PathBuf),
    /// What is in the archive of an export.
    Inspect,
    /// The opening of a picture in another program.
    OpenExternally,
    /// The bytes of the picture that is to be shown full size.
    Original,
    /// A `curl` command.
    Curl,
    /// A selection that is saved to a file or opened from one; never cancelled.
    Selection,
    /// The writing of something that outlives the program; never cancelled.
    SaveState(StateKey),
    /// The reading of it.
    LoadState(StateKey),
}

impl Lane {
    /// Whether leaving the place the answer was for may abort the work. Writes go on.
    pub fn is_cancellable(&self) -> bool {
        !matches!(self, Self::StartJob(_) | Self::Selection | Self::SaveState(_))
    }
}

/// Pairs a request with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The slot the answer fills.
    pub lane: Lane,
    /// Distinguishes this request from older ones of the same lane.
    pub number: u64,
}

/// What the worker is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// List the datasets.
    Datasets,
    /// Fetch one page of clusters.
    Explore(Search),
    /// Read one dataset.
    Dataset(DatasetId),
    /// Read the enrichments of a dataset.
    Enrichment(DatasetId),
    /// Read every field of a dataset's record.
    Record(DatasetId),
    /// Register a picture as query image.
    RegisterAnchor {
        /// The dataset to be searched.
        dataset: DatasetId,
        /// The picture; behind a link, a copy of it is uploaded.
        image: PictureSource,
        /// Images or objects.
        entity: EntityType,
        /// The granularity that the later exploring must repeat.
        granularity: Granularity,
        /// The part of the upright picture that counts.
        region: Option<Region>,
    },
    /// Start an export of a whole dataset.
    StartExport(DatasetId, ExportSpec),
    /// Start an export of a selection.
    StartSelectionExport {
        /// The dataset it is of.
        dataset: DatasetId,
        /// Format of the metadata.
        format: ExportFormat,
        /// Whether the pictures come along.
        images: bool,
        /// What is exported.
        items: Vec<SelectionItem>,
    },
    /// Cluster a dataset anew.
    Reindex(DatasetId),
    /// Add media to a dataset.
    AddMedia(DatasetId, MediaAddition),
    /// Look at media before they are sent.
    Preflight(MediaSource),
    /// Ask where an export stands.
    ExportStatus(DatasetId, ExportTaskId),
    /// Fetch an archive, verify it, and put it at `target`.
    Download {
        /// The dataset, to ask for a fresh link when the old one has expired.
        dataset: DatasetId,
        /// The export, for the same reason.
        task: ExportTaskId,
        /// Where the archive goes; never overwritten.
        target: PathBuf,
    },
    /// Make what is shown of a picture fit a canvas.
    Picture(PictureSource, Crop, Canvas),
    /// List a folder of this machine.
    Folder(PathBuf),
    /// Look into the archive of an export.
    Inspect(PathBuf),
    /// Open a picture in the viewer of the desktop.
    OpenExternally(PictureSource),
    /// Fetch a picture as it is.
    Original(Link),
    /// Spell a read as a `curl` command.
    Curl(ReadRequest),
    /// Save what is marked in a dataset as a selection file, which must not exist yet.
    SaveSelection(PathBuf, DatasetId, Selection),
    /// Open a selection file of a dataset.
    OpenSelection(PathBuf, DatasetId),
    /// Keep what is marked in a dataset under a name, in the place of an older one of this name.
    SaveNamed(String, DatasetId, Selection),
    /// Open the selection of a dataset that was kept under a name.
    OpenNamed(String, DatasetId),
    /// Keep something beyond the end of the program.
    SaveState(StateValue),
    /// Give back what was kept.
    Recall(StateKey),
}

/// A read that a person may want to do without this program.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadRequest {
    /// The record of a dataset.
    Dataset(DatasetId),
    /// One page of clusters.
    Page(Search),
    /// The state of an export.
    Export(DatasetId, ExportTaskId),
}

/// What the worker found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The datasets, and how many rows could not be read.
    Datasets(Vec<Dataset>, usize),
    /// One page of clusters.
    Page(Page),
    /// One dataset.
    Dataset(Dataset),
    /// The enrichments of a dataset.
    Enrichment(Enrichment),
    /// Every field of a dataset's record.
    Record(Vec<RecordField>),
    /// The registered anchor.
    Anchor(Anchor),
    /// A started or polled export.
    Export(ExportTask),
    /// The service has taken on the job that was to be started, and says no more about it.
    Accepted,
    /// What was found in a source of media.
    Preflight(Preflight),
    /// A verified archive.
    Downloaded(Archive),
    /// A picture, ready to be drawn.
    Picture(Thumbnail),
    /// What is in a folder.
    Folder(FolderListing),
    /// What is in an archive.
    Inspection(Box<Inspection>),
    /// Another program shows the picture.
    Outside,
    /// The bytes of a picture, not decoded.
    Original(Arc<[u8]>),
    /// A `curl` command, without secrets.
    Curl(String),
    /// The selection is in this file.
    SelectionSaved(PathBuf),
    /// The selection of a dataset that a file holds.
    Selection(DatasetId, Selection),
    /// It is kept.
    StateSaved,
    /// What was kept, if anything was.
    StateLoaded(Option<StateValue>),
}

/// An answer with the ticket of its request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The ticket of the request.
    pub ticket: Ticket,
    /// The answer, or why there is none.
    pub result: Result<Payload, Failure>,
}

/// How far a long request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    /// The ticket of the request.
    pub ticket: Ticket,
    /// Bytes so far.
    pub done: u64,
    /// Bytes in all, when known.
    pub total: Option<u64>,
}
