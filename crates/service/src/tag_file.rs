//! The file with the tags of a dataset, `.tessera/tags.jsonl` in its folder. It survives the loss of the index, and can
//! be copied together with the pictures. The first line says which store has written the file. Each other line is a tag,
//! or a file with its tags and its rating. The index is authoritative: the file is read only when somebody else has
//! changed it. It is written in the background, so that a user who tags many pictures one by one waits for the file only
//! once.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::originals::{known_media_exist, may_exist, storage_location};
use serde::{Deserialize, Serialize};
use tessera_files::{error_name, if_exists, shared_temporary, write_new_file, write_shared_file};
use tessera_media::ingest::{OriginalFiles as _, SandboxedDir, TAGS_FOLDER};
use tessera_model::{
    DatasetId, TagColor, TagId, UserTags,
    tag::{MAX_RATING, tag_name},
};
use tessera_store::{
    Store, StoreError,
    dataset::{self, DatasetRecord},
    source,
    tag_ids::name_id,
    tagged_files::{self, TagFileState, TagSnapshot, TaggedFile},
    tags::TagDefinition,
};
use uuid::Uuid;

const FILE: &str = "tags.jsonl";
/// The maximum size of the file, which has about 200 bytes for each tagged picture.
const MAX_BYTES: u64 = 512 << 20;
/// The size of the file that tests whether a folder can be written. It is too large to fit into an inode.
const CHECK_BYTES: usize = 4_096;
/// The number of unreadable lines that are reported one by one.
const MAX_REPORTED: usize = 5;

/// Who wrote a file, and what. Nobody has changed the file since if the hash is that of the other lines.
#[derive(Serialize, Deserialize)]
struct Origin {
    /// [`Store::writer_id`].
    store: Uuid,
    dataset: DatasetId,
    /// The revision of the tags in this store.
    revision: i64,
    /// The BLAKE3 hash of the other lines in hexadecimal digits.
    lines: String,
}

/// A line of the file: its origin, a tag with its color, or a file with its tags.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Origin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    /// The identifier, unless it is that of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<TagId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The bytes of a path that is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_bytes: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    region: Option<[f64; 4]>,
    /// The BLAKE3 hash of the file in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(default, skip_serializing_if = "is_unrated")]
    rating: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_unrated(rating: &u8) -> bool {
    *rating == 0
}

/// What a file contains, and its unreadable lines.
struct ReadFile {
    content: TagSnapshot,
    /// The numbers of the lines, counted from 1, with the reasons.
    unreadable: Vec<(usize, String)>,
}

/// Makes the index and the file beside a dataset agree. Returns the problems of the file, which are safe to send to
/// clients.
pub(crate) fn synchronize_file(
    store: &Store,
    record: &DatasetRecord,
) -> Result<Vec<String>, StoreError> {
    let known = store.read(|c| tagged_files::state(c, record.id))?;
    let has_changes = known.revision > known.written;
    let location = match TagFolder::open(store, record, has_changes) {
        Ok(location) => location,
        Err(reason) => return Ok(vec![only_in_index(&reason)]),
    };
    let unusable = |cause: &io::Error| {
        vec![only_in_index(&format!("{TAGS_FOLDER}/{FILE} cannot be used: {cause}"))]
    };
    let mut problems = Vec::new();
    let found = match location.read() {
        Ok(found) => found,
        Err(cause) => return Ok(unusable(&cause)),
    };
    let known = store.read(|c| tagged_files::state(c, record.id))?;
    let changed = found.as_ref().filter(|bytes| known.file != Some(hash(bytes)));
    let origin = (store.writer_id()?, record.id);
    let is_outdated = changed.is_some_and(|bytes| {
        own_revision(origin, bytes).is_some_and(|revision| is_outdated(store, &known, revision))
    });
    if let Some(bytes) = changed.filter(|_| !is_outdated)
        && let Err(cause) = replace_tags(store, record.id, &location, bytes, &mut problems)?
    {
        return Ok([problems, unusable(&cause)].concat());
    }
    let (state, snapshot) = store.read(|c| {
        Ok((tagged_files::state(c, record.id)?, tagged_files::snapshot(c, record.id)?))
    })?;
    let is_lost =
        found.is_none() && !(snapshot.files.is_empty() && snapshot.definitions.is_empty());
    if state.revision > state.written || is_lost || is_outdated {
        let lines = write_lines(record.id, &snapshot);
        let lines = with_origin(origin, state.revision, lines);
        if let Err(cause) = location.write(&lines) {
            return Ok([problems, vec![only_in_index(&unwritable(&cause))]].concat());
        }
        let written = hash(&lines);
        store.write(|tx| tagged_files::mark_written(tx, record.id, state.revision, &written))?;
    }
    Ok(problems)
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Whether this store has written a file with this revision before its last write. If nobody has changed the file
/// since, it says nothing that the index does not know.
fn is_outdated(store: &Store, known: &TagFileState, revision: i64) -> bool {
    // The process that wrote this was ended before it could record the write.
    let is_unrecorded = (known.written + 1..=known.revision).contains(&revision);
    // Each machine can have a copy of the folder, and only one of them writes at a time. On a single machine, however,
    // the user has put a former file back.
    is_unrecorded || (store.is_on_server() && revision <= known.written)
}

/// Returns the revision of the tags in a file that a store has written for a dataset, and that nobody has changed
/// since.
fn own_revision((store, dataset): (Uuid, DatasetId), bytes: &[u8]) -> Option<i64> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let origin = serde_json::from_slice::<Line>(&bytes[..end]).ok()?.written?;
    let lines = blake3::Hash::from_bytes(hash(&bytes[end + 1..]));
    let is_own = (origin.store, origin.dataset) == (store, dataset);
    (is_own && origin.lines == lines.to_hex().as_str()).then_some(origin.revision)
}

fn with_origin((store, dataset): (Uuid, DatasetId), revision: i64, lines: Vec<u8>) -> Vec<u8> {
    let hash = blake3::Hash::from_bytes(hash(&lines)).to_hex().to_string();
    let written = Some(Origin { store, dataset, revision, lines: hash });
    let mut file = Vec::new();
    write_line(&mut file, &Line { written, ..Line::default() });
    file.extend(lines);
    file
}

/// Replaces the tags of a dataset by those of a file that another program has changed. Further files keep the tags that
/// the file lacks, and the lines that cannot be read. `problems` names these files.
fn replace_tags(
    store: &Store,
    dataset: DatasetId,
    location: &TagFolder,
    bytes: &[u8],
    problems: &mut Vec<String>,
) -> Result<io::Result<()>, StoreError> {
    let read = read_lines(dataset, bytes);
    let (known, former) = store
        .read(|c| Ok((tagged_files::state(c, dataset)?, tagged_files::snapshot(c, dataset)?)))?;
    let removes = read.unreadable.is_empty() && known.revision == known.written;
    if removes && lacks_any(&read.content, &former) {
        match location.set_aside("replaced", &write_lines(dataset, &former)) {
            Ok(name) => problems.push(format!(
                "{TAGS_FOLDER}/{FILE} was changed and lacks tags; the tags before are kept as {TAGS_FOLDER}/{name}"
            )),
            // Nothing can be kept in a folder that cannot be written, and the file is what users see.
            Err(cause) if is_read_only(&cause) => {}
            Err(cause) => return Ok(Err(cause)),
        }
    }
    import(store, dataset, &read, &hash(bytes))?;
    problems.extend(report(&read.unreadable));
    if read.unreadable.is_empty() {
        return Ok(Ok(()));
    }
    let kept = location.set_aside("damaged", bytes);
    Ok(kept.map(|name| {
        problems.push(format!("the file with these lines is kept as {TAGS_FOLDER}/{name}"));
    }))
}

fn is_read_only(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether a file lacks a tag or a rating that the index has.
fn lacks_any(file: &TagSnapshot, index: &TagSnapshot) -> bool {
    let place = |it: &TaggedFile| {
        let numbers = it.seconds.into_iter().chain(it.region.into_iter().flatten());
        (it.path.clone(), numbers.map(f64::to_bits).collect::<Vec<u64>>())
    };
    let found: HashMap<_, &UserTags> = file.files.iter().map(|it| (place(it), &it.given)).collect();
    let names: BTreeSet<&String> = file.definitions.iter().map(|tag| &tag.name).collect();
    index.definitions.iter().any(|tag| !names.contains(&tag.name))
        || index.files.iter().any(|it| {
            found.get(&place(it)).is_none_or(|given| {
                it.given.tags.iter().any(|tag| !given.tags.contains(tag))
                    || (it.given.rating > 0 && given.rating == 0)
            })
        })
}

/// Replaces the tags of a dataset by those of a file with this hash. Tags that are not written yet stay.
fn import(
    store: &Store,
    dataset: DatasetId,
    read: &ReadFile,
    hash: &[u8; 32],
) -> Result<(), StoreError> {
    store.write(|tx| {
        // Tags may have been changed while the file was read.
        let known = tagged_files::state(tx, dataset)?;
        let keep = !read.unreadable.is_empty() || known.revision > known.written;
        tagged_files::import(tx, dataset, &read.content, keep)?;
        if !keep {
            let revision = tagged_files::state(tx, dataset)?.revision;
            tagged_files::mark_written(tx, dataset, revision, hash)?;
        }
        Ok(())
    })
}

/// Returns why the tags of a dataset cannot be written beside it, if they cannot. It is safe to send to clients.
pub(crate) fn unwritable_reason(store: &Store, record: &DatasetRecord) -> Option<String> {
    let checked = TagFolder::create(store, record).and_then(|folder| {
        // A folder that exists may be read-only, and its disk may be full.
        let written = shared_temporary(&folder.join(FILE))
            .and_then(|mut file| file.write_all(&[0; CHECK_BYTES]));
        written.map_err(|cause| unwritable(&cause))
    });
    checked.err().map(|reason| only_in_index(&reason))
}

/// Whether a folder is the one of a dataset. A disk that is not connected often leaves a folder behind in which none of
/// the known files exist.
fn has_known_files(store: &Store, record: &DatasetRecord) -> Result<bool, StoreError> {
    let source = store.read(|c| source::dataset_folder(c, record.id))?;
    let exist =
        source.map(|source| known_media_exist(store, &source, usize::MAX)).transpose()?.flatten();
    if exist == Some(true) {
        return Ok(true);
    }
    // The index may have lost the files since they were tagged.
    let tagged = store.read(|c| tagged_files::snapshot(c, record.id))?.files;
    // Uploads are in the index folder, and their paths begin with a dot.
    let is_own = |file: &&TaggedFile| file.path.is_relative() && !file.path.starts_with(".");
    let mut tagged = tagged.iter().filter(is_own).peekable();
    let is_new = exist.is_none() && tagged.peek().is_none();
    Ok(is_new || tagged.any(|file| may_exist(&record.folder, &file.path)))
}

fn unwritable(cause: &io::Error) -> String {
    format!("its folder cannot be written ({})", error_name(cause))
}

fn only_in_index(reason: &str) -> String {
    format!("the tags are kept only in the index, because {reason}")
}

fn report(unreadable: &[(usize, String)]) -> Vec<String> {
    let shown = unreadable.iter().take(MAX_REPORTED);
    let mut lines: Vec<String> = shown
        .map(|(line, reason)| {
            format!("{TAGS_FOLDER}/{FILE}, line {line}: {reason}; this line was not read")
        })
        .collect();
    if let Some(more) = unreadable.len().checked_sub(MAX_REPORTED).filter(|more| *more > 0) {
        lines.push(format!("{TAGS_FOLDER}/{FILE}: {more} more lines were not read"));
    }
    lines
}

/// The folder with the file, and the lock that keeps other processes from writing the file.
struct TagFolder {
    dataset: PathBuf,
    /// `None` while the folder does not exist.
    _lock: Option<File>,
}

impl TagFolder {
    /// Fails with the reason if a dataset has no folder of its own on this machine, or if that folder is missing.
    fn check(store: &Store, record: &DatasetRecord) -> Result<PathBuf, String> {
        let dataset = &record.folder;
        if storage_location(dataset).is_some() {
            return Err("the dataset is in object storage".to_owned());
        }
        if dataset.starts_with(store.opened_archives_dir()) {
            return Err("the dataset is an archive".to_owned());
        }
        let folder = dataset.join(TAGS_FOLDER);
        // A link could lead to files that are not part of the dataset.
        let is_other = fs::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir());
        if is_other {
            return Err(format!("{TAGS_FOLDER} in its folder is not a folder"));
        }
        if !has_known_files(store, record).map_err(|cause| cause.public_message())? {
            return Err("its folder contains none of its files".to_owned());
        }
        Ok(folder)
    }

    fn create(store: &Store, record: &DatasetRecord) -> Result<PathBuf, String> {
        let folder = Self::check(store, record)?;
        match fs::create_dir(&folder) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => Err(unwritable(&cause)),
            _ => Ok(folder),
        }
    }

    /// Opens and locks the folder. It is created if something will be written to it.
    fn open(store: &Store, record: &DatasetRecord, create: bool) -> Result<Self, String> {
        let folder = if create { Self::create(store, record) } else { Self::check(store, record) };
        let folder = folder?;
        let opened = if_exists(File::open(&folder)).and_then(|file| {
            file.map(|file| tessera_files::lock(&file).map(|()| file)).transpose()
        });
        let opened = opened.map_err(|cause| format!("{TAGS_FOLDER} cannot be opened: {cause}"))?;
        Ok(Self { dataset: record.folder.clone(), _lock: opened })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dataset.join(TAGS_FOLDER).join(name)
    }

    /// Returns `None` if there is no file, or if it has no lines, as a failed copy leaves it.
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let Some(folder) = if_exists(SandboxedDir::open(&self.dataset))? else { return Ok(None) };
        let relative = Path::new(TAGS_FOLDER).join(FILE);
        let Some(file) = if_exists(folder.open_file(&relative))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::Error::other("it is larger than 512 MiB"));
        }
        Ok(Some(bytes).filter(|bytes| !bytes.trim_ascii().is_empty()))
    }

    /// Writes what would be lost to a file with an unused name, and returns the name.
    fn set_aside(&self, kind: &str, lines: &[u8]) -> io::Result<String> {
        let numbered = (2..).map(|number| format!("tags.{kind}-{number}.jsonl"));
        for name in std::iter::once(format!("tags.{kind}.jsonl")).chain(numbered) {
            match write_new_file(&self.path(&name), lines) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|()| name),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn write(&self, lines: &[u8]) -> io::Result<()> {
        match fs::create_dir(self.dataset.join(TAGS_FOLDER)) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
            _ => {}
        }
        write_shared_file(&self.path(FILE), lines)
    }
}

fn read_lines(dataset: DatasetId, bytes: &[u8]) -> ReadFile {
    let content = TagSnapshot { definitions: Vec::new(), files: Vec::new() };
    let mut read = ReadFile { content, unreadable: Vec::new() };
    // Some editors write a byte order mark.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(reason) = read_line(dataset, line, &mut read.content) {
            read.unreadable.push((number, reason));
        }
    }
    read
}

fn read_line(dataset: DatasetId, line: &[u8], content: &mut TagSnapshot) -> Result<(), String> {
    let line: Line =
        serde_json::from_slice(line).map_err(|_| "it is not an entry in JSON".to_owned())?;
    if line.written.is_some() {
        return Ok(());
    }
    let name = |text: &str| tag_name(text).ok_or_else(|| "a tag has no printable name".to_owned());
    if let Some(tag) = line.tag {
        let name = name(&tag)?;
        let color = line.color.map(|color| color.parse::<TagColor>()).transpose()?;
        let color = color.unwrap_or_else(|| TagColor::of_new(&name, content.definitions.len()));
        let id = line.id.unwrap_or_else(|| name_id(dataset, &name));
        content.definitions.push(TagDefinition { id, name, color: color.as_str().to_owned() });
        return Ok(());
    }
    let path = match (line.path, line.path_bytes) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(bytes)) => PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)),
        (None, None) => return Err("it has neither a tag nor a path".to_owned()),
    };
    if line.rating > MAX_RATING {
        return Err(format!("the rating is above {MAX_RATING}"));
    }
    let hash = line.content.map(blake3::Hash::from_hex).transpose();
    let hash = hash.map_err(|_| "content is not a hash of 64 digits".to_owned())?;
    let mut tags: Vec<String> = Vec::new();
    for tag in &line.tags {
        let name = name(tag)?;
        if !tags.contains(&name) {
            tags.push(name);
        }
    }
    content.files.push(TaggedFile {
        path,
        seconds: line.seconds,
        region: line.region,
        // Without a hash, the file is found by its path.
        content: hash.map_or([0; 32], |hash| *hash.as_bytes()),
        given: UserTags { tags, rating: line.rating },
    });
    Ok(())
}

fn write_lines(dataset: DatasetId, snapshot: &TagSnapshot) -> Vec<u8> {
    let mut lines = Vec::new();
    for TagDefinition { id, name, color } in &snapshot.definitions {
        let (tag, color) = (Some(name.clone()), Some(color.clone()));
        let id = (*id != name_id(dataset, name)).then_some(*id);
        write_line(&mut lines, &Line { tag, color, id, ..Line::default() });
    }
    for TaggedFile { path, seconds, region, content, given } in &snapshot.files {
        let text = path.to_str().map(str::to_owned);
        let bytes = text.is_none().then(|| path.as_os_str().as_bytes().to_vec());
        let hash = (*content != [0; 32]).then(|| blake3::Hash::from_bytes(*content).to_hex());
        let line = Line {
            path: text,
            path_bytes: bytes,
            seconds: *seconds,
            region: *region,
            content: hash.map(|hash| hash.to_string()),
            tags: given.tags.clone(),
            rating: given.rating,
            ..Line::default()
        };
        write_line(&mut lines, &line);
    }
    lines
}

fn write_line(file: &mut Vec<u8>, line: &Line) {
    // Writing to memory does not fail, and every key is text.
    let _ = serde_json::to_writer(&mut *file, line);
    file.push(b'\n');
}

/// A file is written when its tags have not changed for this time.
const QUIET_TIME: Duration = Duration::from_millis(300);
/// A file is written at least this often while its tags change.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// The thread that writes the files. Dropping it writes what is not written yet.
pub(crate) struct TagWriter {
    files: Arc<TagFiles>,
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

enum Request {
    /// Write the file of this dataset soon.
    Changed(DatasetId),
    /// Write everything at once. The sender is dropped when it is written.
    Flush(Sender<()>),
}

struct TagFiles {
    store: Arc<Store>,
    /// The problems of the files that were used.
    problems: Mutex<HashMap<DatasetId, Vec<String>>>,
}

impl TagWriter {
    pub fn start(store: &Arc<Store>) -> Self {
        let files = Arc::new(TagFiles { store: store.clone(), problems: Mutex::default() });
        let (requests, received) = channel();
        let body = {
            let files = files.clone();
            move || files.run(&received)
        };
        // Without the thread, files are written when they are used for the first time, and when their folders are
        // opened again.
        let thread = thread::Builder::new().name("tags".to_owned()).spawn(body).ok();
        Self { files, requests: Some(requests), thread }
    }

    /// Makes the index and the file of a dataset agree, and returns the problems of the file.
    pub fn synchronize(&self, record: &DatasetRecord) -> Result<Vec<String>, StoreError> {
        self.files.synchronize(record)
    }

    /// Writes the file of a dataset whose tags were changed, in the background.
    pub fn write_soon(&self, dataset: DatasetId) {
        self.send(Request::Changed(dataset));
    }

    /// Waits until everything is written that was changed before.
    pub fn flush(&self) {
        let (sender, written) = channel();
        self.send(Request::Flush(sender));
        // Nothing is ever received, but the sender is dropped.
        let _ = written.recv();
    }

    fn send(&self, request: Request) {
        // The thread is gone only if it could not be started.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }

    /// Writes the file of a dataset as [`Self::write_soon`] does. Returns the problems of the file.
    pub fn note_change(&self, record: &DatasetRecord) -> Vec<String> {
        self.write_soon(record.id);
        let mut problems = self.problems(record.id);
        if problems.is_empty() {
            // The reason is known before the file is written.
            problems.extend(unwritable_reason(&self.files.store, record));
        }
        problems
    }

    /// Returns the problems of the file of a dataset.
    pub fn problems(&self, id: DatasetId) -> Vec<String> {
        self.files.problems.lock().get(&id).cloned().unwrap_or_default()
    }
}

impl Drop for TagWriter {
    fn drop(&mut self) {
        self.requests = None;
        // The panic hook has already reported a panic of the thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl TagFiles {
    fn synchronize(&self, record: &DatasetRecord) -> Result<Vec<String>, StoreError> {
        let problems = synchronize_file(&self.store, record)?;
        self.problems.lock().insert(record.id, problems.clone());
        Ok(problems)
    }

    fn run(&self, received: &Receiver<Request>) {
        while let Ok(mut request) = received.recv() {
            let mut changed = BTreeSet::new();
            let deadline = Instant::now() + MAX_DELAY;
            let _flush = loop {
                match request {
                    Request::Changed(id) => _ = changed.insert(id),
                    Request::Flush(sender) => break Some(sender),
                }
                if Instant::now() >= deadline {
                    break None;
                }
                let Ok(next) = received.recv_timeout(QUIET_TIME) else { break None };
                request = next;
            };
            for id in changed {
                if let Ok(Some(record)) = self.store.read(|c| dataset::find(c, id)) {
                    // If the store fails, the file is written when the folder is opened again.
                    let _ = self.synchronize(&record);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tessera_store::tags;

    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_a_bad_line_loses_only_itself() {
        let dataset = DatasetId(Uuid::nil());
        let file = |path: &str, given| TaggedFile {
            path: path.into(),
            seconds: None,
            region: None,
            content: [7; 32],
            given,
        };
        let given = UserTags { tags: vec!["night".into(), "picked".into()], rating: 4 };
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"a/\xff.jpg"));
        let snapshot = TagSnapshot {
            definitions: [("day", name_id(dataset, "day")), ("dark", name_id(dataset, "night"))]
                .map(|(name, id)| TagDefinition { id, name: name.into(), color: "blue".into() })
                .into(),
            files: vec![
                file("a/1.jpg", given.clone()),
                TaggedFile { path: odd, region: Some([0.0, 0.5, 0.25, 0.5]), ..file("", given) },
            ],
        };
        let mut lines = write_lines(dataset, &snapshot);
        let read = read_lines(dataset, &lines);
        assert_eq!(read.content.files, snapshot.files);
        assert_eq!(read.content.definitions, snapshot.definitions);
        assert!(read.unreadable.is_empty());
        lines.extend_from_slice(
            b"{\"path\": \"b.jpg\", \"tags\": [\"x\"\n\n[]\n{\"path\":\"c\",\"rating\":9}\n",
        );
        lines.extend_from_slice(b"{\"path\":\"d.jpg\",\"tags\":[\"\\u001b[2J\"]}\n{\"path\":\"e.jpg\",\"tags\":[\"y\"]}");
        let read = read_lines(dataset, &lines);
        let numbers: Vec<usize> = read.unreadable.iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [5, 7, 8, 9]);
        assert_eq!(read.content.files.len(), 3);
        assert_eq!(read.content.files[2].given.tags, ["y"]);
    }

    #[test]
    fn a_folder_without_any_known_file_is_not_the_folder_of_the_tags() {
        let [data, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = Store::open(data.path()).unwrap();
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", folder.path(), 1);
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        let file = b"{\"path\":\"a.jpg\",\"tags\":[\"night\"]}\n";
        import(&store, record.id, &read_lines(record.id, file), &hash(file)).unwrap();
        store.write(|tx| tags::create(tx, record.id, ["day"])).unwrap();
        fs::write(folder.path().join("x.txt"), "x").unwrap();
        let missing =
            "the tags are kept only in the index, because its folder contains none of its files";
        assert_eq!(synchronize_file(&store, &record).unwrap(), [missing]);
        assert_eq!(unwritable_reason(&store, &record).as_deref(), Some(missing));
        assert!(!folder.path().join(TAGS_FOLDER).exists());
        fs::write(folder.path().join("a.jpg"), "a").unwrap();
        assert_eq!(synchronize_file(&store, &record).unwrap(), [""; 0]);
        let written = fs::read_to_string(folder.path().join(TAGS_FOLDER).join(FILE)).unwrap();
        assert!(written.contains("night") && written.contains("day"), "{written}");
    }

    #[test]
    fn all_tags_of_a_file_are_imported_as_one_change() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).unwrap();
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", data.path(), 1);
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        let line = |number| format!("{{\"tag\":\"tag {number}\"}}\n");
        let lines: String = (0..2_000).map(line).collect();
        let read = read_lines(record.id, lines.as_bytes());
        import(&store, record.id, &read, &hash(lines.as_bytes())).unwrap();
        assert_eq!(store.read(|c| tags::definitions(c, record.id)).unwrap().len(), 2_000);
        assert_eq!(store.read(|c| tagged_files::state(c, record.id)).unwrap().revision, 1);
    }

    #[test]
    fn a_change_is_written_at_once_while_the_writer_goes_on() {
        let [data, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = Arc::new(Store::open(data.path()).unwrap());
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", folder.path(), 1);
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        let writer = TagWriter::start(&store);
        for name in ["day", "night"] {
            store.write(|tx| tags::create(tx, record.id, [name])).unwrap();
            writer.write_soon(record.id);
            writer.flush();
            let written = fs::read_to_string(folder.path().join(TAGS_FOLDER).join(FILE)).unwrap();
            assert!(written.contains(name), "{written}");
        }
    }

    #[test]
    fn a_write_that_was_not_recorded_brings_no_removed_tag_back() {
        let [data, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = Store::open(data.path()).unwrap();
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", folder.path(), 1);
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        store.write(|tx| tags::create(tx, record.id, ["day"])).unwrap();
        assert_eq!(synchronize_file(&store, &record).unwrap(), [""; 0]);
        let recorded = store.read(|c| tagged_files::state(c, record.id)).unwrap();
        store.write(|tx| tags::create(tx, record.id, ["night"])).unwrap();
        assert_eq!(synchronize_file(&store, &record).unwrap(), [""; 0]);
        // The process was ended before it recorded the second write, and the next one removes the tag.
        let (written, file) = (recorded.written, recorded.file.unwrap());
        store.write(|tx| tagged_files::mark_written(tx, record.id, written, &file)).unwrap();
        store.write(|tx| tags::delete(tx, record.id, "night")).unwrap();
        assert_eq!(synchronize_file(&store, &record).unwrap(), [""; 0]);
        let defined = store.read(|c| tags::definitions(c, record.id)).unwrap();
        assert_eq!(defined.iter().map(|tag| &*tag.name).collect::<Vec<_>>(), ["day"]);
        let written = fs::read_to_string(folder.path().join(TAGS_FOLDER).join(FILE)).unwrap();
        assert!(!written.contains("night"), "{written}");
    }

    #[test]
    fn a_copied_index_folder_keeps_what_the_original_has_written() {
        let [data, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", folder.path(), 1);
        let tag = |store: &Store, name: &str| {
            store.write(|tx| tags::create(tx, record.id, [name])).unwrap();
            assert_eq!(synchronize_file(store, &record).unwrap(), [""; 0]);
        };
        let store = Store::open(&data.path().join("first")).unwrap();
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        tag(&store, "day");
        drop(store);
        let database = |name: &str| data.path().join(name).join("tessera.db");
        fs::create_dir(data.path().join("copy")).unwrap();
        fs::copy(database("first"), database("copy")).unwrap();
        // The folder of the index can be renamed.
        fs::rename(data.path().join("first"), data.path().join("moved")).unwrap();
        let open = |name| Store::open(&data.path().join(name)).unwrap();
        let (moved, copy) = (open("moved"), open("copy"));
        assert_eq!(moved.id(), copy.id());
        // Both write the same revision.
        tag(&moved, "night");
        tag(&copy, "noon");
        let written = fs::read_to_string(folder.path().join(TAGS_FOLDER).join(FILE)).unwrap();
        for name in ["day", "night", "noon"] {
            assert!(written.contains(name), "{written}");
        }
    }

    #[test]
    fn a_tag_that_is_not_written_yet_stays_when_the_file_is_imported() {
        let [data, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = Store::open(data.path()).unwrap();
        let record = DatasetRecord::new(DatasetId(Uuid::nil()), "demo", folder.path(), 1);
        store.write(|tx| dataset::upsert(tx, &record)).unwrap();
        store.write(|tx| tags::create(tx, record.id, ["night"])).unwrap();
        let file = b"{\"tag\":\"day\"}\n";
        import(&store, record.id, &read_lines(record.id, file), &hash(file)).unwrap();
        let defined = store.read(|c| tags::definitions(c, record.id)).unwrap();
        let names: Vec<&str> = defined.iter().map(|tag| &*tag.name).collect();
        assert_eq!(names, ["night", "day"]);
    }
}
