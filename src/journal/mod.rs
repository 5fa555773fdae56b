//! The state folder: what outlives the program, a JSON file per [`Book`].
//!
//! A file is replaced whole and at once, so a kill leaves the old one or the new one. Entries carry
//! a number; an older one that arrives late never replaces a newer one.

mod jobs;
mod ledger;
mod named;
mod query;
mod search;
mod seat;
mod selection;
mod text;
mod views;

use std::{
    collections::HashMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

pub use jobs::facts as job_facts;
pub use ledger::Noted;
use seat::Seats;
pub use selection::write as write_selection;
pub use views::write as write_views;

use crate::config::file;
use tessera_model::{Book, DatasetId, Entry, Failure, FailureKind, JobRecord, Selection};

/// The state of one deployment. Without a folder nothing outlives the program.
#[derive(Debug, Default)]
pub struct Journal {
    folder: Option<PathBuf>,
    newest: Mutex<HashMap<Book, u64>>,
    seats: Mutex<Seats>,
}

impl Journal {
    /// Keeps its files in `folder`, which is made when something is kept.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::default() }
    }

    /// Writes an entry, unless one with a higher number was written before.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the file cannot be written.
    pub fn keep(&self, number: u64, entry: &Entry) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let last = newest.entry(entry.book()).or_default();
        if number < *last {
            return Ok(());
        }
        *last = number;
        let Some(name) = text::file_name(&entry.book()) else {
            return self.keep_jobs(folder, entry);
        };
        let path = folder.join(name);
        file::replace(&path, &text::write(entry)).map_err(|error| failure(&path, "written", &error))
    }

    /// Writes our own jobs; what was taken over is in them, and goes.
    fn keep_jobs(&self, folder: &Path, entry: &Entry) -> Result<(), Failure> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let path = seats.own(folder).map_err(|error| failure(folder, "written", &error))?;
        file::replace(&path, &text::write(entry))
            .and_then(|()| seats.settle())
            .map_err(|error| failure(&path, "written", &error))
    }

    /// The jobs that copies left behind that are gone, and those of copies that are running.
    fn recall_jobs(&self, folder: &Path) -> Result<Option<Entry>, Failure> {
        if !folder.exists() {
            return Ok(None);
        }
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let others = seats.look(folder).map_err(|error| failure(folder, "read", &error))?;
        let read = |paths: &[PathBuf]| -> Result<Vec<JobRecord>, Failure> {
            let mut all = Vec::new();
            for path in paths {
                if let Some(Entry::Jobs { ours, .. }) = read(path, &Book::Jobs)? {
                    all.extend(ours);
                }
            }
            // A kill between writing and removing leaves a job in two files.
            all.sort_by_key(|record| record.started);
            all.dedup_by_key(|record| record.started);
            Ok(all)
        };
        let jobs = read(&others.left_behind).and_then(|ours| {
            read(&others.elsewhere).map(|elsewhere| Entry::Jobs { ours, elsewhere })
        });
        // What cannot be read stays where it is.
        jobs.map(Some).inspect_err(|_| seats.let_go())
    }

    /// Reads an entry back; `None` when it was never kept.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the file cannot be read, or is not what was written.
    pub fn recall(&self, book: &Book) -> Result<Option<Entry>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        match text::file_name(book) {
            Some(name) => read(&folder.join(name), book),
            None => self.recall_jobs(folder),
        }
    }
}

/// Saves a selection where a person wants it. Nothing is ever overwritten.
///
/// # Errors
/// [`FailureKind::Local`]: there is something at `path`, or it cannot be written.
pub fn save_selection(
    path: PathBuf,
    dataset: DatasetId,
    selection: &Selection,
) -> Result<PathBuf, Failure> {
    let text = format!("{:#}\n", selection::write(dataset, selection));
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let sentence = format!("{} exists already", path.display());
            Err(Failure::new(FailureKind::Local, sentence).remedy("Choose another name"))
        }
        Err(error) => {
            let sentence = format!("{} cannot be written: {error}", path.display());
            Err(Failure::new(FailureKind::Local, sentence).remedy("Choose another folder"))
        }
    }
}

/// Opens a selection of `dataset`, as it was saved or written by hand.
///
/// # Errors
/// [`FailureKind::Local`]: the file cannot be read, is no selection, or of another dataset.
pub fn open_selection(path: &Path, dataset: DatasetId) -> Result<Selection, Failure> {
    let refused = |reason: String| {
        Failure::new(FailureKind::Local, format!("{} cannot be opened: {reason}", path.display()))
    };
    let source = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    read_selection(&source, dataset).map_err(refused)
}

/// Reads the text of a selection of `dataset`.
///
/// # Errors
/// A sentence: it is no selection, or of another dataset.
pub fn read_selection(source: &str, dataset: DatasetId) -> Result<Selection, String> {
    let document = serde_json::from_str(source).map_err(|error| error.to_string())?;
    selection::read(dataset, &document)
}

fn read(path: &Path, book: &Book) -> Result<Option<Entry>, Failure> {
    let source = match fs::read_to_string(path) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(path, "read", &error)),
    };
    text::read(book, &source).map(Some).map_err(|reason| failure(path, "understood", &reason))
}

fn failure(path: &Path, what: &str, reason: &dyn std::fmt::Display) -> Failure {
    let sentence = format!("{} cannot be {what}: {reason}", path.display());
    Failure::new(FailureKind::Local, sentence).remedy("Move the file away to begin anew")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{
        DatasetId, EntityType, Granularity, JobRecord, Mark, Marked, MediaId, SafeText, Stamp,
        Standing, Work,
    };

    fn basket(media: u128) -> Entry {
        let mark = Mark {
            name: SafeText::file("a.jpg"),
            entity: EntityType::Images,
            granularity: Granularity::DEFAULT,
            what: Marked::Medium(MediaId(Uuid::from_u128(media)), None),
        };
        Entry::Basket(DatasetId(Uuid::nil()), [mark].into_iter().collect())
    }

    #[test]
    fn m24_a_basket_comes_back_and_the_newest_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::in_folder(folder.path().join("state"));
        let book = basket(1).book();
        assert_eq!(journal.recall(&book), Ok(None));
        journal.keep(2, &basket(2)).unwrap();
        journal.keep(1, &basket(1)).unwrap();
        assert_eq!(journal.recall(&book), Ok(Some(basket(2))));
        let fresh = Journal::in_folder(folder.path().join("state"));
        assert_eq!(fresh.recall(&book), Ok(Some(basket(2))));
    }

    fn job(second: u64) -> JobRecord {
        JobRecord {
            started: Stamp::from_secs(second),
            ended: None,
            dataset: DatasetId(Uuid::nil()),
            dataset_name: SafeText::name("x"),
            work: Work::Reindex,
            standing: Standing::Accepted,
        }
    }

    fn jobs(ours: &[u64], elsewhere: &[u64]) -> Entry {
        let all = |seconds: &[u64]| seconds.iter().copied().map(job).collect();
        Entry::Jobs { ours: all(ours), elsewhere: all(elsewhere) }
    }

    #[test]
    fn m20_one_copy_follows_a_job_and_the_next_takes_over_what_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::in_folder(folder.path().to_owned());
        let first = open();
        first.keep(1, &jobs(&[1], &[])).unwrap();
        let second = open();
        assert_eq!(second.recall(&Book::Jobs), Ok(Some(jobs(&[], &[1]))));
        second.keep(1, &jobs(&[2], &[])).unwrap();
        drop(first);
        assert_eq!(second.recall(&Book::Jobs), Ok(Some(jobs(&[1], &[]))));
        drop(second);
        let third = open();
        assert_eq!(third.recall(&Book::Jobs), Ok(Some(jobs(&[1, 2], &[]))), "nothing was written");
        third.keep(1, &jobs(&[1, 2], &[])).unwrap();
        drop(third);
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let kept = files.filter(|path| path.extension().is_some_and(|end| end == "json")).count();
        assert_eq!(kept, 1, "what was taken over is gone");
        assert_eq!(open().recall(&Book::Jobs), Ok(Some(jobs(&[1, 2], &[]))));
    }

    #[test]
    fn m20_jobs_that_cannot_be_read_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("jobs-0.json");
        fs::write(&damaged, "{").unwrap();
        let journal = Journal::in_folder(folder.path().to_owned());
        assert!(journal.recall(&Book::Jobs).is_err());
        journal.keep(1, &jobs(&[1], &[])).unwrap();
        assert_eq!(fs::read_to_string(damaged).unwrap(), "{");
    }

    #[test]
    fn row_38_a_selection_is_saved_once_and_opened_for_its_dataset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("night.json");
        let Entry::Basket(dataset, selection) = basket(3) else { panic!("a basket") };
        save_selection(path.clone(), dataset, &selection).unwrap();
        assert_eq!(open_selection(&path, dataset), Ok(selection));
        let again = save_selection(path.clone(), dataset, &Selection::default()).unwrap_err();
        assert!(again.to_string().contains("exists already"), "{again}");
        let other = open_selection(&path, DatasetId(Uuid::from_u128(9))).unwrap_err();
        assert!(other.to_string().contains("belongs to the dataset"), "{other}");
    }

    #[test]
    fn a_damaged_file_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::in_folder(folder.path().to_owned());
        let path = folder.path().join(text::file_name(&basket(1).book()).unwrap());
        fs::write(&path, "{\"schema\":").unwrap();
        let failure = journal.recall(&basket(1).book()).unwrap_err().to_string();
        assert!(failure.contains("cannot be understood"), "{failure}");
        assert!(path.exists());
    }
}
