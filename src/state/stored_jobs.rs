//! The jobs of all instances, without adopting them. Only jobs that no running instance follows can be
//! removed.

use std::{collections::BTreeMap, path::Path};

use super::{StateStore, codec, file_failure, instance_files, read};
use crate::config::file;
use tessera_model::{Failure, JobRecord, StateKey, StateValue};

/// A saved job of some instance.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredJob {
    pub job: JobRecord,
    /// Whether a running instance follows it.
    pub is_followed: bool,
}

impl StateStore {
    /// All jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<StoredJob>, Failure> {
        let mut all = BTreeMap::<_, StoredJob>::new();
        for path in self.dir.iter().flat_map(|folder| instance_files::list_files(folder)) {
            let held = instance_files::is_locked(&path)
                .map_err(|error| file_failure(&path, "read", &error))?;
            for job in jobs_in(&path)? {
                // A crash between writing and removing leaves a job in two files.
                let known = all.get(&job.started_at).is_some_and(|known| known.is_followed);
                all.insert(job.started_at, StoredJob { job, is_followed: held || known });
            }
        }
        Ok(all.into_values().collect())
    }

    /// Removes the matching jobs that no running instance follows, and returns their number.
    pub fn forget_jobs(&self, forgets: impl Fn(&JobRecord) -> bool) -> Result<usize, Failure> {
        let mut forgotten = 0;
        for path in self.dir.iter().flat_map(|folder| instance_files::list_files(folder)) {
            let lock = instance_files::try_lock(&path)
                .map_err(|error| file_failure(&path, "read", &error))?;
            let Some(_lock) = lock else { continue };
            let (removed, own): (Vec<_>, Vec<_>) = jobs_in(&path)?.into_iter().partition(&forgets);
            if removed.is_empty() {
                continue;
            }
            let remaining = StateValue::Jobs { own, other_instances: Vec::new() };
            file::write_atomically(&path, &codec::write(&remaining))
                .map_err(|error| file_failure(&path, "written", &error))?;
            forgotten += removed.len();
        }
        Ok(forgotten)
    }
}

fn jobs_in(path: &Path) -> Result<Vec<JobRecord>, Failure> {
    Ok(match read(path, &StateKey::Jobs)? {
        Some(StateValue::Jobs { own, .. }) => own,
        _ => Vec::new(),
    })
}
