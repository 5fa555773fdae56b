//! Writes and reads the marks that decide whether the next start must check the database file.
//!
//! A file that was closed has the mark of a clean shutdown, which is its size and time. A file that is open has a mark
//! with the boot of the operating system in which it was opened. If only the process was killed, the operating system
//! still has everything that the process wrote. Without either mark, nothing in the file is trusted before it is
//! checked.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, private_file, sync_dir, write_durably};

const SHUTDOWN_MARK: &str = "clean-shutdown";

/// Removes the shutdown mark. Returns whether the database has not changed since it was closed.
pub(super) fn take_shutdown_mark(data: &Path, database: &Path, log: &Path) -> io::Result<bool> {
    let mark = data.join(SHUTDOWN_MARK);
    let Some(written) = if_exists(fs::read_to_string(&mark))? else { return Ok(false) };
    fs::remove_file(&mark)?;
    sync_dir(data)?;
    let has_log = fs::metadata(log).is_ok_and(|log| log.len() > 0);
    Ok(!has_log && describe_file(database).is_ok_and(|found| found == written))
}

pub(super) fn put_shutdown_mark(data: &Path, database: &Path) -> io::Result<()> {
    write_durably(&data.join(SHUTDOWN_MARK), describe_file(database)?)
}

/// Returns the size in bytes, and the seconds and nanoseconds of the last change. A hash is not used, because it would
/// read gigabytes at every start.
fn describe_file(database: &Path) -> io::Result<String> {
    let file = fs::metadata(database)?;
    Ok(format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec()))
}

const OPEN_MARK: &str = "opened";
/// A file in which Linux keeps a random identifier of each boot. On systems without this file, a database that was not
/// closed is always checked.
const SYSTEM_START: &str = "/proc/sys/kernel/random/boot_id";

/// Whether the database was opened since the last boot, was intact then, and has not been closed since.
pub(super) fn was_opened_in_this_start(data: &Path, database: &Path) -> bool {
    let found = fs::read_to_string(open_mark(data));
    found.is_ok_and(|found| describe_start(database).is_ok_and(|expected| found == expected))
}

/// Writes the mark of an open file. The mark need not survive a crash of the system, because it is invalid after one.
pub(super) fn put_open_mark(data: &Path, database: &Path) {
    // If the mark cannot be written, the next start checks the database.
    let _ = write_open_mark(data, database);
}

fn write_open_mark(data: &Path, database: &Path) -> io::Result<()> {
    let mark = describe_start(database)?;
    let mut file = private_file().create(true).truncate(true).open(open_mark(data))?;
    file.write_all(mark.as_bytes())
}

pub(super) fn remove_open_mark(data: &Path) -> io::Result<()> {
    if_exists(fs::remove_file(open_mark(data))).map(drop)
}

fn open_mark(data: &Path) -> PathBuf {
    data.join(OPEN_MARK)
}

/// Describes the boot of the system and the file. A copy of the folder, or a disk that was removed meanwhile, gives a
/// different description.
fn describe_start(database: &Path) -> io::Result<String> {
    let (start, file) = (fs::read_to_string(SYSTEM_START)?, fs::metadata(database)?);
    Ok(format!("{} {} {}", start.trim(), file.dev(), file.ino()))
}
