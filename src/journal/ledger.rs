//! The jobs of all copies of the program, read without following them: what is read stays with the
//! copy that has it. Only what no running copy follows can be forgotten.

use std::{collections::BTreeMap, path::Path};

use super::{Journal, failure, read, seat, text};
use crate::config::file;
use tessera_model::{Book, Entry, Failure, JobRecord};

/// A job as some copy of the program wrote it down.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// The job.
    pub job: JobRecord,
    /// Whether a copy that is running follows it.
    pub followed: bool,
}

impl Journal {
    /// All jobs, oldest first.
    ///
    /// # Errors
    /// [`FailureKind::Local`](tessera_model::FailureKind::Local): a file cannot be read.
    pub fn jobs(&self) -> Result<Vec<Noted>, Failure> {
        let mut all = BTreeMap::<_, Noted>::new();
        for path in self.folder.iter().flat_map(|folder| seat::files(folder)) {
            let held = seat::is_held(&path).map_err(|error| failure(&path, "read", &error))?;
            for job in jobs_in(&path)? {
                // A kill between writing and removing leaves a job in two files.
                let known = all.get(&job.started).is_some_and(|known| known.followed);
                all.insert(job.started, Noted { job, followed: held || known });
            }
        }
        Ok(all.into_values().collect())
    }

    /// Forgets the jobs that `forgets` names, and gives how many those were. What a running copy
    /// follows stays.
    ///
    /// # Errors
    /// [`FailureKind::Local`](tessera_model::FailureKind::Local): a file cannot be read or written.
    pub fn forget_jobs(&self, forgets: impl Fn(&JobRecord) -> bool) -> Result<usize, Failure> {
        let mut forgotten = 0;
        for path in self.folder.iter().flat_map(|folder| seat::files(folder)) {
            let lock = seat::lock(&path).map_err(|error| failure(&path, "read", &error))?;
            let Some(_lock) = lock else { continue };
            let (gone, ours): (Vec<_>, Vec<_>) = jobs_in(&path)?.into_iter().partition(&forgets);
            if gone.is_empty() {
                continue;
            }
            let kept = Entry::Jobs { ours, elsewhere: Vec::new() };
            file::replace(&path, &text::write(&kept))
                .map_err(|error| failure(&path, "written", &error))?;
            forgotten += gone.len();
        }
        Ok(forgotten)
    }
}

fn jobs_in(path: &Path) -> Result<Vec<JobRecord>, Failure> {
    Ok(match read(path, &Book::Jobs)? {
        Some(Entry::Jobs { ours, .. }) => ours,
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{DatasetId, SafeText, Stamp, Standing, Work};

    fn jobs(seconds: &[u64]) -> Entry {
        let job = |second: &u64| JobRecord {
            started: Stamp::from_secs(*second),
            ended: None,
            dataset: DatasetId(Uuid::nil()),
            dataset_name: SafeText::name("x"),
            work: Work::Reindex,
            standing: Standing::Accepted,
        };
        Entry::Jobs { ours: seconds.iter().map(job).collect(), elsewhere: Vec::new() }
    }

    #[test]
    fn m20_reading_and_forgetting_leave_a_running_copy_its_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::in_folder(folder.path().to_owned());
        let gone = open();
        gone.keep(1, &jobs(&[1, 2])).unwrap();
        drop(gone);
        let running = open();
        running.keep(1, &jobs(&[3])).unwrap();

        let reader = open();
        let seen = || {
            let noted = reader.jobs().unwrap();
            noted.iter().map(|noted| (noted.job.started.as_secs(), noted.followed)).collect()
        };
        let before: Vec<(u64, bool)> = seen();
        assert_eq!(before, [(1, false), (2, false), (3, true)]);
        assert_eq!(reader.forget_jobs(|job| job.started.as_secs() != 2), Ok(1));
        let after: Vec<(u64, bool)> = seen();
        assert_eq!(after, [(2, false), (3, true)]);
        let Ok(Some(Entry::Jobs { ours, .. })) = open().recall(&Book::Jobs) else {
            panic!("what was only read can be taken over");
        };
        assert_eq!(ours.len(), 1);
    }
}
