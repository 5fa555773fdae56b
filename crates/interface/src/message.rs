//! Defines the messages between the core and the worker: requests, responses, and the ticket that pairs them. Come here
//! to add a kind of request.

use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};
use tessera_curation::{
    ActionId, FileAction, FileActionPreview, LastAction, Outcome,
    duplicates::{DuplicateGroup, KeepRule},
};
use tessera_model::{
    Anchor, Archive, ClusterId, Dataset, DatasetId, DatasetTags, Enrichment, EntityType,
    ExportFormat, ExportPart, ExportPreview, ExportSelection, ExportSpec, ExportTask, ExportTaskId,
    Failure, FolderListing, FolderQuery, Granularity, Inspection, LocalDataset, MediaAddition,
    MediaMap, MediaSource, ModelPlan, Overview, Page, PatternLists, PictureSource, Preflight,
    Preview, RecordField, Region, RequestRecord, RescanResult, SafeText, Search, Selection,
    SelectionItem, ShellCommand, StateKey, StateValue, TagChange, TagChangeId, TagDefinitionChange,
    TagEdit, TagTarget, Timestamp,
    check::{Condition, ConditionResult},
    split::SplitPlan,
};
use tessera_picture::{Canvas, Crop, PictureView, Thumbnail};
use tessera_wire::add_media::Accepted;

pub use crate::job::JobId;
use tessera_config::custom_command::{CustomCommand, ReadyCommand};

/// The slot that a response fills. A lane has at most one open request, because a newer request makes the older
/// response stale. A lane of writes can have several, because each response says what its write did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    Datasets,
    Page(Search),
    /// The next members of a cluster that a search has found.
    Members(Search, ClusterId),
    /// The map of what a search finds.
    Map(Search),
    Anchor,
    Dataset(DatasetId),
    Enrichment(DatasetId),
    Overview(DatasetId, EntityType),
    Record(DatasetId),
    /// What a local service knows about a dataset before it is removed.
    ConfirmRemoval(DatasetId),
    /// The files that belong to a dataset of a local folder.
    FilePatterns(DatasetId),
    /// Removing, renaming or rescanning a dataset of a local folder, or cancelling its indexing. It is a write, so it
    /// is never cancelled.
    Manage(DatasetId),
    /// Planning, carrying out or undoing an action on original files. It is a write, so it is never cancelled.
    FileAction(DatasetId),
    /// Choosing the media of a search that differ most.
    SelectDiverse(DatasetId),
    /// Selecting what a search finds and is not selected.
    Rest(DatasetId),
    /// Dividing a dataset into sets. It is a write, so it is never cancelled.
    Split(DatasetId),
    /// Checking a dataset.
    Check(DatasetId),
    /// The tags of a dataset of a local folder.
    Tags(DatasetId),
    /// A change of tags or ratings. It is a write, so it is never cancelled.
    ChangeTags(DatasetId),
    /// The start of an export or a reindex. It is a write, so it is never cancelled.
    StartJob(JobId),
    /// The cancellation of an export. It is a write, so it is never cancelled.
    CancelExport(JobId),
    /// What getting a model would download.
    PlanModel,
    /// The download of a model. It resumes where it was stopped.
    GetModel(JobId),
    /// Giving a dataset a model, and waiting until its media are encoded.
    ApplyModel(JobId),
    /// What only a local service knows about a dataset, and so whether the service is a local one.
    LocalFacts(DatasetId),
    /// An upload of media. Only the user cancels it, after a warning that media may have been accepted if they were
    /// sent completely.
    Upload(JobId),
    Preflight,
    /// Whether an archive can be saved at a path.
    CheckTarget,
    /// What a format omits from a part, with or without images.
    ExportPreview(ExportFormat, bool, ExportPart),
    Export(JobId),
    Download(JobId),
    Picture(PictureView, Canvas),
    Folder(FolderQuery),
    Inspect,
    /// Opening a picture in another program.
    OpenExternally,
    /// Starting one of the user's own commands. It is never cancelled.
    CustomCommand,
    Curl,
    LoginPlaces,
    LoginCheck,
    /// Importing a login. It is never cancelled, because the service may create a key pair.
    LoginImport,
    /// Saving a selection. It is a write, so it is never cancelled.
    SaveSelection,
    /// Loading a saved selection.
    LoadSelection,
    /// The names of the saved selections of a dataset.
    SelectionNames,
    /// Saving a part of the state. It is never cancelled.
    SaveState(StateKey),
    LoadState(StateKey),
}

impl Lane {
    /// Returns whether a request may be aborted when its response is no longer needed.
    pub fn is_cancellable(&self) -> bool {
        self.write_name().is_none()
    }

    /// Returns what the lane's request does if it is a write, which is never cancelled. The end of the program waits for
    /// it.
    pub fn write_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::StartJob(_) => "starting a job",
            Self::CancelExport(_) => "cancelling an export",
            Self::Manage(_) => "changing a dataset",
            Self::FileAction(_) => "acting on files",
            Self::Split(_) => "dividing a dataset",
            Self::ChangeTags(_) => "changing tags",
            Self::LoginImport => "importing a login",
            Self::SaveSelection => "saving a selection",
            Self::CustomCommand => "starting a command",
            Self::SaveState(_) => "saving the state",
            _ => return None,
        })
    }

    /// Returns whether the lane is for one kind of action, so that a later success makes an earlier failure pointless.
    pub fn is_of_one_action(&self) -> bool {
        !matches!(self, Self::ChangeTags(_) | Self::FileAction(_) | Self::Manage(_))
    }

    /// Returns whether a newer request of the lane makes the response to an older one pointless. A write never does,
    /// except for saving a part of the state, which replaces what an older request has saved.
    pub fn is_superseded(&self) -> bool {
        self.is_cancellable() || matches!(self, Self::SaveState(_))
    }

    /// Returns whether the lane's request carries the login, so that the response shows whether the
    /// service accepts the login.
    pub fn carries_login(&self) -> bool {
        // Every lane is named, so that the compiler asks about a new one.
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
            // An import sends another login, and links are followed without a login. Another service may answer with
            // 401 to a path that it does not have, which is each path that the API document does not name.
            Self::LoginImport
            | Self::LocalFacts(_)
            | Self::Members(..)
            | Self::Map(_)
            | Self::Overview(..)
            | Self::ConfirmRemoval(_)
            | Self::FilePatterns(_)
            | Self::Manage(_)
            | Self::Split(_)
            | Self::Check(_)
            | Self::Tags(_)
            | Self::ChangeTags(_)
            | Self::CancelExport(_)
            | Self::ApplyModel(_)
            | Self::ExportPreview(..)
            | Self::FileAction(_)
            | Self::SelectDiverse(_)
            | Self::Rest(_)
            | Self::LoginPlaces
            | Self::Picture(..)
            | Self::OpenExternally
            | Self::CustomCommand
            | Self::PlanModel
            | Self::GetModel(_)
            | Self::Preflight
            | Self::CheckTarget
            | Self::Folder(_)
            | Self::Inspect
            | Self::Curl
            | Self::SaveSelection
            | Self::LoadSelection
            | Self::SelectionNames
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
    /// A page of the members of a cluster.
    Members(Search, ClusterId),
    /// Where the media items that a search finds are on the map of the dataset.
    Map(Search),
    Dataset(DatasetId),
    Enrichment(DatasetId),
    /// How often labels, tags and words occur in a dataset.
    Overview(DatasetId, EntityType),
    Record(DatasetId),
    /// Reads what only a local service knows about a dataset.
    LocalDataset(DatasetId),
    RemoveDataset(DatasetId),
    RenameDataset(DatasetId, String),
    /// Patterns replace those that were chosen for the dataset before.
    Rescan(DatasetId, Option<PatternLists>),
    CancelIndexing(DatasetId),
    /// Finds the originals of a selection, and plans an action on them.
    PlanFileAction(DatasetId, Vec<SelectionItem>, FileAction),
    /// What an action does to the images of these groups that are not kept.
    PlanDuplicateAction(DatasetId, Vec<DuplicateGroup>, FileAction),
    CarryOut(DatasetId, Box<FileActionPreview>),
    /// Describes the last action on files.
    PlanUndo,
    /// Reverts the action that was shown, if it is still the last one.
    UndoFileAction(DatasetId, ActionId),
    /// Groups the near-duplicates of a dataset by a rule that says which of them to keep.
    FindDuplicates(DatasetId, KeepRule),
    /// Chooses this number of images of a search that look least like each other. The response is a selection.
    SelectDiverse(Search, u32),
    /// Selects the images of a search that are not selected, instead of those that are. The response is a selection.
    SelectRest(Search, Vec<SelectionItem>),
    /// Divides a dataset, and saves each set as a selection. Selections of the same names are replaced only on request.
    Split {
        dataset: DatasetId,
        plan: SplitPlan,
        replaces: bool,
    },
    Check(DatasetId, Vec<Condition>),
    Tags(DatasetId),
    ChangeTags(DatasetId, TagTarget, TagEdit),
    DefineTag(DatasetId, String, TagDefinitionChange),
    UndoTags(DatasetId, TagChangeId),
    RegisterAnchor {
        dataset: DatasetId,
        /// The picture to search by. If it is a link, a copy of the picture is uploaded.
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
        selection: ExportSelection,
    },
    CancelExport(DatasetId, ExportTaskId),
    Reindex(DatasetId),
    /// Asks the hub what getting a model would download.
    PlanModel(String),
    GetModel(String),
    /// Makes the model in a folder the one of a dataset, and waits until its media are encoded.
    ApplyModel(DatasetId, PathBuf),
    AddMedia(DatasetId, MediaAddition),
    Preflight(MediaSource),
    /// Checks that an archive can be saved at a path, before its export is started.
    CheckTarget(PathBuf),
    /// Asks what the format omits from the whole dataset or a selection.
    ExportPreview {
        dataset: DatasetId,
        format: ExportFormat,
        images: bool,
        selection: Option<ExportSelection>,
    },
    ExportStatus(DatasetId, ExportTaskId),
    /// Downloads an archive, verifies it, and moves it to `target`.
    Download {
        dataset: DatasetId,
        task: ExportTaskId,
        /// The path of the archive. An existing file is never overwritten.
        target: PathBuf,
    },
    Picture(PictureSource, Crop, Canvas),
    /// Draws where two pictures differ. The response is a picture.
    Difference([PictureSource; 2], Crop, Canvas),
    Folder(FolderQuery),
    Inspect(PathBuf),
    OpenExternally(PictureSource),
    RunCustomCommand(Box<CustomCommandRun>),
    Curl(CopyableRead),
    LoginPlaces,
    /// Reads a dataset, or the list of datasets, to check whether the login is accepted.
    CheckLogin(Option<DatasetId>),
    ImportLogin(LoginImport),
    /// Saves a selection to a file that must not exist yet.
    SaveSelection(PathBuf, DatasetId, Selection),
    LoadSelection(PathBuf, DatasetId),
    /// Saves a selection under a name, replacing an older one.
    SaveNamed(String, DatasetId, Selection),
    LoadNamed(String, DatasetId),
    SelectionNames(DatasetId),
    SaveState(StateValue),
    LoadState(StateKey),
}

/// One of the user's own commands, and what it acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomCommandRun {
    pub command: CustomCommand,
    pub dataset: DatasetId,
    pub selection: Selection,
    /// The beginning of a `tessera` command for the deployment of the dataset.
    pub tessera: ShellCommand,
}

/// A typed secret. `Debug` does not show it.
#[derive(Clone, Debug)]
pub struct TypedSecret(pub SecretString);

impl PartialEq for TypedSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

/// The login that replaces the present one.
#[derive(Clone, Debug, PartialEq)]
pub enum LoginImport {
    /// A key pair of the user, which is checked before it is used.
    KeyPair { api_key: String, api_secret: TypedSecret, store: bool },
    /// The session of a signed-in browser, for which the service issues a key pair.
    Session(TypedSecret),
}

/// Where secrets of the deployment are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginPlaces {
    /// Where the present secret is stored.
    pub current: SafeText,
    /// Where a new secret would be stored.
    pub new: SafeText,
    /// Whether `new` is a plain file, which needs the user's consent.
    pub needs_consent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedLogin {
    pub api_key: SafeText,
    pub stored_in: Option<SafeText>,
    /// The service's message about the key pair.
    pub message: Option<SafeText>,
}

/// A read that can be copied as a `curl` command.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyableRead {
    Dataset(DatasetId),
    Page(Search),
    Export(DatasetId, ExportTaskId),
}

/// A set of a divided dataset that was saved as a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSet {
    pub name: SafeText,
    /// The number of media items.
    pub media: usize,
    /// The reason if there are no media items.
    pub why_empty: Option<SafeText>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// The request succeeded, and there is nothing else to say.
    Done,
    /// The datasets, and the number of rows that could not be read.
    Datasets(Vec<Dataset>, usize),
    Page(Page),
    Members(Vec<Preview>),
    Map(MediaMap),
    Dataset(Box<Dataset>),
    Enrichment(Enrichment),
    Overview(Overview),
    Record(Vec<RecordField>),
    LocalDataset(LocalDataset),
    /// The number of uploads that a removal has kept.
    DatasetRemoved(u64),
    /// The new name of a dataset.
    DatasetRenamed(SafeText),
    Rescanned(RescanResult),
    /// The name of the dataset.
    IndexingCancelled(SafeText),
    FileActionPlanned(Box<FileActionPreview>),
    UndoPlanned(LastAction),
    /// An action on the files of the selection was carried out.
    FileActionFinished(FileAction, Outcome),
    FileActionUndone(Outcome),
    Duplicates(Vec<DuplicateGroup>),
    SetsSaved(Vec<SavedSet>),
    /// Saved selections have these names of sets already, so nothing was divided.
    SetNamesTaken(Vec<SafeText>),
    Checked(Vec<ConditionResult>),
    Tags(DatasetTags),
    TagsChanged(TagChange),
    Anchor(Anchor),
    Export(ExportTask),
    ExportPreview(ExportPreview),
    /// The service accepted the job and returned nothing else.
    Accepted(Accepted),
    Preflight(Preflight),
    ModelPlanned(ModelPlan),
    /// The folder of a model that was downloaded.
    ModelFolder(PathBuf),
    Downloaded(Archive),
    Picture(Thumbnail),
    Folder(FolderListing),
    Inspection(Box<Inspection>),
    /// The user's own command was started, or is ready for the terminal.
    CustomCommandStarted(Option<ReadyCommand>),
    /// A `curl` command, which contains no secrets.
    Curl(ShellCommand),
    LoginPlaces(LoginPlaces),
    LoginImported(ImportedLogin),
    SelectionSaved(PathBuf),
    Selection(DatasetId, Selection),
    SelectionNames(Vec<SafeText>),
    /// The value, if it was ever saved.
    StateLoaded(Option<StateValue>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub ticket: Ticket,
    pub result: Result<Payload, Failure>,
}

/// The progress of a long request, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    pub ticket: Ticket,
    pub done: u64,
    pub total: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    Response(Response),
    Progress(RequestProgress),
    /// The client has finished a request to the service.
    Exchange(RequestRecord),
    /// Requests carry a new token, which expires at this time.
    TokenIssued(Timestamp),
    /// Something outside of the requests does not work, or a field of a response cannot be read. Each warning is
    /// reported once.
    Warning(SafeText),
}
