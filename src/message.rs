//! Messages between app and worker: requests, responses, and the ticket that pairs them.

use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use tessera_model::{
    Anchor, Archive, Dataset, DatasetId, Enrichment, EntityType, ExportFormat, ExportSpec,
    ExportTask, ExportTaskId, Failure, FolderListing, Granularity, Inspection, MediaAddition,
    MediaSource, Page, PictureSource, Preflight, RecordField, Region, SafeText, Search, Selection,
    SelectionItem, ShellCommand, StateKey, StateValue,
};
use tessera_picture::{Canvas, Crop, PictureView, Thumbnail};
use tessera_wire::add_media::Accepted;

pub use crate::job::JobId;

/// The slot that a response fills. A lane has at most one open request; a newer request makes the
/// older response stale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    Datasets,
    Page(Search),
    Anchor,
    Dataset(DatasetId),
    Enrichment(DatasetId),
    Record(DatasetId),
    /// The start of an export or a reindex: a write, so never cancelled.
    StartJob(JobId),
    /// An upload of media. Only the user cancels it, and is warned that media that were sent completely
    /// may have been accepted.
    Upload(JobId),
    Preflight,
    Export(JobId),
    Download(JobId),
    Picture(PictureView, Canvas),
    Folder(PathBuf),
    Inspect,
    /// A picture that opens in another program.
    OpenExternally,
    Curl,
    LoginPlaces,
    LoginCheck,
    /// Never cancelled, because the service may create a key pair.
    LoginImport,
    /// A selection file that is saved or loaded; never cancelled.
    Selection,
    /// Never cancelled.
    SaveState(StateKey),
    LoadState(StateKey),
}

impl Lane {
    /// Whether a request may be aborted when its response is no longer needed.
    pub fn is_cancellable(&self) -> bool {
        !matches!(
            self,
            Self::StartJob(_) | Self::LoginImport | Self::Selection | Self::SaveState(_)
        )
    }

    /// Whether its request carries the login, so that its response shows whether it is accepted.
    pub fn carries_login(&self) -> bool {
        // Every lane is named, so that a new one is not forgotten.
        match self {
            Self::Datasets
            | Self::Page(_)
            | Self::Anchor
            | Self::Dataset(_)
            | Self::Enrichment(_)
            | Self::Record(_)
            | Self::StartJob(_)
            | Self::Upload(_)
            | Self::Export(_)
            | Self::Download(_)
            | Self::LoginCheck => true,
            // An import sends another login, and links are followed without one.
            Self::LoginImport
            | Self::LoginPlaces
            | Self::Picture(..)
            | Self::OpenExternally
            | Self::Preflight
            | Self::Folder(_)
            | Self::Inspect
            | Self::Curl
            | Self::Selection
            | Self::SaveState(_)
            | Self::LoadState(_) => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub lane: Lane,
    /// Distinguishes this request from older ones of the same lane.
    pub number: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Datasets,
    Explore(Search),
    Dataset(DatasetId),
    Enrichment(DatasetId),
    Record(DatasetId),
    RegisterAnchor {
        dataset: DatasetId,
        /// If it is a link, a copy of the picture is uploaded.
        image: PictureSource,
        entity: EntityType,
        /// The granularity that later searches must repeat.
        granularity: Granularity,
        /// The region of the upright picture to search by.
        region: Option<Region>,
    },
    StartExport(DatasetId, ExportSpec),
    StartSelectionExport {
        dataset: DatasetId,
        format: ExportFormat,
        images: bool,
        items: Vec<SelectionItem>,
    },
    Reindex(DatasetId),
    AddMedia(DatasetId, MediaAddition),
    Preflight(MediaSource),
    ExportStatus(DatasetId, ExportTaskId),
    /// Download an archive, verify it, and move it to `target`.
    Download {
        dataset: DatasetId,
        task: ExportTaskId,
        /// Never overwritten.
        target: PathBuf,
    },
    Picture(PictureSource, Crop, Canvas),
    /// Where two pictures differ; its response is a picture.
    Difference([PictureSource; 2], Crop, Canvas),
    Folder(PathBuf),
    Inspect(PathBuf),
    OpenExternally(PictureSource),
    Curl(ReadRequest),
    LoginPlaces,
    /// Read a dataset, or the list of datasets, to see whether the login is accepted.
    CheckLogin(Option<DatasetId>),
    ImportLogin(LoginImport),
    /// Save a selection to a file that must not exist yet.
    SaveSelection(PathBuf, DatasetId, Selection),
    OpenSelection(PathBuf, DatasetId),
    /// Save a selection under a name, replacing an older one.
    SaveNamed(String, DatasetId, Selection),
    OpenNamed(String, DatasetId),
    SaveState(StateValue),
    Recall(StateKey),
}

/// A typed secret. `Debug` does not show it.
#[derive(Clone, Debug)]
pub struct TypedSecret(pub SecretString);

impl PartialEq for TypedSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

/// What the login is replaced with.
#[derive(Clone, Debug, PartialEq)]
pub enum LoginImport {
    /// A key pair of the user, which is checked first.
    KeyPair { api_key: String, api_secret: TypedSecret, store: bool },
    /// The session of a signed-in browser, for which the service issues a key pair.
    Session(TypedSecret),
}

/// Where secrets of the deployment are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginPlaces {
    /// Where the present one is.
    pub current: SafeText,
    /// Where a new one would be.
    pub new: SafeText,
    /// Whether that is a plain file.
    pub needs_consent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedLogin {
    pub api_key: SafeText,
    pub stored_in: Option<SafeText>,
    /// What the service says about the key pair.
    pub message: Option<SafeText>,
}

/// A read that can be copied as a `curl` command.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadRequest {
    Dataset(DatasetId),
    Page(Search),
    Export(DatasetId, ExportTaskId),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The datasets, and the number of unreadable rows.
    Datasets(Vec<Dataset>, usize),
    Page(Page),
    Dataset(Dataset),
    Enrichment(Enrichment),
    Record(Vec<RecordField>),
    Anchor(Anchor),
    Export(ExportTask),
    /// The service accepted the job and returned nothing else.
    Accepted(Accepted),
    Preflight(Preflight),
    Downloaded(Archive),
    Picture(Thumbnail),
    Folder(FolderListing),
    Inspection(Box<Inspection>),
    OpenedExternally,
    /// Without secrets.
    Curl(ShellCommand),
    LoginPlaces(LoginPlaces),
    LoginAccepted,
    LoginImported(ImportedLogin),
    SelectionSaved(PathBuf),
    Selection(DatasetId, Selection),
    StateSaved,
    /// The value, if it was ever saved.
    StateLoaded(Option<StateValue>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub ticket: Ticket,
    pub result: Result<Payload, Failure>,
}

/// Progress of a long request, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    pub ticket: Ticket,
    pub done: u64,
    pub total: Option<u64>,
}
