//! Setting aside what a missing or damaged database leaves behind. Accepted uploads stay where they
//! are, because their paths identify their media items.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{now_micros, upload};
use crate::{
    ingest::staging::{create_private_dir, staging_dirs},
    path_display::printable_path,
};

/// The database and its log files.
pub(super) const DATABASE_FILES: [&str; 3] = ["tessera.db", "tessera.db-wal", "tessera.db-shm"];

/// Moves the remains of the database, and uploads without a record, into a new folder of the data
/// directory. Returns what the user has to know; `None` if nothing was there.
pub(super) fn set_aside(data: &Path) -> io::Result<Option<String>> {
    let uploads = data.join("uploads");
    let (accepted, unrecorded): (Vec<PathBuf>, Vec<PathBuf>) =
        staging_dirs(&uploads)?.into_iter().partition(|staging| upload::is_accepted(staging));
    let database = DATABASE_FILES.map(|name| data.join(name)).into_iter();
    let remains: Vec<PathBuf> = database.filter(|file| is_filled(file)).chain(unrecorded).collect();
    if remains.is_empty() && accepted.is_empty() {
        return Ok(None);
    }
    let mut notice = format!(
        "the store was missing or damaged and a new one was created; open each folder again to \
         rebuild it. The uploads are kept in {} and are added again with their folder",
        printable_path(&uploads)
    );
    if !remains.is_empty() {
        let folder = data.join(format!("set-aside-{}", now_micros()));
        create_private_dir(&folder)?;
        for path in remains {
            fs::rename(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
        notice += ". What was left of the store was moved to ";
        notice += printable_path(&folder).as_str();
    }
    Ok(Some(notice))
}

/// Whether a file exists and is not empty.
fn is_filled(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| file.len() > 0)
}
