//! The saved state of one deployment. Values are numbered: a late older one replaces none.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    instance_files::InstanceFiles,
    state_files::{self, file_failure, read_jobs},
};
use tessera_model::{Failure, JobRecord, StateKey, StateValue};

/// Without a folder, nothing is saved.
#[derive(Debug, Default)]
pub struct StateStore {
    pub(super) dir: Option<PathBuf>,
    latest_numbers: Mutex<HashMap<StateKey, u64>>,
    instance_files: Mutex<InstanceFiles>,
}

impl StateStore {
    pub fn in_dir(folder: PathBuf) -> Self {
        Self { dir: Some(folder), ..Self::default() }
    }

    /// Saves a value, unless one with a higher number was saved before.
    pub fn save(&self, number: u64, entry: &StateValue) -> Result<(), Failure> {
        let Some(folder) = &self.dir else { return Ok(()) };
        let mut numbers = self.latest_numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = numbers.entry(entry.key()).or_default();
        if number < *latest {
            return Ok(());
        }
        *latest = number;
        match state_files::file_name(&entry.key()) {
            Some(name) => state_files::write(&folder.join(name), entry),
            None => self.save_jobs(folder, entry),
        }
    }

    /// Saves this instance's jobs, which include the adopted ones, and removes the adopted files.
    fn save_jobs(&self, folder: &Path, entry: &StateValue) -> Result<(), Failure> {
        let mut files = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = files.claim_own_file(folder).map_err(file_failure(folder, "written"))?;
        state_files::write(&path, entry)?;
        files.remove_adopted().map_err(file_failure(&path, "written"))
    }

    pub fn load(&self, key: &StateKey) -> Result<Option<StateValue>, Failure> {
        let Some(folder) = &self.dir else { return Ok(None) };
        match state_files::file_name(key) {
            Some(name) => state_files::read(&folder.join(name), key),
            None if folder.exists() => self.load_jobs(folder).map(Some),
            None => Ok(None),
        }
    }

    /// The jobs of instances that have exited, and those of running instances.
    fn load_jobs(&self, folder: &Path) -> Result<StateValue, Failure> {
        let mut files = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let others = files.adopt_orphaned(folder).map_err(file_failure(folder, "read"))?;
        let jobs = read_all_jobs(&others.orphaned).and_then(|own| {
            Ok(StateValue::Jobs { own, other_instances: read_all_jobs(&others.running)? })
        });
        // Unreadable files stay in place.
        jobs.inspect_err(|_| files.release_adopted())
    }
}

fn read_all_jobs(paths: &[PathBuf]) -> Result<Vec<JobRecord>, Failure> {
    let jobs: Result<Vec<_>, _> = paths.iter().map(|path| read_jobs(path)).collect();
    let mut jobs = jobs?.concat();
    // A crash between writing and removing leaves a job in two files.
    jobs.sort_by_key(|job| job.started_at);
    jobs.dedup_by_key(|job| job.started_at);
    Ok(jobs)
}
