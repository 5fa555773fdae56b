//! The reasons why background work ends without a result.

use std::io;

use parquet::errors::ParquetError;
use zip::result::ZipError;

use tessera_files::error_name;
use tessera_media::ingest::is_temporary;
use tessera_store::{QueryError, StoreError, is_storage_full};

pub(crate) const DISK_FULL: &str =
    "The disk of the index is full; the work continues when there is space";
pub(crate) const STORAGE_UNREACHABLE: &str =
    "The object storage cannot be reached; the work continues when it can";

/// Why a run leaves its task unfinished in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnfinishedRun {
    /// The task is run again after a pause. The reason for waiting is safe to send to clients.
    RunAgain(&'static str),
    /// The store is damaged, or the task is for another worker.
    Stopped,
}

impl From<StoreError> for UnfinishedRun {
    fn from(cause: StoreError) -> Self {
        if cause.is_damage() || cause.is_lease_lost() {
            return Self::Stopped;
        }
        Self::RunAgain(waiting_reason(&cause))
    }
}

fn waiting_reason(cause: &StoreError) -> &'static str {
    if cause.is_storage_full() { DISK_FULL } else { cause.public_message() }
}

#[derive(Debug)]
pub(crate) enum TaskError {
    /// The deployment is being closed, or the task is for another worker or another run. The task stays unfinished in
    /// the store.
    Stopped,
    /// The disk is full, or the store does not respond or is locked, so the task is run again later. The reason is
    /// safe to send to clients.
    Postponed(&'static str),
    /// The object storage cannot be reached, so the task is run again later, but not forever. The message is safe to
    /// send to the client.
    Unavailable(String),
    /// This machine has no space for an archive. The message is safe to send to the client.
    NoSpace(String),
    /// The task failed. The message is safe to send to the client.
    Failed(String),
}

impl TaskError {
    /// Creates the error for a failed operation. `what` says what failed, for example "the upload could not be
    /// removed". If the disk is full or object storage cannot be reached, the task is run again later.
    pub(crate) fn io(what: &str, cause: &io::Error) -> Self {
        Self::in_storage(format!("{what} ({})", error_name(cause)), cause)
    }

    /// Creates the error for failed object storage, whose messages are safe to send to the client.
    pub(crate) fn storage(cause: &io::Error) -> Self {
        Self::in_storage(format!("object storage failed: {cause}"), cause)
    }

    /// Creates the error for an operation that may have used object storage. If the storage cannot be reached, or the
    /// disk is full, the task is run again.
    pub(crate) fn in_storage(message: String, cause: &io::Error) -> Self {
        if is_storage_full(cause) {
            return Self::Postponed(DISK_FULL);
        }
        if is_temporary(cause) { Self::Unavailable(message) } else { Self::Failed(message) }
    }

    /// Creates the error for an archive that cannot be written. Without space, the export fails unless another machine
    /// can run it, because its user can start it again.
    #[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
    pub(crate) fn archive(cause: io::Error) -> Self {
        let message = format!("the archive could not be written ({})", error_name(&cause));
        if is_storage_full(&cause) { Self::NoSpace(message) } else { Self::Failed(message) }
    }
}

impl From<StoreError> for TaskError {
    fn from(cause: StoreError) -> Self {
        if cause.is_lease_lost() || cause.is_deadlock() || cause.is_stopped() {
            return Self::Stopped;
        }
        if cause.is_storage_full() || cause.is_temporary() {
            return Self::Postponed(waiting_reason(&cause));
        }
        Self::Failed(cause.public_message().to_owned())
    }
}

impl From<QueryError> for TaskError {
    fn from(cause: QueryError) -> Self {
        StoreError::from(cause).into()
    }
}

impl From<ZipError> for TaskError {
    fn from(cause: ZipError) -> Self {
        match cause {
            ZipError::Io(cause) => Self::archive(cause),
            cause => Self::Failed(format!("the archive could not be written ({cause})")),
        }
    }
}

impl From<ParquetError> for TaskError {
    fn from(cause: ParquetError) -> Self {
        Self::Failed(format!("the metadata could not be written ({cause})"))
    }
}
