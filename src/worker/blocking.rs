//! Work that waits for the disk.

use tessera_model::Failure;

/// Runs work that blocks on a thread of its own. A panic is an internal error.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Failure::internal_error()))
}
