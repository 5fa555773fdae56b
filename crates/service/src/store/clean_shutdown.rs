//! The mark of a clean shutdown: a hash of the closed database. While it is missing, or the file has changed,
//! nothing in the database is believed before it is checked.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
};

use blake3::{Hash, Hasher};

use crate::ingest::staging::{sync_dir, write_durably};

const FILE_NAME: &str = "clean-shutdown";

/// Removes the mark. Returns the hash if the database is as it was closed.
pub(super) fn take(data: &Path, database: &Path, log: &Path) -> io::Result<Option<Hash>> {
    let mark = data.join(FILE_NAME);
    let written = match fs::read(&mark) {
        Ok(hex) => Hash::from_hex(hex).ok(),
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(cause),
    };
    fs::remove_file(&mark)?;
    sync_dir(data)?;
    let has_log = fs::metadata(log).is_ok_and(|log| log.len() > 0);
    let is_unchanged =
        |hash: &Hash| !has_log && hash_file(database).is_ok_and(|found| found == *hash);
    Ok(written.filter(is_unchanged))
}

pub(super) fn put(data: &Path, hash: &Hash) -> io::Result<()> {
    write_durably(&data.join(FILE_NAME), hash.to_hex().as_bytes())
}

pub(super) fn hash_file(path: &Path) -> io::Result<Hash> {
    let mut hasher = Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize())
}
