//! Writes the files with the tags of datasets in the background. A user who tags many pictures one by one waits for the
//! file only once.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::tag_file::{synchronize, unwritable_reason};
use tessera_model::DatasetId;
use tessera_store::{
    Store, StoreError,
    dataset::{self, DatasetRecord},
    lock,
};

/// A file is written when its tags have not changed for this time.
const QUIET_TIME: Duration = Duration::from_millis(300);
/// A file is written at least this often while its tags change.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// The thread that writes the files. Dropping it writes what is not written yet.
pub(crate) struct TagWriter {
    files: Arc<TagFiles>,
    changed: Option<Sender<DatasetId>>,
    thread: Option<JoinHandle<()>>,
}

struct TagFiles {
    store: Arc<Store>,
    /// The problems of the files that were used.
    problems: Mutex<HashMap<DatasetId, Vec<String>>>,
}

impl TagWriter {
    pub fn start(store: &Arc<Store>) -> Self {
        let files = Arc::new(TagFiles { store: store.clone(), problems: Mutex::default() });
        let (changed, received) = channel();
        let body = {
            let files = files.clone();
            move || files.run(&received)
        };
        // Without the thread, files are written when they are used for the first time, and when their folders are
        // opened again.
        let thread = thread::Builder::new().name("tags".to_owned()).spawn(body).ok();
        Self { files, changed: Some(changed), thread }
    }

    /// Makes the index and the file of a dataset agree, and returns the problems of the file.
    pub fn synchronize(&self, record: &DatasetRecord) -> Result<Vec<String>, StoreError> {
        self.files.synchronize(record)
    }

    /// Writes the file of a dataset whose tags were changed, in the background. Returns the problems of the file.
    pub fn note_change(&self, record: &DatasetRecord) -> Vec<String> {
        // The thread is gone only if it could not be started.
        let _ = self.changed.as_ref().map(|changed| changed.send(record.id));
        let mut problems = self.problems(record.id);
        // The reason is known before the file is written.
        let reason = unwritable_reason(&self.files.store, record).filter(|_| problems.is_empty());
        problems.extend(reason);
        problems
    }

    /// Returns the problems of the file of a dataset.
    pub fn problems(&self, id: DatasetId) -> Vec<String> {
        lock(&self.files.problems).get(&id).cloned().unwrap_or_default()
    }
}

impl Drop for TagWriter {
    fn drop(&mut self) {
        self.changed = None;
        // The panic hook has already reported a panic of the thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl TagFiles {
    fn synchronize(&self, record: &DatasetRecord) -> Result<Vec<String>, StoreError> {
        let problems = synchronize(&self.store, record)?;
        lock(&self.problems).insert(record.id, problems.clone());
        Ok(problems)
    }

    fn run(&self, received: &Receiver<DatasetId>) {
        loop {
            let Ok(first) = received.recv() else { return };
            let mut changed = BTreeSet::from([first]);
            let deadline = Instant::now() + MAX_DELAY;
            let mut is_last = false;
            while Instant::now() < deadline {
                match received.recv_timeout(QUIET_TIME) {
                    Ok(id) => _ = changed.insert(id),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        is_last = true;
                        break;
                    }
                }
            }
            for id in changed {
                if let Ok(Some(record)) = self.store.read(|c| dataset::find(c, id)) {
                    // If the store fails, the file is written when the folder is opened again.
                    let _ = self.synchronize(&record);
                }
            }
            if is_last {
                return;
            }
        }
    }
}
