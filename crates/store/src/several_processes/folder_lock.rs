//! Locks an index folder by an advisory lock on a file that contains a process id. The lock ends with the process. All
//! processes share the folder. A process that finds no other process there has the folder to itself until it shares
//! it, so that it can check and repair what is in the folder. The folder also lists the workers that ran tasks from it
//! for a store on a server, so that the tasks of these workers need not wait until leases expire when no process uses
//! the folder any more.
//!
//! A second lock decides which process runs the tasks of a store in a file. Any number of processes accept tasks and
//! read the store, but one of them runs the tasks. When this process ends, even if it is killed, the operating system
//! releases the lock, and the next process that asks for it takes over.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use crate::StoreError;
use tessera_files::{
    if_exists, open_locked, private_file, restrict, share_lock, try_lock, try_lock_shared,
};
use uuid::Uuid;

/// The number of attempts to take a lock that another process has to itself. A check of a large store after a crash of
/// the system takes minutes.
const ATTEMPTS: u32 = 6000;
const PAUSE: Duration = Duration::from_millis(100);

/// The lock of an index folder, which is released when this value is dropped.
pub(crate) struct FolderLock {
    path: PathBuf,
    file: File,
    is_exclusive: AtomicBool,
}

impl FolderLock {
    /// Takes the lock exclusively if no other process has it. Otherwise, shares it, as soon as no process has the
    /// folder to itself.
    pub(crate) fn take(data: &Path) -> Result<Self, StoreError> {
        let mut lock = Self::open(data)?;
        let mut attempt = 1;
        loop {
            if lock.attempt(try_lock)? {
                lock.write_process_id()?;
                return Ok(lock);
            }
            if lock.attempt(try_lock_shared)? {
                *lock.is_exclusive.get_mut() = false;
                return Ok(lock);
            }
            if attempt == ATTEMPTS {
                return Err(StoreError::Busy(data.to_owned(), process_id(&mut lock.file)));
            }
            thread::sleep(PAUSE);
            attempt += 1;
        }
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.is_exclusive.load(Ordering::Relaxed)
    }

    /// Allows other processes to share the lock. This has no effect if they already may.
    pub fn share(&self) -> Result<(), StoreError> {
        if self.is_exclusive.swap(false, Ordering::Relaxed) {
            share_lock(&self.file).map_err(|cause| StoreError::Io(self.path.clone(), cause))?;
        }
        Ok(())
    }

    /// Takes a shared lock exclusively at the end. Returns whether no other process has the lock. If one has, this
    /// process may have lost its share.
    pub fn is_last(&self) -> bool {
        self.is_exclusive() || try_lock(&self.file).unwrap_or(false)
    }

    fn open(data: &Path) -> Result<Self, StoreError> {
        let path = data.join("lock");
        let disk = |cause| StoreError::Io(path.clone(), cause);
        let file =
            private_file().read(true).create(true).truncate(false).open(&path).map_err(disk)?;
        restrict(&path, 0o600).map_err(disk)?;
        Ok(Self { path, file, is_exclusive: AtomicBool::new(true) })
    }

    fn write_process_id(&mut self) -> Result<(), StoreError> {
        let write = |mut file: &File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write(&self.file).map_err(|cause| StoreError::Io(self.path.clone(), cause))
    }

    fn attempt(&self, lock: fn(&File) -> io::Result<bool>) -> Result<bool, StoreError> {
        lock(&self.file).map_err(|cause| StoreError::Io(self.path.clone(), cause))
    }
}

/// Returns the process that has the folder to itself. The id may be missing.
fn process_id(file: &mut File) -> Option<u32> {
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    holder.trim().parse().ok()
}

/// The name of the file, which has one worker per line.
const WORKERS_FILE: &str = "workers";

pub(crate) fn add_former_worker(data: &Path, worker: Uuid) -> io::Result<()> {
    let mut file = private_file().append(true).create(true).open(data.join(WORKERS_FILE))?;
    writeln!(file, "{worker}")
}

/// Returns all recorded workers, and forgets them.
pub(crate) fn take_former_workers(data: &Path) -> io::Result<Vec<Uuid>> {
    let path = data.join(WORKERS_FILE);
    let Some(lines) = if_exists(fs::read_to_string(&path))? else { return Ok(Vec::new()) };
    fs::remove_file(path)?;
    Ok(lines.lines().filter_map(|line| line.parse().ok()).collect())
}

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
        self.held.lock().is_some()
    }

    /// Takes the lock unless another process has it, and then runs `prepare`. Returns whether this process has the
    /// lock.
    pub fn take(
        &self,
        prepare: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let mut held = self.held.lock();
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
