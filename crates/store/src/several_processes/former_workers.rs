//! Records the workers that run tasks from an index folder. When no process uses the folder any more, these workers
//! have ended, so their tasks need not wait until their leases expire.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use uuid::Uuid;

use tessera_files::{if_exists, private_file};

/// The name of the file, which has one worker per line.
const FILE: &str = "workers";

pub(crate) fn add(data: &Path, worker: Uuid) -> io::Result<()> {
    let mut file = private_file().append(true).create(true).open(data.join(FILE))?;
    writeln!(file, "{worker}")
}

/// Returns all recorded workers, and forgets them.
pub(crate) fn take_all(data: &Path) -> io::Result<Vec<Uuid>> {
    let path = data.join(FILE);
    let Some(lines) = if_exists(fs::read_to_string(&path))? else { return Ok(Vec::new()) };
    fs::remove_file(path)?;
    Ok(lines.lines().filter_map(|line| line.parse().ok()).collect())
}
