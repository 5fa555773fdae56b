//! One process per store: an advisory lock on a file that contains the process id. It ends with the
//! process.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
};

use crate::store::StoreError;

/// Returns which other process holds the lock of the data directory; `None` if it is free. Creates
/// no files.
pub fn lock_holder(data: &Path) -> std::io::Result<Option<String>> {
    let mut file = match File::open(data.join("lock")) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Best effort, as in [`acquire`].
            let _ = file.read_to_string(&mut holder);
            let known = holder.trim().parse::<u32>().map(|id| format!("process {id}"));
            Ok(Some(known.unwrap_or_else(|_| "another process".to_owned())))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the lock of the data directory. It is released when the file is dropped.
pub fn acquire(data: &Path) -> Result<File, StoreError> {
    let path = data.join("lock");
    let disk = |cause| StoreError::Io(path.clone(), cause);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The process id is best effort; that the lock is held is certain.
            let _ = file.read_to_string(&mut holder);
            return Err(StoreError::InUse(data.to_owned(), holder.trim().parse().ok()));
        }
        Err(TryLockError::Error(cause)) => return Err(disk(cause)),
    }
    file.set_len(0).map_err(disk)?;
    file.rewind().map_err(disk)?;
    writeln!(file, "{}", std::process::id()).map_err(disk)?;
    Ok(file)
}
