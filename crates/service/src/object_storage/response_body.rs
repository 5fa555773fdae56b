//! Reading the bodies of responses within limits.

use futures_util::StreamExt as _;
use object_store::GetResult;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::error::{StorageAttemptError, StorageError};

/// Copies a response body and returns its length. `check` can refuse the number of bytes so far.
pub async fn copy_body(
    response: GetResult,
    out: &mut (impl AsyncWrite + Unpin),
    mut check: impl FnMut(u64) -> Result<(), StorageError>,
) -> Result<u64, StorageAttemptError> {
    let mut chunks = response.into_stream();
    let mut length = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
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
