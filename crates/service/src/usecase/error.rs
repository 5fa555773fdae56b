//! The reasons why a request cannot be fulfilled. Messages are safe to send to the client, because they contain no
//! local paths and no SQL.

use tessera_media::ingest::{is_refused, is_temporary, is_unavailable};
use tessera_retrieval::RetrievalError;
use tessera_store::{StoreError, is_storage_full};
use tessera_wire::selection::SelectionError;

/// The message for a model that cannot be read. The cause is not shown, because it contains local paths.
pub(crate) const UNREADABLE_MODEL: &str =
    "the model of the dataset cannot be read; open its folder again with --model";

#[derive(Debug)]
pub(crate) enum ServiceError {
    NotFound(String),
    /// The file of a media item is no longer the indexed one.
    ChangedFile,
    /// The settings of the deployment forbid the request.
    Forbidden(String),
    /// The state of the dataset forbids the request for now.
    Conflict(String),
    Invalid(String),
    /// The path of a folder to add is not absolute.
    RelativePath,
    /// The body of a selective export is wrong.
    Selection(SelectionError),
    Retrieval(RetrievalError),
    /// The client asks for too much at once.
    TooMany(&'static str),
    /// The service cannot do this at the moment.
    Unavailable(&'static str),
    /// Object storage does not send a file, or cannot be used at all.
    Refused(String),
    Failed(&'static str),
}

impl ServiceError {
    /// Creates an error whose cause the client cannot act on.
    pub(crate) fn internal() -> Self {
        Self::Failed("The service could not do this because of a fault of its own")
    }

    /// Returns the message for the user of this machine.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::NotFound(text)
            | Self::Forbidden(text)
            | Self::Conflict(text)
            | Self::Invalid(text)
            | Self::Refused(text) => text.clone(),
            Self::TooMany(text) | Self::Unavailable(text) | Self::Failed(text) => {
                (*text).to_owned()
            }
            Self::ChangedFile => "a file has changed since it was indexed".to_owned(),
            Self::RelativePath => "the path is not absolute".to_owned(),
            Self::Selection(cause) => cause.to_string(),
            Self::Retrieval(_) => "the members of a selected cluster cannot be found".to_owned(),
        }
    }

    /// Converts an error of writing a file of an export. Other file errors are not converted here, because each names
    /// what failed.
    #[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
    pub(crate) fn export_file(cause: std::io::Error) -> Self {
        if is_storage_full(&cause) {
            return Self::no_space();
        }
        Self::Failed("The export could not be written")
    }

    /// Converts an error of reading a thumbnail or the picture of a frame from the bucket.
    #[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
    pub(crate) fn unreadable_picture(cause: std::io::Error) -> Self {
        Self::source_failure(&cause).unwrap_or(Self::Failed(
            "The object storage has lost or damaged this picture; restore it from a backup",
        ))
    }

    /// Returns the error for object storage that cannot be read at the moment. Returns `None` if only the file is the
    /// cause.
    pub(crate) fn source_failure(cause: &std::io::Error) -> Option<Self> {
        if is_refused(cause) {
            return Some(Self::Refused(format!(
                "The object storage does not send the file ({cause}); check the access key and the object"
            )));
        }
        if is_temporary(cause) {
            return Some(Self::storage_unreachable());
        }
        is_unavailable(cause).then(|| {
            Self::Refused(format!(
                "The object storage cannot be used ({cause}); check the access key and the settings of the service"
            ))
        })
    }

    pub(crate) fn storage_unreachable() -> Self {
        Self::Unavailable("The object storage cannot be reached; try again later")
    }

    pub(crate) fn no_space() -> Self {
        Self::Unavailable("There is not enough free disk space for an export")
    }

    pub(crate) fn dataset_not_found() -> Self {
        Self::NotFound("Dataset not found".to_owned())
    }

    pub(crate) fn media_not_found() -> Self {
        Self::NotFound("Media not found".to_owned())
    }

    /// The error of a media item that is in the index, but whose file is not in the folder.
    pub(crate) fn original_not_found() -> Self {
        Self::NotFound("Original file not found".to_owned())
    }

    pub(crate) fn export_not_found() -> Self {
        Self::NotFound("Export task not found".to_owned())
    }
}

impl From<StoreError> for ServiceError {
    fn from(cause: StoreError) -> Self {
        if cause.is_temporary() {
            return Self::Unavailable(cause.public_message());
        }
        Self::Failed(cause.public_message())
    }
}

impl From<SelectionError> for ServiceError {
    fn from(cause: SelectionError) -> Self {
        Self::Selection(cause)
    }
}

impl From<RetrievalError> for ServiceError {
    fn from(cause: RetrievalError) -> Self {
        match cause {
            RetrievalError::Store(cause) => cause.into(),
            RetrievalError::UnreadableThumbnail(cause) => Self::unreadable_picture(cause),
            RetrievalError::UnreadableModel(_) => Self::Failed(UNREADABLE_MODEL),
            cause => Self::Retrieval(cause),
        }
    }
}
