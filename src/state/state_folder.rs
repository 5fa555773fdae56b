//! Saves and loads the state of one deployment, with a JSON file for each value, and its named selections. Saves are
//! numbered, so that a late save of an older value does not replace a newer value. What depends on the saved value is
//! merged with it or saved under a lock, so that processes on one deployment keep each other's changes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::state::{
    job_files::{self, InstanceFiles},
    merge::{is_merged, merged},
    searches::{self, ListFile},
    selections,
};
use tessera_client::ExistingFile;
use tessera_files::{ChangeLock, Guarantee, lock_changes, missing_guarantees};
use tessera_model::{
    DatasetId, Failure, FailureKind, HistoryEntry, JobRecord, KeptTags, SafeText, SavedSession,
    SavedView, Selection, StateKey, StateValue, composed,
};
use tessera_wire::text_encoding::decode_text;

/// The saved state of a deployment. Without a folder, nothing is saved.
#[derive(Debug, Default)]
pub struct StateFolder {
    pub(super) dir: Option<PathBuf>,
    /// The highest number of the announced saves of each value.
    latest_numbers: Mutex<HashMap<StateKey, u64>>,
    instance_files: Mutex<InstanceFiles>,
    /// The texts of merged values that this process has loaded or saved last, without what it merged into the files.
    /// The lock is held during a save, so that this process saves one value after the other.
    known: Mutex<HashMap<StateKey, String>>,
}

impl StateFolder {
    pub fn in_dir(folder: PathBuf) -> Self {
        Self { dir: Some(folder), ..Self::default() }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Describes what the disk of the state folder does not guarantee.
    pub fn missing_guarantees(&self) -> Vec<String> {
        let folder = self.dir.as_deref();
        folder.map_or_else(Vec::new, |folder| missing_guarantees(folder, Guarantee::ALL))
    }

    /// Announces a save, so that saves of older values that have not begun are dropped. Returns the highest number that
    /// was announced.
    pub fn announce_save(&self, number: u64, key: StateKey) -> u64 {
        let mut numbers = self.latest_numbers.lock();
        let latest = numbers.entry(key).or_default();
        *latest = number.max(*latest);
        *latest
    }

    /// Saves a value, unless the save of a value with a higher number was announced.
    pub fn save(&self, number: u64, entry: &StateValue) -> Result<(), Failure> {
        let Some(folder) = &self.dir else { return Ok(()) };
        let key = entry.key();
        let mut known = self.known.lock();
        if number < self.announce_save(number, key) {
            return Ok(());
        }
        match file_name(&key) {
            Some(name) if is_merged(&key) => save_merged(&folder.join(name), entry, &mut known),
            Some(name) => {
                if let StateValue::Session(SavedSession { dataset: Some(dataset), .. }) = entry {
                    write(&folder.join(session_file(*dataset)), entry)?;
                }
                write(&folder.join(name), entry)
            }
            None => self.save_jobs(folder, entry),
        }
    }

    /// Saves this instance's jobs, which include the adopted ones, and removes the adopted files.
    fn save_jobs(&self, folder: &Path, entry: &StateValue) -> Result<(), Failure> {
        let mut files = self.instance_files.lock();
        let path = files.claim_own_file(folder).map_err(file_failure(folder, "written"))?;
        write(&path, entry)?;
        files.remove_adopted().map_err(file_failure(&path, "written"))
    }

    pub fn load(&self, key: &StateKey) -> Result<Option<StateValue>, Failure> {
        let Some(folder) = &self.dir else { return Ok(None) };
        match file_name(key) {
            Some(name) => {
                let path = folder.join(name);
                let mut known = self.known.lock();
                let Some(stored) = read_text(&path)? else { return Ok(None) };
                let value = parse(key, &stored).map_err(damaged_file(&path))?;
                if is_merged(key) {
                    known.insert(*key, stored);
                }
                Ok(Some(value))
            }
            None if folder.exists() => self.load_jobs(folder).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the jobs of instances that have exited, and the jobs of running instances.
    fn load_jobs(&self, folder: &Path) -> Result<StateValue, Failure> {
        let mut files = self.instance_files.lock();
        let others = files.adopt_orphaned(folder).map_err(file_failure(folder, "read"))?;
        let jobs = read_all_jobs(&others.orphaned).and_then(|this_instance| {
            Ok(StateValue::Jobs { this_instance, other_instances: read_all_jobs(&others.running)? })
        });
        // Unreadable files stay where they are.
        jobs.inspect_err(|_| files.release_adopted())
    }
}

/// Saves a value with what other windows have saved meanwhile. The values are parsed only if the file contains changes
/// of others, because parsing a large selection takes longer than writing it.
fn save_merged(
    path: &Path,
    entry: &StateValue,
    known: &mut HashMap<StateKey, String>,
) -> Result<(), Failure> {
    let key = entry.key();
    let updated = text(entry);
    let _lock = lock(path)?;
    match read_text(path)? {
        Some(stored) if known.get(&key) != Some(&stored) => {
            let parsed = |text: &String| parse(&key, text).map_err(damaged_file(path));
            let known = known.get(&key).map(parsed).transpose()?;
            write(path, &merged(known.as_ref(), &parsed(&stored)?, &parsed(&updated)?))?;
        }
        _ => write_text(path, &updated)?,
    }
    known.insert(key, updated);
    Ok(())
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
        StateKey::KeptTags(dataset) => Some(format!("tags-{dataset}.json")),
        StateKey::Views => Some("views.json".to_owned()),
        StateKey::Jobs => None,
        StateKey::History => Some("history.json".to_owned()),
        StateKey::Session => Some("session.json".to_owned()),
        StateKey::ModelOffer => Some("model_offer.json".to_owned()),
    }
}

/// Returns the file of the last session with a dataset.
fn session_file(dataset: DatasetId) -> String {
    format!("session-{dataset}.json")
}

const MODEL_OFFER: &str = "tessera.model_offer/1";

const JOBS: ListFile = ListFile { schema: "tessera.saved_jobs/1", list: "jobs", row: "job" };

fn document(entry: &StateValue) -> Value {
    match entry {
        StateValue::Basket(dataset, selection) => selections::write_selection(*dataset, selection),
        StateValue::KeptTags(dataset, tags) => selections::write_tags(*dataset, tags),
        StateValue::Jobs { this_instance, .. } => JOBS.write(this_instance.iter()),
        StateValue::Views(list) => searches::write_views(list),
        StateValue::History(searches) => searches::write_history(searches),
        StateValue::Session(session) => searches::write_session(session),
        StateValue::ModelOfferDismissed => json!({ "schema": MODEL_OFFER, "dismissed": true }),
    }
}

fn text(entry: &StateValue) -> String {
    format!("{:#}\n", document(entry))
}

pub(super) fn write(path: &Path, entry: &StateValue) -> Result<(), Failure> {
    write_text(path, &text(entry))
}

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    tessera_files::write_user_file(path, text)
        .and_then(|()| path.parent().map_or(Ok(()), tessera_files::close_to_others))
        .map_err(file_failure(path, "written"))
}

pub(super) fn read(path: &Path, key: &StateKey) -> Result<Option<StateValue>, Failure> {
    let value = read_text(path)?.map(|source| parse(key, &source)).transpose();
    value.map_err(damaged_file(path))
}

fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    let bytes = tessera_files::if_exists(fs::read(path)).map_err(|cause| match cause.kind() {
        ErrorKind::IsADirectory => damaged_file(path)(cause),
        _ => file_failure(path, "read")(cause),
    })?;
    let text = |bytes: Vec<u8>| decode_text(&bytes).map(Cow::into_owned);
    bytes.map(text).transpose().map_err(damaged_file(path))
}

fn parse(key: &StateKey, source: &str) -> Result<StateValue, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    Ok(match key {
        StateKey::Basket(dataset) => {
            StateValue::Basket(*dataset, selections::parse_selection(*dataset, &document)?)
        }
        StateKey::KeptTags(dataset) => {
            StateValue::KeptTags(*dataset, selections::parse_tags(*dataset, &document)?)
        }
        StateKey::Jobs => StateValue::Jobs {
            this_instance: JOBS.read(&document, |job| job)?,
            other_instances: Vec::new(),
        },
        StateKey::Views => StateValue::Views(searches::read_views(&document)?),
        StateKey::History => StateValue::History(searches::read_history(&document)?),
        StateKey::Session => StateValue::Session(searches::read_session(&document)?),
        StateKey::ModelOffer if document["schema"] == MODEL_OFFER => {
            StateValue::ModelOfferDismissed
        }
        StateKey::ModelOffer => return Err(format!("expected the schema {MODEL_OFFER}")),
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
            .with_remedy("Check the disk and the permissions of the folder")
    }
}

/// Reports that the content of a file is not what this program writes.
pub(super) fn damaged_file<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Failure {
    move |reason| {
        Failure::local(format!("{} cannot be parsed: {reason}", path.display()))
            .with_remedy("Move the file away to start over")
    }
}

fn lock(path: &Path) -> Result<ChangeLock, Failure> {
    lock_changes(path).map_err(file_failure(path, "written"))
}

impl StateFolder {
    /// Saves a value for a command, which has loaded it and saves it only once.
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

    /// Returns the last session. If a dataset is given, the tabs are those of the last session with that dataset, because
    /// all local folders share a state folder.
    pub fn session(&self, dataset: Option<DatasetId>) -> Result<Option<SavedSession>, Failure> {
        let Some(StateValue::Session(last)) = self.load(&StateKey::Session)? else {
            return Ok(None);
        };
        let file = dataset.filter(|dataset| last.dataset != Some(*dataset)).map(session_file);
        let path = self.dir.as_ref().zip(file).map(|(folder, file)| folder.join(file));
        let stored = path.map(|path| read(&path, &StateKey::Session)).transpose()?.flatten();
        Ok(Some(match stored {
            Some(StateValue::Session(former)) => SavedSession {
                tile_size: last.tile_size,
                tile_layout: last.tile_layout,
                picked_actions: last.picked_actions,
                ..former
            },
            _ => last,
        }))
    }

    pub fn basket(&self, dataset: DatasetId) -> Result<Selection, Failure> {
        match self.load(&StateKey::Basket(dataset))? {
            Some(StateValue::Basket(_, selection)) => Ok(selection),
            _ => Ok(Selection::default()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredJob {
    pub job: JobRecord,
    pub is_followed: bool,
}

impl StateFolder {
    /// Returns all jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<StoredJob>, Failure> {
        let mut all = BTreeMap::<_, StoredJob>::new();
        for path in self.job_files() {
            let is_locked = job_files::is_locked(&path).map_err(file_failure(&path, "read"))?;
            for job in read_jobs(&path)? {
                // A crash between writing and removing leaves a job in two files, so the job is
                // kept only once.
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
            let lock = job_files::try_lock(&path).map_err(file_failure(&path, "read"))?;
            let Some(lock) = lock else { continue };
            let (removed, this_instance): (Vec<_>, Vec<_>) =
                read_jobs(&path)?.into_iter().partition(&forgets);
            if !removed.is_empty() {
                let remaining = StateValue::Jobs { this_instance, other_instances: Vec::new() };
                write(&path, &remaining)?;
                forgotten += removed.len();
            }
            // A child that is being started has a copy of the file, with which the lock would last longer. An error is
            // ignored, because closing the file ends the lock as well.
            let _ = lock.unlock();
        }
        Ok(forgotten)
    }

    fn job_files(&self) -> impl Iterator<Item = PathBuf> {
        self.dir.iter().flat_map(|folder| job_files::list_files(folder))
    }
}

/// Has a folder for each dataset that has named selections, so that datasets can use the same names.
const SELECTIONS_DIR: &str = "selections";

impl StateFolder {
    /// Returns the selection, or `None` if the name is unknown. `tag:NAME` is what has a tag that is kept on this
    /// machine.
    pub fn load_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
    ) -> Result<Option<Selection>, Failure> {
        if let Some(tag) = name.strip_prefix("tag:") {
            let tags = self.load(&StateKey::KeptTags(dataset))?;
            return Ok(match tags {
                Some(StateValue::KeptTags(_, mut tags)) => tags.shift_remove(&SafeText::name(tag)),
                _ => None,
            });
        }
        let path = self.named_selection_path(name, dataset)?;
        let selection =
            read_text(&path)?.map(|source| selections::read_selection(&source, dataset));
        selection.transpose().map_err(damaged_file(&path))
    }

    /// Returns the selection.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn named_selection(&self, name: &str, dataset: DatasetId) -> Result<Selection, Failure> {
        self.load_named_selection(name, dataset)?.ok_or_else(|| {
            Failure::new(FailureKind::NotFound, format!("unknown selection `{name}`"))
        })
    }

    /// Returns the names that selections of the dataset have already.
    ///
    /// # Errors
    /// No selection of the dataset can have one of the names.
    pub fn taken_names<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
        dataset: DatasetId,
    ) -> Result<Vec<String>, Failure> {
        let mut taken = Vec::new();
        for name in names {
            if self.has_named_selection(name, dataset)? {
                taken.push(name.clone());
            }
        }
        Ok(taken)
    }

    /// Returns whether a selection of the dataset has this name.
    ///
    /// # Errors
    /// No selection of the dataset can have this name.
    pub fn has_named_selection(&self, name: &str, dataset: DatasetId) -> Result<bool, Failure> {
        let path = self.named_selection_path(name, dataset)?;
        path.try_exists().map_err(file_failure(&path, "read"))
    }

    /// Saves a selection under a name. Returns `None` if an older one of the same dataset is kept instead.
    pub fn save_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
        selection: &Selection,
        existing: ExistingFile,
    ) -> Result<Option<PathBuf>, Failure> {
        let _lock = self.lock_named_selection(name, dataset)?;
        if existing == ExistingFile::Keep && self.has_named_selection(name, dataset)? {
            return Ok(None);
        }
        self.replace_named_selection(name, dataset, selection).map(Some)
    }

    /// Saves selections under names, or none of them if older ones are kept instead. Returns the names of these.
    pub fn save_named_selections(
        &self,
        dataset: DatasetId,
        selections: &BTreeMap<String, Selection>,
        existing: ExistingFile,
    ) -> Result<Vec<String>, Failure> {
        let paths = selections.keys().map(|name| self.named_selection_path(name, dataset));
        // All processes lock in the same order, so that they do not wait for each other.
        let paths: BTreeSet<PathBuf> = paths.collect::<Result<_, _>>()?;
        let _locks: Vec<ChangeLock> =
            paths.iter().map(|path| lock(path)).collect::<Result<_, _>>()?;
        let taken = self.taken_names(selections.keys(), dataset)?;
        if existing == ExistingFile::Keep && !taken.is_empty() {
            return Ok(taken);
        }
        for (name, selection) in selections {
            self.replace_named_selection(name, dataset, selection)?;
        }
        Ok(Vec::new())
    }

    /// Empties a basket, whatever its file contains.
    pub fn clear_basket(&self, dataset: DatasetId) -> Result<(), Failure> {
        let empty = StateValue::Basket(dataset, Selection::default());
        let name = file_name(&empty.key());
        let Some((folder, name)) = self.dir.as_ref().zip(name) else { return Ok(()) };
        let path = folder.join(name);
        let _lock = lock(&path)?;
        write(&path, &empty)
    }

    /// Waits until no other process changes a selection.
    pub fn lock_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
    ) -> Result<ChangeLock, Failure> {
        lock(&self.named_selection_path(name, dataset)?)
    }

    /// Replaces a selection that was read under its lock, which the caller has.
    pub fn replace_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
        selection: &Selection,
    ) -> Result<PathBuf, Failure> {
        let path = self.named_selection_path(name, dataset)?;
        let text = format!("{:#}\n", selections::write_selection(dataset, selection));
        tessera_files::write_user_file(&path, &text).map_err(file_failure(&path, "written"))?;
        Ok(path)
    }

    /// Returns the tags that are kept on this machine, by dataset.
    pub fn kept_tags(&self) -> Result<Vec<(DatasetId, KeptTags)>, Failure> {
        let Some(folder) = &self.dir else { return Ok(Vec::new()) };
        let dataset = |name: &str| name.strip_prefix("tags-")?.strip_suffix(".json")?.parse().ok();
        let files = files_in(folder)?.into_iter();
        let mut datasets: Vec<_> =
            files.filter_map(|file| dataset(file.file_name()?.to_str()?).map(DatasetId)).collect();
        datasets.sort();
        let load = |dataset| match self.load(&StateKey::KeptTags(dataset))? {
            Some(StateValue::KeptTags(_, tags)) => Ok((dataset, tags)),
            _ => Ok((dataset, KeptTags::default())),
        };
        datasets.into_iter().map(load).collect()
    }

    /// Lists the names of the saved selections with their datasets, sorted.
    pub fn selection_names(&self) -> Result<Vec<(String, DatasetId)>, Failure> {
        let Some(folder) = self.dir.as_ref().map(|folder| folder.join(SELECTIONS_DIR)) else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for folder in files_in(&folder)? {
            let id = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
            let Some(dataset) = id.map(DatasetId) else { continue };
            let files = files_in(&folder)?.into_iter();
            let files = files.filter(|file| file.extension().is_some_and(|end| end == "json"));
            let stems =
                files.filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned()));
            names.extend(stems.map(|name| (name, dataset)));
        }
        names.sort();
        Ok(names)
    }

    /// Deletes a selection. Returns `false` if there was none.
    pub fn delete_named_selection(&self, name: &str, dataset: DatasetId) -> Result<bool, Failure> {
        let path = self.named_selection_path(name, dataset)?;
        let removed = tessera_files::if_exists(fs::remove_file(&path))
            .map_err(file_failure(&path, "removed"))?;
        Ok(removed.is_some())
    }

    fn named_selection_path(&self, name: &str, dataset: DatasetId) -> Result<PathBuf, Failure> {
        let error =
            |reason: &str| Failure::local(format!("`{name}` cannot name a selection: {reason}"));
        if name.starts_with("tag:") {
            return Err(error("it is a tag, which is changed in the interface"));
        }
        let name = composed(name);
        let plain = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        if name.trim().is_empty() || name.len() > 100 || !name.chars().all(plain) {
            return Err(error("use up to 100 letters, digits, spaces, - and _"));
        }
        let folder = self.dir.as_ref().ok_or_else(|| error("this system has no state folder"))?;
        let folder = folder.join(SELECTIONS_DIR).join(dataset.to_string());
        Ok(folder.join(format!("{name}.json")))
    }
}

/// Lists a folder, which need not exist.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries =
        tessera_files::if_exists(fs::read_dir(folder)).map_err(file_failure(folder, "read"))?;
    let paths = entries.into_iter().flatten().map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<io::Result<_>>().map_err(file_failure(folder, "read"))
}
