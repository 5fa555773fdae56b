//! The state folder: values that outlive the program, a JSON file per [`StateKey`].
//!
//! Files are replaced atomically. Values carry a number, so that a late older value never replaces a
//! newer one.

mod codec;
mod history_json;
mod instance_files;
mod jobs_json;
mod named_selections;
mod query_json;
mod selection_json;
mod stored_jobs;
mod views_json;

use std::{
    collections::HashMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use instance_files::InstanceFiles;
pub use jobs_json::job_to_json as job_facts;
pub use selection_json::write as write_selection;
pub use stored_jobs::StoredJob;
pub use views_json::write as write_views;

use crate::config::file;
use tessera_model::{DatasetId, Failure, JobRecord, Selection, StateKey, StateValue};

/// The saved state of one deployment. Without a folder, nothing is saved.
#[derive(Debug, Default)]
pub struct StateStore {
    dir: Option<PathBuf>,
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
        let mut newest = self.latest_numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let last = newest.entry(entry.key()).or_default();
        if number < *last {
            return Ok(());
        }
        *last = number;
        let Some(name) = codec::file_name(&entry.key()) else {
            return self.save_jobs(folder, entry);
        };
        let path = folder.join(name);
        file::write_atomically(&path, &codec::write(entry))
            .map_err(|error| file_failure(&path, "written", &error))
    }

    /// Saves this instance's jobs, which include the adopted ones, and removes the adopted files.
    fn save_jobs(&self, folder: &Path, entry: &StateValue) -> Result<(), Failure> {
        let mut seats = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = seats
            .claim_own_file(folder)
            .map_err(|error| file_failure(folder, "written", &error))?;
        file::write_atomically(&path, &codec::write(entry))
            .and_then(|()| seats.remove_adopted())
            .map_err(|error| file_failure(&path, "written", &error))
    }

    /// The jobs of instances that have exited, and those of running instances.
    fn load_jobs(&self, folder: &Path) -> Result<Option<StateValue>, Failure> {
        if !folder.exists() {
            return Ok(None);
        }
        let mut seats = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let others =
            seats.adopt_orphaned(folder).map_err(|error| file_failure(folder, "read", &error))?;
        let read = |paths: &[PathBuf]| -> Result<Vec<JobRecord>, Failure> {
            let mut all = Vec::new();
            for path in paths {
                if let Some(StateValue::Jobs { own, .. }) = read(path, &StateKey::Jobs)? {
                    all.extend(own);
                }
            }
            // A crash between writing and removing leaves a job in two files.
            all.sort_by_key(|record| record.started_at);
            all.dedup_by_key(|record| record.started_at);
            Ok(all)
        };
        let jobs = read(&others.orphaned).and_then(|own| {
            read(&others.running).map(|other_instances| StateValue::Jobs { own, other_instances })
        });
        // Unreadable files stay in place.
        jobs.map(Some).inspect_err(|_| seats.release_adopted())
    }

    /// Loads a value; `None` if it was never saved.
    pub fn load(&self, key: &StateKey) -> Result<Option<StateValue>, Failure> {
        let Some(folder) = &self.dir else { return Ok(None) };
        match codec::file_name(key) {
            Some(name) => read(&folder.join(name), key),
            None => self.load_jobs(folder),
        }
    }
}

/// Saves a selection to a new file; never overwrites.
pub fn save_selection(
    path: PathBuf,
    dataset: DatasetId,
    selection: &Selection,
) -> Result<PathBuf, Failure> {
    let text = format!("{:#}\n", selection_json::write(dataset, selection));
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let sentence = format!("{} already exists", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another name"))
        }
        Err(error) => {
            let sentence = format!("{} cannot be written: {error}", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another folder"))
        }
    }
}

/// Opens a selection file of `dataset`, saved or written by hand.
pub fn open_selection(path: &Path, dataset: DatasetId) -> Result<Selection, Failure> {
    let error =
        |reason: String| Failure::local(format!("{} cannot be opened: {reason}", path.display()));
    let source = fs::read_to_string(path).map_err(|cause| error(cause.to_string()))?;
    read_selection(&source, dataset).map_err(error)
}

/// Parses a selection of `dataset`.
pub fn read_selection(source: &str, dataset: DatasetId) -> Result<Selection, String> {
    let document = serde_json::from_str(source).map_err(|error| error.to_string())?;
    selection_json::read(dataset, &document)
}

fn read(path: &Path, key: &StateKey) -> Result<Option<StateValue>, Failure> {
    let source = match fs::read_to_string(path) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(file_failure(path, "read", &error)),
    };
    codec::read(key, &source).map(Some).map_err(|reason| file_failure(path, "parsed", &reason))
}

fn file_failure(path: &Path, what: &str, reason: &dyn std::fmt::Display) -> Failure {
    let sentence = format!("{} cannot be {what}: {reason}", path.display());
    Failure::local(sentence).with_remedy("Move the file away to start over")
}
