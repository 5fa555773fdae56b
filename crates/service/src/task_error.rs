//! Why background work ends without a result.

use std::io;

use parquet::errors::ParquetError;
use zip::result::ZipError;

use crate::store::StoreError;

#[derive(Debug)]
pub(crate) enum TaskError {
    /// The deployment is being closed; the task stays unfinished in the store.
    Stopped,
    /// The message is fit for the client.
    Failed(String),
}

impl From<StoreError> for TaskError {
    fn from(_: StoreError) -> Self {
        Self::Failed(StoreError::PUBLIC_MESSAGE.to_owned())
    }
}

impl From<rusqlite::Error> for TaskError {
    fn from(cause: rusqlite::Error) -> Self {
        StoreError::from(cause).into()
    }
}

impl From<io::Error> for TaskError {
    fn from(cause: io::Error) -> Self {
        Self::Failed(format!("the archive could not be written ({})", cause.kind()))
    }
}

impl From<ZipError> for TaskError {
    fn from(cause: ZipError) -> Self {
        Self::Failed(format!("the archive could not be written ({cause})"))
    }
}

impl From<ParquetError> for TaskError {
    fn from(cause: ParquetError) -> Self {
        Self::Failed(format!("the metadata could not be written ({cause})"))
    }
}
