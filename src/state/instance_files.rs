//! Several copies of the program may run over one deployment. Each writes its jobs to a file of its
//! own and holds a lock beside it while it runs, so that one copy alone follows a job; what a copy
//! that is gone left behind is taken over by the next one that looks.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Copies of the program that can run at once, those counted that left something behind.
const MAX_INSTANCES: usize = 64;

/// The files this copy may write to.
#[derive(Debug, Default)]
pub(super) struct InstanceFiles {
    own_file: Option<(PathBuf, File)>,
    /// What is taken over, until our own file holds it.
    adopted: Vec<(PathBuf, File)>,
}

/// What other copies have written.
#[derive(Debug, Default)]
pub(super) struct OtherInstances {
    /// By copies that are gone: ours now.
    pub orphaned: Vec<PathBuf>,
    /// By copies that are running.
    pub running: Vec<PathBuf>,
}

impl InstanceFiles {
    /// Our own file; it is new when this copy writes for the first time.
    ///
    /// # Errors
    /// The folder cannot be written, or every seat is taken.
    pub(super) fn claim_own_file(&mut self, folder: &Path) -> io::Result<PathBuf> {
        if let Some((path, _)) = &self.own_file {
            return Ok(path.clone());
        }
        fs::create_dir_all(folder)?;
        for number in 0..MAX_INSTANCES {
            let path = path_of(folder, number);
            if !path.exists()
                && let Some(lock) = try_lock(&path)?
            {
                self.own_file = Some((path.clone(), lock));
                return Ok(path);
            }
        }
        Err(io::Error::other(format!("{MAX_INSTANCES} copies of the program have jobs here")))
    }

    /// Takes over what copies that are gone left behind.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn adopt_orphaned(&mut self, folder: &Path) -> io::Result<OtherInstances> {
        self.adopted.clear();
        let mut others = OtherInstances::default();
        let own = self.own_file.as_ref().map(|(path, _)| path);
        for path in list_files(folder).filter(|path| own != Some(path)) {
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

    /// Our own file holds everything that was taken over.
    ///
    /// # Errors
    /// A file that was taken over cannot be removed.
    pub(super) fn remove_adopted(&mut self) -> io::Result<()> {
        for (path, _lock) in self.adopted.drain(..) {
            fs::remove_file(path)?;
        }
        Ok(())
    }

    /// What was looked at is not taken over after all.
    pub(super) fn release_adopted(&mut self) {
        self.adopted.clear();
    }
}

/// The files of all copies, running or gone.
pub(super) fn list_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    (0..MAX_INSTANCES).map(move |number| path_of(folder, number)).filter(|path| path.exists())
}

/// Whether a running copy holds the seat of this file. Nothing is taken over by asking.
///
/// # Errors
/// The lock cannot be asked for.
pub(super) fn is_locked(path: &Path) -> io::Result<bool> {
    let lock = match File::open(path.with_extension("lock")) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn path_of(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("jobs-{number}.json"))
}

/// The lock of a seat, unless a running copy holds it. It ends with the process, however that ends.
pub(super) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let path = path.with_extension("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
