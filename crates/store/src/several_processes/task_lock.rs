//! The lock that decides which process runs the tasks of a store in a file. Any number of processes accept tasks and
//! read the store, but one of them runs the tasks. When this process ends, even if it is killed, the operating system
//! releases the lock, and the next process that asks for it takes over.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{StoreError, lock};
use tessera_files::open_locked;

/// The lock on the tasks, which is held from the time when it is taken until this value is dropped.
pub(crate) struct TaskLock {
    path: PathBuf,
    held: Mutex<Option<File>>,
}

impl TaskLock {
    pub fn new(data: &Path) -> Self {
        Self { path: data.join("tasks-lock"), held: Mutex::default() }
    }

    pub fn is_held(&self) -> bool {
        lock(&self.held).is_some()
    }

    /// Takes the lock unless another process has it, and then runs `prepare`. Returns whether this process has the
    /// lock.
    pub fn take(
        &self,
        prepare: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let mut held = lock(&self.held);
        if held.is_none() {
            let taken = open_locked(&self.path);
            let taken = taken.map_err(|cause| StoreError::Io(self.path.clone(), cause))?;
            if taken.is_some() {
                prepare()?;
            }
            *held = taken;
        }
        Ok(held.is_some())
    }
}
