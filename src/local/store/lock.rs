//! One process a store: an advisory lock that ends with the process, however it ends. The file
//! tells who holds it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
};

use crate::local::store::StoreError;

/// Takes the lock of the data directory. It is released when the file is dropped.
pub fn take(data: &Path) -> Result<File, StoreError> {
    let path = data.join("lock");
    let disk = |cause| StoreError::Disk(path.clone(), cause);
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
            // Who holds it is told on a best effort: that somebody does is certain.
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
