//! Reading the bodies of responses within limits.

use reqwest::Response;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::error::{StorageAttemptError, StorageError};

pub async fn read_text(response: Response, limit: u64) -> Result<String, StorageAttemptError> {
    let mut bytes = Vec::new();
    let too_large = || StorageError::service("the storage response is too large");
    copy_body(response, &mut bytes, |length| ensure(length <= limit, too_large)).await?;
    String::from_utf8(bytes).map_err(|_| not_object_storage())
}

/// Copies a response body and returns its length. `check` can refuse the number of bytes so far.
pub async fn copy_body(
    mut response: Response,
    out: &mut (impl AsyncWrite + Unpin),
    mut check: impl FnMut(u64) -> Result<(), StorageError>,
) -> Result<u64, StorageAttemptError> {
    let mut length = 0;
    while let Some(chunk) = response.chunk().await? {
        length += chunk.len() as u64;
        check(length)?;
        out.write_all(&chunk).await?;
    }
    out.flush().await?;
    Ok(length)
}

pub fn ensure(valid: bool, error: impl FnOnce() -> StorageError) -> Result<(), StorageError> {
    if valid { Ok(()) } else { Err(error()) }
}

pub fn not_object_storage() -> StorageAttemptError {
    StorageError::service("the server is not an object storage service").into()
}
