//! Watches the folders of datasets, and compares a folder with its index after its files have changed.

use std::{
    collections::{BTreeSet, HashMap},
    fmt, mem,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tessera_media::ingest::file_names::printable_path;
use tessera_model::DatasetId;
use tessera_store::{dataset, indexing_task};

use crate::{
    Deployment, LocalError,
    originals::storage_location,
    task::note_comparison,
    usecase::{CANCELLED, ServiceError},
};

/// A folder is compared when nothing has changed in it for this time, because programs write files in several steps.
const QUIET_TIME: Duration = Duration::from_secs(1);
/// A folder in which files change all the time is compared at least this often.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// The time after which a folder is compared again that could not be compared, because its dataset is being indexed or
/// the folder is missing.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

const WATCH_REMEDY: &str =
    "start without --watch, or, on Linux, raise the limit fs.inotify.max_user_watches";

enum Message {
    Changed(notify::Result<Event>),
    Stop,
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // The receiver is gone if the thread has ended.
        let _ = self.messages.send(Message::Stop);
        // The panic hook has already reported a panic of the thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Deployment {
    /// Watches the folders of datasets on this machine. Buckets are not watched, because they do not report changes,
    /// and network file systems report only the changes of this machine.
    ///
    /// # Errors
    /// The store fails, or the system refuses to watch a folder, for example because the folder has too many
    /// subfolders.
    pub fn watch_folders(&self, datasets: &[DatasetId]) -> Result<FolderWatch, LocalError> {
        let (messages, received) = channel();
        let changed = messages.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // The service itself reads the folder all the time.
            let is_read =
                event.as_ref().is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
            if !is_read {
                // The receiver is gone once the thread has stopped.
                let _ = changed.send(Message::Changed(event));
            }
        });
        let mut folders = WatchedFolders {
            deployment: self.clone(),
            watcher: watcher.map_err(|error| unwatchable(None, &error))?,
            paths: HashMap::new(),
            // Files may have changed between the last comparison and the begin of the watch.
            changed: datasets.iter().copied().collect(),
        };
        for id in datasets {
            let record = self.store.read(|c| dataset::find(c, *id))?;
            let folder = record.map(|record| record.folder);
            if let Some(folder) = folder.filter(|folder| storage_location(folder).is_none()) {
                let result = folders.watch(&folder);
                result.map_err(|error| unwatchable(Some(&folder), &error))?;
                folders.paths.insert(*id, folder);
            }
        }
        let thread = thread::Builder::new().name("folder-watch".to_owned());
        let thread = thread.spawn(move || folders.run(&received));
        Ok(FolderWatch {
            messages,
            thread: Some(thread.map_err(|error| unwatchable(None, &error))?),
        })
    }
}

fn unwatchable(folder: Option<&Path>, cause: &dyn fmt::Display) -> LocalError {
    let folder = match folder {
        Some(path) => format!("the folder {}", printable_path(path)),
        None => "folders".to_owned(),
    };
    LocalError::Unusable(format!("{folder} cannot be watched ({cause}); {WATCH_REMEDY}"))
}

struct WatchedFolders {
    deployment: Deployment,
    watcher: RecommendedWatcher,
    paths: HashMap<DatasetId, PathBuf>,
    /// The datasets whose folders have changed and are not compared yet.
    changed: BTreeSet<DatasetId>,
}

impl WatchedFolders {
    /// Watches a folder, unless it is missing. It is watched when it is back.
    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        if folder.is_dir() {
            self.watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        Ok(())
    }

    fn run(mut self, received: &Receiver<Message>) {
        loop {
            let message = if self.changed.is_empty() {
                received.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                received.recv_timeout(RETRY_INTERVAL)
            };
            match message {
                Ok(Message::Changed(event)) => self.note(event),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            if !self.wait_until_quiet(received) {
                return;
            }
            self.compare();
        }
    }

    /// Returns `false` if the watch has ended.
    fn wait_until_quiet(&mut self, received: &Receiver<Message>) -> bool {
        let deadline = Instant::now() + MAX_DELAY;
        while Instant::now() < deadline {
            match received.recv_timeout(QUIET_TIME) {
                Ok(Message::Changed(event)) => self.note(event),
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Notes the datasets that an event belongs to. After lost events, every folder may have changed.
    fn note(&mut self, event: notify::Result<Event>) {
        let paths = match event {
            Ok(event) if event.need_rescan() => None,
            Ok(event) => Some(event.paths),
            Err(_) => None,
        };
        let is_in = |folder: &PathBuf| {
            paths.as_ref().is_none_or(|paths| paths.iter().any(|path| path.starts_with(folder)))
        };
        let changed = self.paths.iter().filter(|(_, folder)| is_in(folder));
        self.changed.extend(changed.map(|(id, _)| *id));
    }

    fn compare(&mut self) {
        for id in mem::take(&mut self.changed) {
            let Some(folder) = self.paths.get(&id).cloned() else { continue };
            match self.compare_folder(id, &folder) {
                Ok(true) => note_comparison(&self.deployment.store, id, None),
                // The dataset was removed.
                Err(ServiceError::NotFound(_)) => {
                    self.paths.remove(&id);
                }
                Ok(false) => _ = self.changed.insert(id),
                Err(cause) => {
                    note_comparison(&self.deployment.store, id, Some(&cause.sentence()));
                    self.changed.insert(id);
                }
            }
        }
    }

    /// Returns `false` if the folder cannot be compared now.
    fn compare_folder(&mut self, id: DatasetId, folder: &Path) -> Result<bool, ServiceError> {
        // The folder is not listed in vain while the dataset is being indexed.
        if self.deployment.store.read(|c| indexing_task::find_running(c, id))?.is_some() {
            return Ok(false);
        }
        // An indexing that the user has cancelled goes on only when the user asks for it.
        let record = self.deployment.store.read(|c| dataset::find(c, id))?;
        if record.is_some_and(|record| record.fatal_error.as_deref() == Some(CANCELLED)) {
            return Ok(true);
        }
        // The record of the dataset says that its folder is missing.
        if self.deployment.folder_is_missing(id)? {
            return Ok(false);
        }
        // A folder that was missing has a new inode, which is not watched yet.
        self.watch(folder).map_err(|cause| {
            ServiceError::Conflict(format!("it cannot be watched ({cause}); {WATCH_REMEDY}"))
        })?;
        self.deployment.rescan(id, None).map(|_| true)
    }
}
