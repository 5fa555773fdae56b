//! Why a task ends without a result.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{archive::ArchiveError, store::StoreError};

/// Why a task ends without a result.
#[derive(Debug)]
pub enum TaskError {
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
        ArchiveError::from(cause).into()
    }
}

impl From<ArchiveError> for TaskError {
    fn from(cause: ArchiveError) -> Self {
        match cause {
            ArchiveError::Stopped => Self::Stopped,
            ArchiveError::Failed(message) => Self::Failed(message),
        }
    }
}

/// Runs a task unless it was stopped before. A panic fails this task, not those queued behind it.
pub fn catch_panics<T>(
    stop: &AtomicBool,
    run: impl FnOnce() -> Result<T, TaskError>,
) -> Result<T, TaskError> {
    if stop.load(Ordering::Relaxed) {
        return Err(TaskError::Stopped);
    }
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(TaskError::Failed("an internal error ended it".to_owned())))
}
