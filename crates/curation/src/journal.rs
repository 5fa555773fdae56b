//! The journal of actions. A journal is one file per action: the whole plan, which is durable before the first step,
//! and after it a record for each step. The disk shows which steps were done after the last record, so a crash needs no
//! record of its own.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tessera_files::{
    ensure_own_private_dir, if_exists, open_locked, parent_dir, sync_dir, synced, write_durably,
};
use uuid::Uuid;

use crate::{Error, Plan, Step, stored_path};

/// The number of journals that are kept, so that older actions can still be looked up.
const KEPT_JOURNALS: usize = 20;
const EXTENSION: &str = "jsonl";
/// The version of the lines of a journal.
const VERSION: u32 = 1;

/// The folder with the journals of this user.
#[derive(Clone, Debug)]
pub struct JournalFolder(PathBuf);

/// Identifies an action on files.
pub type ActionId = Uuid;

/// What an action is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub version: u32,
    pub id: ActionId,
    pub action: String,
    /// Seconds since 1970.
    pub started_at: u64,
    pub steps: usize,
    /// The folders that the action creates.
    pub new_folders: Vec<Folder>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder(#[serde(with = "stored_path")] pub PathBuf);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The hash of a file that the index does not have. Another disk may shorten the time of the file.
    Hashed(usize, [u8; 32]),
    Done(usize),
    Failed(usize, String),
    /// The action has ended. The remaining steps are not done.
    Finished,
    Undone(usize),
    /// An undo has tried all files, and left some of them.
    UndoTried,
    /// The action was reverted as far as possible.
    UndoFinished,
}

/// How far a step is known to have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StepState {
    #[default]
    Unknown,
    Done,
    Failed,
    Undone,
}

/// An open journal. The lock keeps other processes from acting on files at the same time.
#[derive(Debug)]
pub struct Journal {
    pub header: Header,
    pub steps: Vec<Step>,
    pub(crate) states: Vec<StepState>,
    is_finished: bool,
    pub(crate) is_undo_tried: bool,
    is_undone: bool,
    path: PathBuf,
    file: File,
    _lock: Arc<Lock>,
}

/// The lock of a folder of journals. Closing the file would not unlock it while a program that another thread starts
/// still has a copy of the file.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The end of the process unlocks the file, too.
        let _ = self.0.unlock();
    }
}

impl JournalFolder {
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Writes the journal of a new action.
    pub fn begin(&self, plan: &Plan, started_at: u64) -> Result<Journal, Error> {
        let lock = self.lock()?;
        if let Some(last) = self.newest()? {
            Journal::open(&last, &lock)?.interruption().map_or(Ok(()), Err)?;
        }
        let header = Header {
            version: VERSION,
            id: Uuid::new_v4(),
            action: plan.action.name().to_owned(),
            started_at,
            steps: plan.steps.len(),
            new_folders: new_folders(&plan.steps),
        };
        let mut text = line(&header)?;
        for step in &plan.steps {
            text.extend(line(&step.for_journal())?);
        }
        let path = self.0.join(format!("{:020}-{}.{EXTENSION}", self.next_number()?, header.id));
        write_durably(&path, text)?;
        Ok(Journal::open(&path, &lock)?)
    }

    /// Opens the journal of the last action that was not undone.
    pub fn last(&self) -> Result<Journal, Error> {
        let lock = self.lock()?;
        for path in self.paths()?.iter().rev() {
            let mut journal = Journal::open(path, &lock)?;
            if !journal.is_undone && !journal.steps.is_empty() {
                // A record that was cut off must not swallow the next one.
                journal.file.write_all(b"\n")?;
                return Ok(journal);
            }
        }
        Err(Error::Nothing)
    }

    /// Returns how far an interrupted action came, if the last action was interrupted and no process carries it on.
    pub fn interrupted(&self) -> Option<Error> {
        let lock = self.lock().ok()?;
        Journal::open(&self.newest().ok()??, &lock).ok()?.interruption()
    }

    fn lock(&self) -> Result<Arc<Lock>, Error> {
        ensure_own_private_dir(&self.0)?;
        open_locked(&self.0.join("lock"))?.map(|file| Arc::new(Lock(file))).ok_or(Error::Busy)
    }

    fn paths(&self) -> io::Result<Vec<PathBuf>> {
        let entries = if_exists(fs::read_dir(&self.0))?.into_iter().flatten();
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    fn newest(&self) -> io::Result<Option<PathBuf>> {
        Ok(self.paths()?.pop())
    }

    /// Returns the number of the next journal. Numbers keep their order when the clock of the machine is set back.
    fn next_number(&self) -> io::Result<u64> {
        let number = |path: &PathBuf| path.file_stem()?.to_str()?.split('-').next()?.parse().ok();
        Ok(self.newest()?.as_ref().and_then(number).map_or(1, |last: u64| last + 1))
    }

    /// Removes the oldest journals. Only an action that did something takes the place of an older one.
    pub(crate) fn remove_old(&self) -> io::Result<()> {
        let paths = self.paths()?;
        let old = paths.len().saturating_sub(KEPT_JOURNALS);
        paths.iter().take(old).try_for_each(fs::remove_file)
    }
}

impl Journal {
    fn open(path: &Path, lock: &Arc<Lock>) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let mut lines = BufReader::new(file.try_clone()?).split(b'\n');
        let mut next = || lines.next().transpose()?.ok_or_else(|| damaged(path));
        let header: Header = parse(&next()?, path)?;
        if header.version != VERSION {
            let message = format!(
                "{} has another version; use the program that wrote it, or move it away to go on",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let steps = (0..header.steps).map(|_| parse(&next()?, path));
        let steps = steps.collect::<io::Result<Vec<Step>>>()?;
        let mut journal = Self {
            header,
            states: vec![StepState::default(); steps.len()],
            steps,
            is_finished: false,
            is_undo_tried: false,
            is_undone: false,
            path: path.to_owned(),
            file,
            _lock: Arc::clone(lock),
        };
        for line in lines {
            // A record may be cut off, and the disk shows what it would say. An empty line separates two runs.
            if let Ok(record) = serde_json::from_slice(&line?) {
                journal.apply(&record);
            }
        }
        Ok(journal)
    }

    fn apply(&mut self, record: &Record) {
        let (number, state) = match record {
            Record::Hashed(number, hash) => {
                if let Some(step) = self.steps.get_mut(*number) {
                    step.content.hash = Some(*hash);
                }
                return;
            }
            Record::Done(number) => (*number, StepState::Done),
            Record::Failed(number, _) => (*number, StepState::Failed),
            Record::Undone(number) => (*number, StepState::Undone),
            Record::Finished => return self.is_finished = true,
            Record::UndoTried => return self.is_undo_tried = true,
            Record::UndoFinished => return self.is_undone = true,
        };
        if let Some(known) = self.states.get_mut(number) {
            *known = state;
        }
    }

    /// Returns how far the action came, if it was interrupted.
    fn interruption(&self) -> Option<Error> {
        let done = self.states.iter().filter(|state| **state == StepState::Done).count();
        let all = self.steps.len();
        (!self.is_finished()).then_some(Error::Interrupted { done, all })
    }

    /// Returns the steps that an undo would revert, the last step first. The step at which an action was interrupted is
    /// one of them, because it may be done.
    pub fn steps_to_undo(&self) -> Vec<Step> {
        let interrupted = self.states.iter().position(|state| *state == StepState::Unknown);
        let interrupted = interrupted.filter(|_| !self.is_finished());
        let states = self.states.iter().enumerate();
        let done = states
            .filter(|(number, state)| **state == StepState::Done || Some(*number) == interrupted);
        done.rev().map(|(number, _)| self.steps[number].clone()).collect()
    }

    /// Returns the steps that a resumed action would carry out.
    pub fn steps_to_resume(&self) -> Result<Vec<Step>, Error> {
        if self.is_finished() {
            return Err(Error::NotInterrupted);
        }
        let steps = self.steps.iter().zip(&self.states);
        let open = steps.filter(|(_, state)| **state == StepState::Unknown);
        Ok(open.map(|(step, _)| step.clone()).collect())
    }

    pub fn is_finished(&self) -> bool {
        self.is_finished || self.is_undone
    }

    /// Appends a record, which survives the end of this process.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        self.file.write_all(&line(record)?)?;
        self.apply(record);
        Ok(())
    }

    /// Appends the last record of a run, which also survives a power cut.
    pub(crate) fn finish(&mut self, record: &Record) -> io::Result<()> {
        self.append(record)?;
        synced(self.file.sync_all())
    }

    /// Makes the names in the folders of all files durable.
    pub(crate) fn sync_folders(&self) -> io::Result<()> {
        let files = self.steps.iter().flat_map(|step| [&step.source, &step.target]);
        let folders: BTreeSet<&Path> = files.filter_map(|file| file.parent()).collect();
        folders.into_iter().filter(|folder| folder.is_dir()).try_for_each(sync_dir)
    }

    /// Removes the folders that the action created. A folder with files stays.
    pub(crate) fn remove_new_folders(&self) {
        for folder in self.header.new_folders.iter().rev() {
            let _ = fs::remove_dir(&folder.0);
        }
    }

    /// Removes the journal of an action that did nothing, which leaves nothing to undo.
    pub(crate) fn discard(self) -> io::Result<()> {
        self.remove_new_folders();
        fs::remove_file(&self.path)?;
        sync_dir(parent_dir(&self.path))
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8], path: &Path) -> io::Result<T> {
    serde_json::from_slice(line).map_err(|_| damaged(path))
}

fn damaged(path: &Path) -> io::Error {
    let message = format!(
        "{} is damaged; the files that it names were not changed by reading it. Move it away to go on",
        path.display()
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Returns the missing folders of all targets, outer folders first.
fn new_folders(steps: &[Step]) -> Vec<Folder> {
    let mut folders = BTreeSet::new();
    for step in steps {
        for folder in step.target.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || folders.contains(folder) || folder.exists() {
                break;
            }
            folders.insert(folder.to_owned());
        }
    }
    folders.into_iter().map(Folder).collect()
}
