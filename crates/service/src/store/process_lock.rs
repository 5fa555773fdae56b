//! One process per store: an advisory lock on a file that contains the process id. It ends with the
//! process.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
};

use super::StoreError;
use crate::ingest::staging::{private_file, restrict};

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
            let process = process_id(&mut file).map(|id| format!("process {id}"));
            Ok(Some(process.unwrap_or_else(|| "another process".to_owned())))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the lock of the data directory. It is released when the file is dropped.
pub(super) fn acquire(data: &Path) -> Result<File, StoreError> {
    let path = data.join("lock");
    let disk = |cause| StoreError::Io(path.clone(), cause);
    let mut file =
        private_file().read(true).create(true).truncate(false).open(&path).map_err(disk)?;
    restrict(&path, 0o600).map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::InUse(data.to_owned(), process_id(&mut file)));
        }
        Err(TryLockError::Error(cause)) => return Err(disk(cause)),
    }
    file.set_len(0).map_err(disk)?;
    file.rewind().map_err(disk)?;
    writeln!(file, "{}", std::process::id()).map_err(disk)?;
    Ok(file)
}

/// The process that holds the lock. Best effort; that the lock is held is certain.
fn process_id(file: &mut File) -> Option<u32> {
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    holder.trim().parse().ok()
}
