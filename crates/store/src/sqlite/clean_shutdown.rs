//! The mark of a clean shutdown: size and time of the closed database. While it is missing, or the file was
//! written since, nothing in the database is believed before it is checked, unless its process was killed.

use std::{fs, io, os::unix::fs::MetadataExt as _, path::Path};

use tessera_files::{if_exists, sync_dir, write_durably};

const FILE_NAME: &str = "clean-shutdown";

/// Removes the mark. Returns whether the database is as it was closed.
pub(super) fn take(data: &Path, database: &Path, log: &Path) -> io::Result<bool> {
    let mark = data.join(FILE_NAME);
    let Some(written) = if_exists(fs::read_to_string(&mark))? else { return Ok(false) };
    fs::remove_file(&mark)?;
    sync_dir(data)?;
    let has_log = fs::metadata(log).is_ok_and(|log| log.len() > 0);
    Ok(!has_log && describe(database).is_ok_and(|found| found == written))
}

pub fn put(data: &Path, database: &Path) -> io::Result<()> {
    write_durably(&data.join(FILE_NAME), describe(database)?)
}

/// Size in bytes, and seconds and nanoseconds of the last change. A hash would be read from gigabytes at
/// every start.
fn describe(database: &Path) -> io::Result<String> {
    let file = fs::metadata(database)?;
    Ok(format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec()))
}
