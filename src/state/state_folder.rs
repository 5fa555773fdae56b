//! The saved state of one deployment, with a JSON file for each value. Saves are numbered, so that a late save of an
//! older value does not replace a newer value.

use std::{
    collections::HashMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::state::{job_files::InstanceFiles, searches, selections};
use tessera_model::{
    DatasetId, Failure, HistoryEntry, JobRecord, SavedSession, SavedView, Selection, StateKey,
    StateValue,
};

/// The saved state of a deployment. Without a folder, nothing is saved.
#[derive(Debug, Default)]
pub struct StateFolder {
    pub(super) dir: Option<PathBuf>,
    latest_numbers: Mutex<HashMap<StateKey, u64>>,
    instance_files: Mutex<InstanceFiles>,
}

impl StateFolder {
    pub fn in_dir(folder: PathBuf) -> Self {
        Self { dir: Some(folder), ..Self::default() }
    }

    /// Saves a value, unless a value with a higher number was saved before.
    pub fn save(&self, number: u64, entry: &StateValue) -> Result<(), Failure> {
        let Some(folder) = &self.dir else { return Ok(()) };
        let mut numbers = self.latest_numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = numbers.entry(entry.key()).or_default();
        if number < *latest {
            return Ok(());
        }
        *latest = number;
        match file_name(&entry.key()) {
            Some(name) => write(&folder.join(name), entry),
            None => self.save_jobs(folder, entry),
        }
    }

    /// Saves this instance's jobs, which include the adopted ones, and removes the adopted files.
    fn save_jobs(&self, folder: &Path, entry: &StateValue) -> Result<(), Failure> {
        let mut files = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = files.claim_own_file(folder).map_err(file_failure(folder, "written"))?;
        write(&path, entry)?;
        files.remove_adopted().map_err(file_failure(&path, "written"))
    }

    pub fn load(&self, key: &StateKey) -> Result<Option<StateValue>, Failure> {
        let Some(folder) = &self.dir else { return Ok(None) };
        match file_name(key) {
            Some(name) => read(&folder.join(name), key),
            None if folder.exists() => self.load_jobs(folder).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the jobs of instances that have exited, and the jobs of running instances.
    fn load_jobs(&self, folder: &Path) -> Result<StateValue, Failure> {
        let mut files = self.instance_files.lock().unwrap_or_else(PoisonError::into_inner);
        let others = files.adopt_orphaned(folder).map_err(file_failure(folder, "read"))?;
        let jobs = read_all_jobs(&others.orphaned).and_then(|this_instance| {
            Ok(StateValue::Jobs { this_instance, other_instances: read_all_jobs(&others.running)? })
        });
        // Unreadable files stay where they are.
        jobs.inspect_err(|_| files.release_adopted())
    }
}

fn read_all_jobs(paths: &[PathBuf]) -> Result<Vec<JobRecord>, Failure> {
    let jobs: Result<Vec<_>, _> = paths.iter().map(|path| read_jobs(path)).collect();
    let mut jobs = jobs?.concat();
    // A crash between writing and removing leaves a job in two files, so the job is kept only once.
    jobs.sort_by_key(|job| job.started_at);
    jobs.dedup_by_key(|job| job.started_at);
    Ok(jobs)
}

/// Returns the file of a value, or `None` for jobs, which have a file for each instance.
pub(super) fn file_name(key: &StateKey) -> Option<String> {
    match key {
        StateKey::Basket(dataset) => Some(format!("basket-{dataset}.json")),
        StateKey::Views => Some("views.json".to_owned()),
        StateKey::Jobs => None,
        StateKey::History => Some("history.json".to_owned()),
        StateKey::Session => Some("session.json".to_owned()),
    }
}

/// A file with a list. If a row has an error, the error names the row.
pub(super) struct ListFile {
    pub schema: &'static str,
    pub list: &'static str,
    pub row: &'static str,
}

const JOBS: ListFile = ListFile { schema: "tessera.saved_jobs/1", list: "jobs", row: "job" };

impl ListFile {
    pub(super) fn write(&self, rows: impl Iterator<Item = impl Serialize>) -> Value {
        json!({ "schema": self.schema, self.list: rows.collect::<Vec<_>>() })
    }

    pub(super) fn read<R: DeserializeOwned, T>(
        &self,
        document: &Value,
        value: impl Fn(R) -> T,
    ) -> Result<Vec<T>, String> {
        let Self { schema, list, row } = self;
        if document["schema"] != *schema {
            return Err(format!("`schema` must be {schema}"));
        }
        let rows = document[list].as_array().ok_or_else(|| format!("`{list}` must be a list"))?;
        let read = |(index, fields)| {
            R::deserialize(fields).map(&value).map_err(|error| format!("{row} {index}: {error}"))
        };
        rows.iter().enumerate().map(read).collect()
    }
}

pub(super) fn write(path: &Path, entry: &StateValue) -> Result<(), Failure> {
    let document = match entry {
        StateValue::Basket(dataset, selection) => selections::write_selection(*dataset, selection),
        StateValue::Jobs { this_instance, .. } => JOBS.write(this_instance.iter()),
        StateValue::Views(list) => searches::write_views(list),
        StateValue::History(searches) => searches::write_history(searches),
        StateValue::Session(session) => searches::write_session(session),
    };
    tessera_files::write_user_file(path, format!("{document:#}\n"))
        .and_then(|()| path.parent().map_or(Ok(()), tessera_files::close_to_others))
        .map_err(file_failure(path, "written"))
}

pub(super) fn read(path: &Path, key: &StateKey) -> Result<Option<StateValue>, Failure> {
    let source =
        tessera_files::if_exists(fs::read_to_string(path)).map_err(file_failure(path, "read"))?;
    let value = source.map(|source| parse(key, &source)).transpose();
    value.map_err(file_failure(path, "parsed"))
}

fn parse(key: &StateKey, source: &str) -> Result<StateValue, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    Ok(match key {
        StateKey::Basket(dataset) => {
            StateValue::Basket(*dataset, selections::parse_selection(*dataset, &document)?)
        }
        StateKey::Jobs => StateValue::Jobs {
            this_instance: JOBS.read(&document, |job| job)?,
            other_instances: Vec::new(),
        },
        StateKey::Views => StateValue::Views(searches::read_views(&document)?),
        StateKey::History => StateValue::History(searches::read_history(&document)?),
        StateKey::Session => StateValue::Session(searches::read_session(&document)?),
    })
}

pub(super) fn read_jobs(path: &Path) -> Result<Vec<JobRecord>, Failure> {
    Ok(match read(path, &StateKey::Jobs)? {
        Some(StateValue::Jobs { this_instance, .. }) => this_instance,
        _ => Vec::new(),
    })
}

/// Creates failures that say that a file cannot be `participle`.
pub(super) fn file_failure<E: fmt::Display>(
    path: &Path,
    participle: &str,
) -> impl Fn(E) -> Failure {
    move |reason| {
        Failure::local(format!("{} cannot be {participle}: {reason}", path.display()))
            .with_remedy("Move the file away to start over")
    }
}

impl StateFolder {
    pub fn replace(&self, entry: &StateValue) -> Result<(), Failure> {
        self.save(1, entry)
    }

    pub fn replace_jobs(&self, jobs: Vec<JobRecord>) -> Result<(), Failure> {
        self.replace(&StateValue::Jobs { this_instance: jobs, other_instances: Vec::new() })
    }

    pub fn views(&self) -> Result<Vec<SavedView>, Failure> {
        match self.load(&StateKey::Views)? {
            Some(StateValue::Views(views)) => Ok(views),
            _ => Ok(Vec::new()),
        }
    }

    pub fn history(&self) -> Result<Vec<HistoryEntry>, Failure> {
        match self.load(&StateKey::History)? {
            Some(StateValue::History(searches)) => Ok(searches),
            _ => Ok(Vec::new()),
        }
    }

    pub fn session(&self) -> Result<Option<SavedSession>, Failure> {
        match self.load(&StateKey::Session)? {
            Some(StateValue::Session(session)) => Ok(Some(session)),
            _ => Ok(None),
        }
    }

    pub fn basket(&self, dataset: DatasetId) -> Result<Selection, Failure> {
        match self.load(&StateKey::Basket(dataset))? {
            Some(StateValue::Basket(_, selection)) => Ok(selection),
            _ => Ok(Selection::default()),
        }
    }
}
