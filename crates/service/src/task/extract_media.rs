//! Extracts the features of new and modified files. Several threads read and compute. The calling thread writes many
//! rows per transaction, because syncing and locking take time. The channel between them is short, which bounds the
//! memory.

use std::{
    io::{self, ErrorKind, Read as _, Seek as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::TaskContext;
use crate::task_error::TaskError;
use tessera_media::ingest::{
    FileStat, FileToExtract, OriginalFiles, ScannedFile, SourceFile, VideoError, VideoInput,
    embedded_text::{self, EmbeddedText},
    is_refused, is_unavailable, read_error_name, read_first_bytes, unrecognized_reason,
    video::{FFMPEG_MISSING, SampledVideo, VideoFrame, sample_animation, sample_frames},
};
use tessera_picture::{PictureFormat, VideoContainer};
use tessera_search::index::{self, Features};
use tessera_store::{
    Transaction, dataset,
    indexed_files::{self, FileWithoutMedia, IndexedFile},
    is_storage_full,
    picture_table::PackedPictures,
    source::SourceFolder,
};

const MAX_FILE_BYTES: u64 = 256 << 20;
const BATCH_ROWS: usize = 64;
/// The number of threads for files in object storage, which mostly wait for responses.
const REMOTE_READERS: usize = 8;
/// The maximum time that a finished row waits for its transaction.
const BATCH_TIMEOUT: Duration = Duration::from_millis(500);
/// The progress in percent when all pictures are extracted.
const EXTRACTION_PERCENT: usize = 90;

enum FileOutcome {
    Image(Features, EmbeddedText, ContentDigest),
    /// The frames of a video or animation, of which there is at least one, and whether its end is missing.
    Frames(Vec<(VideoFrame, Features)>, ContentDigest, bool),
    /// The file is unchanged and has this size.
    Unchanged(u64),
    NoMedia(ExtractError),
}

struct ContentDigest {
    size: u64,
    hash: [u8; 32],
}

/// The reason why a file did not become a media item.
enum ExtractError {
    /// The file is not an image or video. The message says why.
    Skipped(String),
    /// The system cannot read the file now, which says nothing about its content. The message says why.
    Unread(String),
    /// The source cannot be reached, or the disk has no space for the file. Neither says anything about the file itself.
    Unavailable(io::Error),
}

impl From<VideoError> for ExtractError {
    fn from(error: VideoError) -> Self {
        match error {
            VideoError::Undecodable(reason) => Self::Skipped(reason),
            VideoError::Unreadable(cause) => unreadable(cause),
            VideoError::NotStarted(reason) => Self::Unread(reason),
        }
    }
}

/// Extracts files into the store. In each transaction, `note` notes the extracted files, and returns the progress of
/// the indexing task, in percent.
pub fn extract_media(
    context: &TaskContext,
    source: &SourceFolder,
    folder: &dyn OriginalFiles,
    files: &[FileToExtract],
    note: impl FnMut(&Transaction, &[&Path]) -> tessera_store::Result<u8>,
) -> Result<(), TaskError> {
    let next = &AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = if folder.is_remote() { cores.max(REMOTE_READERS) } else { cores };
    thread::scope(|scope| {
        let (sender, outcomes) = sync_channel(BATCH_ROWS);
        let mut started = Ok(());
        for number in 0..threads.min(files.len()) {
            let sender = sender.clone();
            let examine = move || examine_all(context, folder, files, next, &sender);
            match thread::Builder::new().spawn_scoped(scope, examine) {
                Ok(_) => {}
                // The threads that were started do the work.
                Err(_) if number > 0 => break,
                Err(cause) => {
                    started = Err(TaskError::io("no thread could be started", &cause));
                    break;
                }
            }
        }
        drop(sender);
        started?;
        write_all(context, source, &outcomes, note)
    })?;
    context.check_cancelled()
}

fn examine_all<'a>(
    context: &TaskContext,
    folder: &dyn OriginalFiles,
    files: &'a [FileToExtract],
    next: &AtomicUsize,
    outcomes: &SyncSender<(&'a ScannedFile, FileOutcome)>,
) {
    while context.check_cancelled().is_ok() {
        let Some((found, known)) = files.get(next.fetch_add(1, Ordering::Relaxed)) else {
            return;
        };
        let outcome =
            examine(context, folder, found, known.as_ref()).unwrap_or_else(FileOutcome::NoMedia);
        if context.check_cancelled().is_err() {
            return; // the sampling of a video may have been interrupted
        }
        if outcomes.send((found, outcome)).is_err() {
            return; // the writer gave up
        }
    }
}

fn examine(
    context: &TaskContext,
    folder: &dyn OriginalFiles,
    found: &ScannedFile,
    known: Option<&[u8; 32]>,
) -> Result<FileOutcome, ExtractError> {
    let mut file = folder.open_file(&found.path).map_err(unreadable)?;
    let head = read_first_bytes(&mut *file).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    if let Some(container) = VideoContainer::detect(&head) {
        return examine_video(context, file, known, container);
    }
    let Some(format) = PictureFormat::detect(&head) else {
        let reason = unrecognized_reason(folder, &found.path).map_err(unreadable)?;
        return Err(ExtractError::Skipped(reason));
    };
    if let Some(reason) = format.undecodable_reason() {
        return Err(ExtractError::Skipped(reason));
    }
    let length = file.length().map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(MAX_FILE_BYTES)).unwrap_or(0));
    if length <= MAX_FILE_BYTES {
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    let size = length.max(bytes.len() as u64);
    if size > MAX_FILE_BYTES {
        return Err(ExtractError::Skipped(format!("larger than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    let hash = *blake3::hash(&bytes).as_bytes();
    if known == Some(&hash) {
        return Ok(FileOutcome::Unchanged(size));
    }
    let digest = ContentDigest { size: bytes.len() as u64, hash };
    let is_cancelled = || context.check_cancelled().is_err();
    if let Some(frames) = sample_animation(&bytes, &is_cancelled) {
        let sampled = SampledVideo { frames, is_cut_off: false };
        return frames_outcome(sampled, digest, &is_cancelled);
    }
    if let Some(container) = VideoContainer::of_sequence(&bytes) {
        let file = folder.open_file(&found.path).map_err(unreadable)?;
        match examine_video(context, file, known, container) {
            // Its main picture is shown instead.
            Err(ExtractError::Skipped(_)) => {}
            outcome => return outcome,
        }
    }
    let features = extract_features(&bytes).map_err(ExtractError::Skipped)?;
    Ok(FileOutcome::Image(features, embedded_text::read(&bytes), digest))
}

/// Reads the whole file of a picture.
pub(super) fn read_picture(folder: &dyn OriginalFiles, path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    folder.open_file(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let is_too_large = bytes.len() as u64 > MAX_FILE_BYTES;
    if is_too_large { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn examine_video(
    context: &TaskContext,
    mut video: Box<dyn SourceFile>,
    known: Option<&[u8; 32]>,
    container: VideoContainer,
) -> Result<FileOutcome, ExtractError> {
    let missing = || ExtractError::Skipped(FFMPEG_MISSING.to_owned());
    let ffmpeg = context.settings.ffmpeg.as_ref();
    if known.is_none() && ffmpeg.is_none() {
        return Err(missing());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&mut video).map_err(unreadable)?;
    let digest = ContentDigest { size: hasher.count(), hash: *hasher.finalize().as_bytes() };
    if known == Some(&digest.hash) {
        return Ok(FileOutcome::Unchanged(digest.size));
    }
    let ffmpeg = ffmpeg.ok_or_else(missing)?;
    let input = VideoInput::new(video, &context.store.uploads_dir(), &context.settings.disk)
        .map_err(unreadable)?;
    let is_cancelled = || context.check_cancelled().is_err();
    let sampled = sample_frames(container, ffmpeg, input, &is_cancelled)?;
    frames_outcome(sampled, digest, &is_cancelled)
}

/// Extracts the features of the frames of a video or animation. Stops between two frames if the task is cancelled,
/// because a hundred frames can take half a minute.
fn frames_outcome(
    sampled: SampledVideo,
    digest: ContentDigest,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<FileOutcome, ExtractError> {
    let mut failure = "no frame can be decoded".to_owned();
    let mut frames = Vec::with_capacity(sampled.frames.len());
    for frame in sampled.frames {
        if is_cancelled() {
            return Err(ExtractError::Skipped("interrupted".to_owned()));
        }
        match extract_features(&frame.jpeg) {
            Ok(features) => frames.push((frame, features)),
            Err(reason) => failure = reason,
        }
    }
    if frames.is_empty() {
        return Err(ExtractError::Skipped(failure));
    }
    Ok(FileOutcome::Frames(frames, digest, sampled.is_cut_off))
}

/// Extracts features. A decoder that panics on one file must not end the indexing of the other files.
fn extract_features(bytes: &[u8]) -> Result<Features, String> {
    let extracted = catch_unwind(AssertUnwindSafe(|| index::extract(bytes)))
        .map_err(|_| "the decoder failed on it".to_owned())?;
    extracted.map_err(|cause| format!("broken picture ({cause})"))
}

fn unreadable(cause: io::Error) -> ExtractError {
    if is_unavailable(&cause) || is_storage_full(&cause) {
        return ExtractError::Unavailable(cause);
    }
    let reason = format!("cannot be read ({})", read_error_name(&cause));
    let is_gone = cause.kind() == ErrorKind::NotFound;
    if cause.raw_os_error().is_some() || is_refused(&cause) || is_gone {
        ExtractError::Unread(reason)
    } else {
        ExtractError::Skipped(reason)
    }
}

fn write_all(
    context: &TaskContext,
    source: &SourceFolder,
    outcomes: &Receiver<(&ScannedFile, FileOutcome)>,
    mut note: impl FnMut(&Transaction, &[&Path]) -> tessera_store::Result<u8>,
) -> Result<(), TaskError> {
    loop {
        let batch = next_batch(outcomes);
        if batch.is_empty() {
            return Ok(());
        }
        for (_, outcome) in &batch {
            if let FileOutcome::NoMedia(ExtractError::Unavailable(cause)) = outcome {
                return Err(TaskError::storage(cause));
            }
        }
        let packed = context.put_pictures(pictures(&batch))?;
        context.write(|tx| {
            let files: Vec<&Path> = batch.iter().map(|(found, _)| &*found.path).collect();
            let percent = note(tx, &files)?;
            write_batch(tx, source, &batch, &packed)?;
            dataset::set_progress(tx, source.dataset, percent)
        })?;
    }
}

/// Returns the pictures to store for a batch: first all thumbnails, because many thumbnails are read at a time, and
/// then the pictures of frames.
fn pictures<'a>(batch: &'a [(&ScannedFile, FileOutcome)]) -> impl Iterator<Item = &'a [u8]> {
    let images = batch.iter().filter_map(|(_, outcome)| match outcome {
        FileOutcome::Image(features, ..) => Some(&*features.thumbnail),
        _ => None,
    });
    let frames = || {
        let frames = |(_, outcome): &'a (_, _)| match outcome {
            FileOutcome::Frames(frames, ..) => frames.as_slice(),
            _ => &[],
        };
        batch.iter().flat_map(frames)
    };
    let thumbnails = images.chain(frames().map(|(_, features)| &*features.thumbnail));
    thumbnails.chain(frames().map(|(frame, _)| &*frame.jpeg))
}

/// Returns the progress of an indexing task when `done` of its files are extracted, in percent.
pub fn percent(done: usize, files: usize) -> u8 {
    u8::try_from(EXTRACTION_PERCENT * done / files.max(1)).unwrap_or(100)
}

/// Writes outcomes, which must be of different files.
fn write_batch(
    transaction: &Transaction,
    source: &SourceFolder,
    batch: &[(&ScannedFile, FileOutcome)],
    packed: &PackedPictures,
) -> tessera_store::Result<()> {
    let (mut images, mut texts) = (Vec::new(), Vec::new());
    let (mut unchanged, mut skipped, mut incomplete) = (Vec::new(), Vec::new(), Vec::new());
    for (found, outcome) in batch {
        let ScannedFile { path, stat, .. } = found;
        match outcome {
            FileOutcome::Image(features, text, digest) => {
                images.push((indexed(found, digest), features));
                texts.push(text);
            }
            FileOutcome::Frames(frames, digest, is_cut_off) => {
                indexed_files::replace_frames(
                    transaction,
                    source,
                    &indexed(found, digest),
                    frames,
                    packed,
                )?;
                let reason = "not read completely, because the end of the video is missing";
                let file = FileWithoutMedia { path, stat: Some(*stat), reason };
                incomplete.extend(is_cut_off.then_some(file));
            }
            FileOutcome::Unchanged(size) => {
                unchanged.push((&**path, FileStat { size: *size, ..*stat }));
            }
            FileOutcome::NoMedia(ExtractError::Unavailable(_)) => {}
            FileOutcome::NoMedia(ExtractError::Skipped(reason)) => {
                skipped.push(FileWithoutMedia { path, stat: Some(*stat), reason });
            }
            FileOutcome::NoMedia(ExtractError::Unread(reason)) => {
                skipped.push(FileWithoutMedia { path, stat: Some(stat.unread()), reason });
            }
        }
    }
    let rows = indexed_files::upsert_images(transaction, source, &images, packed)?;
    tessera_store::sidecar::replace_embedded_texts(transaction, rows.into_iter().zip(texts))?;
    indexed_files::update_stats(transaction, source.row, &unchanged)?;
    indexed_files::mark_skipped(transaction, source.row, skipped.into_iter())?;
    indexed_files::note_reasons(transaction, source.row, incomplete.into_iter())
}

fn indexed<'a>(found: &'a ScannedFile, digest: &'a ContentDigest) -> IndexedFile<'a> {
    let stat = FileStat { size: digest.size, ..found.stat };
    IndexedFile { path: &found.path, stat, content_hash: &digest.hash }
}

/// Waits for a full batch, or for what arrives before the timeout. Returns an empty batch at the end.
fn next_batch<T>(outcomes: &Receiver<T>) -> Vec<T> {
    let mut batch: Vec<T> = outcomes.recv().into_iter().collect();
    let deadline = Instant::now() + BATCH_TIMEOUT;
    while !batch.is_empty() && batch.len() < BATCH_ROWS {
        match outcomes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(outcome) => batch.push(outcome),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_unread_only_if_the_system_could_not_read_it() {
        let reason = |cause| match unreadable(cause) {
            ExtractError::Unread(reason) => (true, reason),
            ExtractError::Skipped(reason) => (false, reason),
            ExtractError::Unavailable(cause) => (false, format!("not the file: {cause}")),
        };
        let denied = io::Error::new(ErrorKind::PermissionDenied, "access is denied");
        assert_eq!(reason(denied), (true, "cannot be read (access is denied)".to_owned()));
        let full = io::Error::new(ErrorKind::StorageFull, "no space");
        assert_eq!(reason(full), (false, "not the file: no space".to_owned()));
        let open_files = io::Error::from_raw_os_error(24);
        assert_eq!(reason(open_files), (true, "cannot be read (Too many open files)".to_owned()));
        let wrong = io::Error::other("the row has no image");
        assert_eq!(reason(wrong), (false, "cannot be read (the row has no image)".to_owned()));
    }
}
