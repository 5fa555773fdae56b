//! Why an archive is not written.

use std::io;

use ::parquet::errors::ParquetError;
use zip::result::ZipError;

use crate::store::StoreError;

/// Why an archive is not written.
#[derive(Debug)]
pub(crate) enum ArchiveError {
    /// The progress callback asked to stop.
    Stopped,
    /// The message is fit for the client.
    Failed(String),
}

impl From<io::Error> for ArchiveError {
    fn from(cause: io::Error) -> Self {
        Self::Failed(format!("the archive could not be written ({})", cause.kind()))
    }
}

impl From<ZipError> for ArchiveError {
    fn from(cause: ZipError) -> Self {
        Self::Failed(format!("the archive could not be written ({cause})"))
    }
}

impl From<ParquetError> for ArchiveError {
    fn from(cause: ParquetError) -> Self {
        Self::Failed(format!("the metadata could not be written ({cause})"))
    }
}

impl From<StoreError> for ArchiveError {
    fn from(_: StoreError) -> Self {
        Self::Failed(StoreError::PUBLIC_MESSAGE.to_owned())
    }
}

impl From<rusqlite::Error> for ArchiveError {
    fn from(cause: rusqlite::Error) -> Self {
        StoreError::from(cause).into()
    }
}
