//! Manages the job files of concurrent instances. Each instance writes its jobs to its own file and locks the file
//! while it runs, so that only one instance follows a job. The files of an exited instance are adopted by the next
//! instance that looks for them.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// The maximum number of files, of running instances and of exited instances that left jobs.
const MAX_INSTANCES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct InstanceFiles {
    own_file: Option<(PathBuf, File)>,
    /// The adopted files, which are kept until our own file contains their jobs.
    adopted: Vec<(PathBuf, File)>,
}

#[derive(Debug, Default)]
pub(super) struct OtherInstances {
    /// The files of exited instances, which this instance adopts.
    pub orphaned: Vec<PathBuf>,
    pub running: Vec<PathBuf>,
}

impl InstanceFiles {
    /// Returns our own file. The file is created by the first write.
    pub(super) fn claim_own_file(&mut self, folder: &Path) -> io::Result<PathBuf> {
        if let Some((path, _)) = &self.own_file {
            return Ok(path.clone());
        }
        tessera_files::create_private_dir_durably(folder)?;
        for number in 0..MAX_INSTANCES {
            let path = entry_path(folder, number);
            // Another instance can write the file and exit before it is locked here.
            if !path.exists()
                && let Some(lock) = try_lock(&path)?
                && !path.exists()
            {
                self.own_file = Some((path.clone(), lock));
                return Ok(path);
            }
        }
        Err(io::Error::other(format!("{MAX_INSTANCES} instances of the program have jobs here")))
    }

    pub(super) fn adopt_orphaned(&mut self, folder: &Path) -> io::Result<OtherInstances> {
        self.adopted.clear();
        let mut others = OtherInstances::default();
        let this_instance = self.own_file.as_ref().map(|(path, _)| path);
        for path in list_files(folder).filter(|path| this_instance != Some(path)) {
            match try_lock(&path)? {
                Some(lock) => {
                    others.orphaned.push(path.clone());
                    self.adopted.push((path, lock));
                }
                None => others.running.push(path),
            }
        }
        Ok(others)
    }

    /// Removes the adopted files, because our own file contains their jobs now.
    pub(super) fn remove_adopted(&mut self) -> io::Result<()> {
        for (path, _lock) in self.adopted.drain(..) {
            fs::remove_file(path)?;
        }
        Ok(())
    }

    pub(super) fn release_adopted(&mut self) {
        self.adopted.clear();
    }
}

/// Lists the files of all instances, running or exited.
pub(super) fn list_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    (0..MAX_INSTANCES).map(move |number| entry_path(folder, number)).filter(|path| path.exists())
}

/// Returns whether a running instance owns this file. The file is not adopted.
pub(super) fn is_locked(path: &Path) -> io::Result<bool> {
    tessera_files::is_locked(&path.with_extension("lock"))
}

fn entry_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("jobs-{number}.json"))
}

/// Locks a file unless a running instance owns it. The lock ends with the process.
pub(super) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    tessera_files::open_locked(&path.with_extension("lock"))
}
