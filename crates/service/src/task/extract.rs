//! Opens the pictures of a folder on all cores and writes what the index keeps of them.
//!
//! Threads read and compute; this one writes, many rows a transaction, so that neither the disk's
//! syncing nor a lock is paid per picture. The channel between them is short: memory is bounded.

use std::{
    fmt::Display,
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{End, Workshop};
use crate::{
    index::{self, Features},
    ingest::{
        Folder, Found, begins_like_a_picture,
        video::{Container, UNSEEN},
    },
    store::{
        dataset,
        intake::{self, Taken},
        media::Kind,
        source::Source,
    },
};

/// Largest file opened, in bytes.
const MAX_FILE: u64 = 256 << 20;
/// Rows of one transaction.
const BATCH: usize = 64;
/// Longest time a finished row waits for its transaction.
const PATIENCE: Duration = Duration::from_millis(500);
/// Percent of the whole work that is done when all pictures are extracted.
const SHARE: usize = 90;

/// A file to be opened, with the hash of the content known of it.
type Fresh = (Found, Option<[u8; 32]>);

/// What became of a file.
enum Outcome {
    /// A picture or a video, and the hash of its content.
    Media(Kind, Features, [u8; 32]),
    /// The content is as known.
    Same,
    /// No picture, and why.
    Skipped(String),
}

/// Extracts `files` of a source into the store. `all` is the number of files in the folder, for
/// progress.
///
/// # Errors
/// Stopped, or the store failed; what was written stays.
pub fn extract(
    shop: &Workshop,
    source: &Source,
    folder: &Folder,
    files: &[Fresh],
    all: usize,
) -> Result<(), End> {
    let next = &AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, outcomes) = sync_channel(BATCH);
        for _ in 0..threads.min(files.len()) {
            let sender = sender.clone();
            scope.spawn(move || examine_all(shop, folder, files, next, &sender));
        }
        drop(sender);
        let known = all - files.len();
        write_all(shop, source, &outcomes, |done| percent(known + done, all))
    })?;
    shop.go_on()
}

fn percent(done: usize, all: usize) -> u8 {
    u8::try_from(SHARE * done / all.max(1)).unwrap_or(100)
}

fn examine_all<'a>(
    shop: &Workshop,
    folder: &Folder,
    files: &'a [Fresh],
    next: &AtomicUsize,
    outcomes: &SyncSender<(&'a Found, Outcome)>,
) {
    while shop.go_on().is_ok() {
        let Some((found, known)) = files.get(next.fetch_add(1, Ordering::Relaxed)) else {
            return;
        };
        let outcome = examine(shop, folder, found, known.as_ref()).unwrap_or_else(Outcome::Skipped);
        if outcomes.send((found, outcome)).is_err() {
            return; // the writer gave up
        }
    }
}

fn examine(
    shop: &Workshop,
    folder: &Folder,
    found: &Found,
    known: Option<&[u8; 32]>,
) -> Result<Outcome, String> {
    let head = folder.head(&found.path).map_err(|cause| unreadable(&cause))?;
    if let Some(container) = Container::of(&head) {
        return examine_video(shop, folder, found, known, container);
    }
    if !begins_like_a_picture(&head) {
        return Err("not a picture (JPEG, PNG, WebP, GIF or BMP) or video".to_owned());
    }
    let mut bytes =
        Vec::with_capacity(usize::try_from(found.stamp.size.min(MAX_FILE)).unwrap_or(0));
    let file = folder.file(&found.path).map_err(|cause| unreadable(&cause))?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|cause| unreadable(&cause))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("larger than {} MiB", MAX_FILE >> 20));
    }
    let content = *blake3::hash(&bytes).as_bytes();
    if known == Some(&content) {
        return Ok(Outcome::Same);
    }
    Ok(Outcome::Media(Kind::Image, features(&bytes)?, content))
}

fn examine_video(
    shop: &Workshop,
    folder: &Folder,
    found: &Found,
    known: Option<&[u8; 32]>,
    container: Container,
) -> Result<Outcome, String> {
    let Some(ffmpeg) = &shop.settings.ffmpeg else {
        return Err(UNSEEN.to_owned());
    };
    let open = || folder.file(&found.path).map_err(|cause| unreadable(&cause));
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(open()?).map_err(|cause| unreadable(&cause))?;
    let content = *hasher.finalize().as_bytes();
    if known == Some(&content) {
        return Ok(Outcome::Same);
    }
    let frame = container.first_frame(ffmpeg, open()?)?;
    Ok(Outcome::Media(Kind::Video, features(&frame)?, content))
}

/// One file must not end the indexing of all others, whatever it does to a decoder.
fn features(bytes: &[u8]) -> Result<Features, String> {
    let extracted = catch_unwind(AssertUnwindSafe(|| index::extract(bytes)))
        .map_err(|_| "the decoder failed on it".to_owned())?;
    extracted.map_err(|cause| broken(&cause))
}

fn unreadable(cause: &std::io::Error) -> String {
    format!("cannot be read ({})", cause.kind())
}

fn broken(cause: &impl Display) -> String {
    format!("broken picture ({cause})")
}

fn write_all(
    shop: &Workshop,
    source: &Source,
    outcomes: &Receiver<(&Found, Outcome)>,
    percent: impl Fn(usize) -> u8,
) -> Result<(), End> {
    let mut done = 0;
    loop {
        let batch = gather(outcomes);
        if batch.is_empty() {
            return Ok(());
        }
        done += batch.len();
        shop.store.write(|tx| {
            for (found, outcome) in &batch {
                let (file, stamp) = (&found.path, found.stamp);
                match outcome {
                    Outcome::Media(kind, features, content) => {
                        let taken = Taken { file, stamp, kind: *kind, content, features };
                        intake::put(tx, source, &taken)?;
                    }
                    Outcome::Same => intake::touch(tx, source.row, file, stamp)?,
                    Outcome::Skipped(why) => intake::skip(tx, source.row, file, Some(stamp), why)?,
                }
            }
            dataset::set_progress(tx, source.dataset, percent(done))
        })?;
    }
}

/// Waits for the next outcomes: as many as a transaction takes, or those that came in time.
/// Empty when there will be no more.
fn gather<T>(outcomes: &Receiver<T>) -> Vec<T> {
    let mut batch: Vec<T> = outcomes.recv().into_iter().collect();
    let deadline = Instant::now() + PATIENCE;
    while !batch.is_empty() && batch.len() < BATCH {
        match outcomes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(outcome) => batch.push(outcome),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    batch
}
