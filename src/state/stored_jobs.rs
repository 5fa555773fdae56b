//! The jobs of all instances, without adopting them; jobs that an instance follows stay.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    StateStore, instance_files,
    state_files::{self, file_failure, read_jobs},
};
use tessera_model::{Failure, JobRecord, StateValue};

#[derive(Clone, Debug, PartialEq)]
pub struct StoredJob {
    pub job: JobRecord,
    pub is_followed: bool,
}

impl StateStore {
    /// All jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<StoredJob>, Failure> {
        let mut all = BTreeMap::<_, StoredJob>::new();
        for path in self.job_files() {
            let is_locked =
                instance_files::is_locked(&path).map_err(file_failure(&path, "read"))?;
            for job in read_jobs(&path)? {
                // A crash between writing and removing leaves a job in two files.
                let known = all.get(&job.started_at).is_some_and(|known| known.is_followed);
                all.insert(job.started_at, StoredJob { job, is_followed: is_locked || known });
            }
        }
        Ok(all.into_values().collect())
    }

    /// Removes the matching jobs that no running instance follows, and returns their number.
    pub fn forget_jobs(&self, forgets: impl Fn(&JobRecord) -> bool) -> Result<usize, Failure> {
        let mut forgotten = 0;
        for path in self.job_files() {
            let lock = instance_files::try_lock(&path).map_err(file_failure(&path, "read"))?;
            let Some(_lock) = lock else { continue };
            let (removed, own): (Vec<_>, Vec<_>) =
                read_jobs(&path)?.into_iter().partition(&forgets);
            if !removed.is_empty() {
                let remaining = StateValue::Jobs { own, other_instances: Vec::new() };
                state_files::write(&path, &remaining)?;
                forgotten += removed.len();
            }
        }
        Ok(forgotten)
    }

    fn job_files(&self) -> impl Iterator<Item = PathBuf> {
        self.dir.iter().flat_map(|folder| instance_files::list_files(folder))
    }
}
