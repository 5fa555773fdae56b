//! The mark of an opened database: the start of the operating system in which it was opened. When a process is killed,
//! the system still has everything that it wrote; only a crash of the system can lose writes.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, private_file};

const FILE_NAME: &str = "opened";
/// Linux: a random identifier of each start. Without it, a database that was not closed is always checked.
const SYSTEM_START: &str = "/proc/sys/kernel/random/boot_id";

/// Whether the database was opened in this start of the system, was intact then, and was not closed since.
pub(super) fn is_of_this_start(data: &Path, database: &Path) -> bool {
    let found = fs::read_to_string(path(data));
    found.is_ok_and(|found| describe(database).is_ok_and(|expected| found == expected))
}

/// It need not survive a crash of the system, after which it does not count.
pub fn put(data: &Path, database: &Path) {
    // Without it, the next opening checks the database.
    let _ = write(data, database);
}

fn write(data: &Path, database: &Path) -> io::Result<()> {
    let mark = describe(database)?;
    let mut file = private_file().create(true).truncate(true).open(path(data))?;
    file.write_all(mark.as_bytes())
}

pub(super) fn remove(data: &Path) -> io::Result<()> {
    if_exists(fs::remove_file(path(data))).map(drop)
}

fn path(data: &Path) -> PathBuf {
    data.join(FILE_NAME)
}

/// The start of the system, and the file: a copy of the folder, or a disk that was removed meanwhile, is another one.
fn describe(database: &Path) -> io::Result<String> {
    let (start, file) = (fs::read_to_string(SYSTEM_START)?, fs::metadata(database)?);
    Ok(format!("{} {} {}", start.trim(), file.dev(), file.ino()))
}
