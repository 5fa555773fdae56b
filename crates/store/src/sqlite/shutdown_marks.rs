//! The marks by which the next start knows whether the file has to be checked.
//!
//! A file that was closed has the mark of a clean shutdown: its size and time. A file that is open has the mark of the start
//! of the operating system in which it was opened: when only the process is killed, the system still has everything that
//! it wrote. Without either, nothing in the file is believed before it is checked.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, private_file, sync_dir, write_durably};

const SHUTDOWN_MARK: &str = "clean-shutdown";

/// Removes the mark. Returns whether the database is as it was closed.
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

/// Size in bytes, and seconds and nanoseconds of the last change. A hash would be read from gigabytes at
/// every start.
fn describe_file(database: &Path) -> io::Result<String> {
    let file = fs::metadata(database)?;
    Ok(format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec()))
}

const OPEN_MARK: &str = "opened";
/// Linux: a random identifier of each start. Without it, a database that was not closed is always checked.
const SYSTEM_START: &str = "/proc/sys/kernel/random/boot_id";

/// Whether the database was opened in this start of the system, was intact then, and was not closed since.
pub(super) fn was_opened_in_this_start(data: &Path, database: &Path) -> bool {
    let found = fs::read_to_string(open_mark(data));
    found.is_ok_and(|found| describe_start(database).is_ok_and(|expected| found == expected))
}

/// Writes the mark, which need not survive a crash of the system: it does not count after one.
pub(super) fn put_open_mark(data: &Path, database: &Path) {
    // Without it, the next opening checks the database.
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

/// The start of the system, and the file: a copy of the folder, or a disk that was removed meanwhile, is another one.
fn describe_start(database: &Path) -> io::Result<String> {
    let (start, file) = (fs::read_to_string(SYSTEM_START)?, fs::metadata(database)?);
    Ok(format!("{} {} {}", start.trim(), file.dev(), file.ino()))
}
