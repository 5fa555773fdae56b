//! Indexes a folder: scans it, extracts new files, removes missing ones, and applies sidecars. The files of an addition
//! are first brought into the folder of their batch. Files in object storage stay there.
//!
//! Sidecars, and the texts in picture files, are read at each indexing, which covers changed sidecars, new pictures and
//! interrupted runs. Only changes are written, and only pictures whose objects changed are opened again.

use std::{
    collections::{BTreeMap, BTreeSet},
    io, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use super::{
    TaskContext,
    extract_media::{extract_media, percent, read_picture},
    several_processes::extract_in_ranges,
};
use crate::{task_error::TaskError, uploads::SkippedMembers};
use rayon::prelude::*;
use tessera_files::staging::ARCHIVE_FILE_NAME;
use tessera_media::ingest::{
    FolderScan, KnownFile, OriginalFiles, ScannedFile,
    archive_readers::{ArchiveKind, UnpackError, UnpackLimits},
    diff, is_unavailable,
    sidecar::{self, SidecarData, leave_out_boxes_of_videos, place_boxes, push_name},
};
use tessera_model::{DatasetId, EntityType, LabeledRegion};
use tessera_search::index::{self, Features};
use tessera_store::{
    Transaction, dataset,
    indexed_files::{self, FileWithoutMedia},
    indexing_task::BatchOrigin,
    object::{self, DetectedObject},
    search_table,
    sidecar::{self as descriptions, DescribedMedia, TextMetadata},
    source::{self as sources, SourceFolder},
};

/// Updates the store to match a folder. The skipped members of its archive are listed among the skipped files.
pub fn index_source(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    members: &SkippedMembers,
) -> Result<(), TaskError> {
    let store = &context.store;
    let known = store.read(|c| indexed_files::known_files(c, source.row))?;
    let folder = &*context.open_source(source)?;
    let scan = context.originals.scan(&source.folder, &source.patterns);
    let mut scan = scan.map_err(|cause| TaskError::in_storage(cause.to_string(), &cause))?;
    // Other sources inside this folder keep their own files.
    let inside: Vec<PathBuf> = store
        .read(|c| sources::of_dataset(c, source.dataset))?
        .iter()
        .filter(|other| other.row != source.row)
        .filter_map(|other| other.folder.strip_prefix(&source.folder).ok().map(Path::to_owned))
        .collect();
    scan.files.retain(|found| !inside.iter().any(|folder| found.path.starts_with(folder)));
    add_kept_media(&mut scan, &known);
    let mut changes = diff(&scan, known);
    context.write(|tx| {
        indexed_files::clear_skipped_unopened(tx, source.row)?;
        // A file that was indexed before may be skipped now, so its rows are removed first.
        let removed = changes.removed.iter().map(PathBuf::as_path);
        indexed_files::remove_files(tx, source.row, removed)?;
        let skipped = scan.skipped.iter().map(|(path, reason)| (path, &**reason));
        // If a file has several reasons, the last one counts.
        let skipped: BTreeMap<_, _> =
            skipped.chain(members.iter().map(|(path, reason)| (path, &**reason))).collect();
        let skipped =
            skipped.iter().map(|(path, reason)| FileWithoutMedia { path, stat: None, reason });
        indexed_files::mark_skipped(tx, source.row, skipped)
    })?;
    let reading = sidecar::read(folder, &scan);
    require_complete(&reading)?;
    let described: BTreeSet<_> = reading.sidecars.iter().chain(reading.problems.keys()).collect();
    changes.added_or_modified.retain(|(found, _)| !described.contains(&found.path));
    let (files, all) = (&changes.added_or_modified, scan.files.len());
    if store.is_on_server() {
        extract_in_ranges(context, indexing_task, source, files, all)?;
    } else {
        let mut done = all - files.len();
        extract_media(context, source, folder, files, |_, extracted| {
            done += extracted.len();
            Ok(percent(done, all))
        })?;
    }
    apply_sidecars(context, source, folder, &scan, reading)
}

/// Adds the known media that cannot be read now to a scan, so that they stay media to which sidecars can refer.
fn add_kept_media(scan: &mut FolderScan, known: &BTreeMap<PathBuf, KnownFile>) {
    let kept = known.iter().filter(|(path, file)| file.content_hash.is_some() && scan.keeps(path));
    let kept: Vec<_> =
        kept.map(|(path, file)| ScannedFile { path: path.clone(), stat: file.stat }).collect();
    // A file that was skipped would lose its media.
    scan.skipped.retain(|(path, _)| kept.binary_search_by_key(&path, |file| &file.path).is_err());
    scan.files.extend(kept);
    scan.files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// Brings the files into the folder, unless they are already there. Returns the members of an archive that were
/// skipped.
pub(crate) fn fetch_batch(
    context: &TaskContext,
    source: &SourceFolder,
    origin: &BatchOrigin,
) -> Result<SkippedMembers, TaskError> {
    match origin {
        BatchOrigin::InPlace | BatchOrigin::ObjectStorage(_) => Ok(SkippedMembers::new()),
        BatchOrigin::Archive(extension) => unpack_batch(context, source, extension),
    }
}

/// Unpacks the archive of an upload, if this was not done before the database was lost or the addition failed.
pub(crate) fn finish_unpacking(
    context: &TaskContext,
    source: &SourceFolder,
) -> Result<SkippedMembers, TaskError> {
    let record = context.originals.uploads.record_of_unpacked(&source.folder);
    let record = record.map_err(|cause| TaskError::io("the upload could not be read", &cause))?;
    match record.map(|record| record.origin) {
        Some(BatchOrigin::Archive(extension)) => unpack_batch(context, source, &extension),
        _ => Ok(SkippedMembers::new()),
    }
}

/// Unpacks the archive of a batch, and removes the archive. Returns the members that were skipped, also if it was
/// unpacked before.
fn unpack_batch(
    context: &TaskContext,
    source: &SourceFolder,
    extension: &str,
) -> Result<SkippedMembers, TaskError> {
    let unknown = || TaskError::Failed("the format of the uploaded archive is unknown".to_owned());
    let name = format!("{ARCHIVE_FILE_NAME}{extension}");
    let kind = ArchiveKind::from_name(&name).ok_or_else(unknown)?;
    let limits = UnpackLimits { disk: context.settings.disk.clone(), ..UnpackLimits::default() };
    let uploads = &context.originals.uploads;
    // The folder has a name of its own, because a worker that lost the task may still be writing its folder.
    let target = source.folder.with_extension(context.fence().to_string());
    let unpacked = uploads.unpack(&source.folder, &target, kind, limits, context.stop_flag());
    let failed = |cause| TaskError::io("the archive could not be unpacked", &cause);
    let is_unpacked = unpacked.map_err(|unfinished| match unfinished {
        UnpackError::Cancelled => TaskError::Stopped,
        UnpackError::Io(cause) => failed(cause),
    })?;
    if is_unpacked {
        // Inside this transaction, no other worker can take the task.
        let published = context.write(|_| Ok(uploads.publish(&source.folder, &target)))?;
        published.map_err(failed)?;
    }
    uploads.skipped_members(&source.folder).map_err(failed)
}

/// The number of media that are processed at a time, which bounds the memory.
const MEDIA_AT_A_TIME: usize = 1_000;

/// Fails if the source could not be reached while sidecars were read, because the media that they describe would lose
/// their texts.
fn require_complete(reading: &SidecarData) -> Result<(), TaskError> {
    let failure = reading.failure.clone();
    let failure = failure.map(|(kind, reason)| TaskError::storage(&io::Error::new(kind, reason)));
    failure.map_or(Ok(()), Err)
}

/// Updates texts and objects to match the sidecars. Sidecars with errors are listed among the skipped files, but their
/// valid parts are used.
fn apply_sidecars(
    context: &TaskContext,
    source: &SourceFolder,
    folder: &dyn OriginalFiles,
    scan: &FolderScan,
    mut reading: SidecarData,
) -> Result<(), TaskError> {
    let mut pictures = context.store.read(|c| descriptions::all_media(c, source.row))?;
    // The sidecars beside a picture that cannot be read now cannot be read either.
    pictures.retain(|picture| !scan.keeps(&picture.path));
    let images = pictures.iter().filter(|picture| !picture.is_frame);
    let sizes = images.map(|image| (&*image.path, (image.width, image.height)));
    place_boxes(folder, &mut reading, sizes);
    let frames = pictures.iter().filter(|picture| picture.is_frame);
    leave_out_boxes_of_videos(&mut reading, frames.map(|frame| &*frame.path));
    require_complete(&reading)?;
    let reading = &reading;
    context.write(|tx| {
        let files = scan.files.iter().map(|found| (&*found.path, found.stat));
        let unreadable = files.clone().filter_map(|(path, stat)| {
            let reason = reading.problems.get(path)?;
            let stat = if reading.unread.contains(path) { stat.unread() } else { stat };
            Some(FileWithoutMedia { path, stat: Some(stat), reason })
        });
        indexed_files::mark_skipped(tx, source.row, unreadable)?;
        let is_read =
            |path: &Path| reading.sidecars.contains(path) && !reading.problems.contains_key(path);
        descriptions::mark_read(tx, source.row, files.filter(|(path, _)| is_read(path)))?;
        let unread = pictures.iter().filter(|picture| reading.unread.contains(&picture.path));
        for picture in unread {
            indexed_files::forget_modified(tx, source.row, &picture.path)?;
        }
        let mut is_outdated = false;
        for pictures in pictures.chunks(MEDIA_AT_A_TIME) {
            let texts = pictures.iter().map(|picture| (picture, text_of(reading, picture)));
            let changed = texts.filter(|(picture, text)| *text != picture.text);
            let changed: Vec<_> = changed
                .inspect(|(picture, text)| {
                    is_outdated |= picture.is_clustered && picture.text.caption != text.caption;
                })
                .map(|(picture, text)| (picture.row, text))
                .collect();
            descriptions::set_texts(tx, source.dataset, &changed)?;
        }
        if is_outdated { search_new_captions(tx, source.dataset) } else { Ok(()) }
    })?;
    extract_objects(context, source.row, folder, &changed_objects(context, pictures, reading)?)
}

/// Makes changed captions searchable before the indexing task ends, even if it fails. A large dataset is left as it is,
/// because the database finds its new captions anyway, and another generation would have no search tables.
fn search_new_captions(transaction: &Transaction, dataset: DatasetId) -> tessera_store::Result<()> {
    for entity in [EntityType::Images, EntityType::Objects] {
        if search_table::find(transaction, dataset, entity)?.is_some() {
            return Ok(());
        }
    }
    dataset::begin_generation(transaction, dataset)
}

/// Merges the texts of an item. The caption, date and rating of a sidecar take precedence over those in the picture;
/// other labels are merged.
fn text_of(reading: &SidecarData, picture: &DescribedMedia) -> TextMetadata {
    let description = reading.descriptions.get(&picture.path);
    let mut text = description.map_or_else(TextMetadata::default, |description| TextMetadata {
        caption: description.caption.clone(),
        labels: description.labels.clone(),
        tags: description.tags.clone(),
        extra_columns: description.extra_columns.clone(),
    });
    text.caption = text.caption.or_else(|| picture.embedded.caption.clone());
    for label in picture.embedded.labels_beside(&text.labels) {
        push_name(&mut text.labels, label);
    }
    if reading.keeps_known(&picture.path) {
        keep_known(&mut text, &picture.text);
    }
    text
}

/// Adds the known texts of a picture to those of the sidecars that could be read.
fn keep_known(text: &mut TextMetadata, known: &TextMetadata) {
    text.caption = text.caption.take().or_else(|| known.caption.clone());
    for (names, known) in [(&mut text.labels, &known.labels), (&mut text.tags, &known.tags)] {
        let found = mem::replace(names, known.clone());
        for name in &found {
            push_name(names, name);
        }
    }
    for (name, value) in &known.extra_columns {
        text.extra_columns.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

fn changed_objects(
    context: &TaskContext,
    pictures: Vec<DescribedMedia>,
    reading: &SidecarData,
) -> Result<Vec<ChangedObjects>, TaskError> {
    let mut changed = Vec::new();
    context.store.read(|c| {
        // Boxes belong to images, not to all frames of a video.
        let mut images = pictures;
        images.retain(|image| {
            let is_kept = || sidecar_objects(reading, image).is_empty();
            !(image.is_frame || (reading.keeps_known(&image.path) && is_kept()))
        });
        for images in images.chunks(MEDIA_AT_A_TIME) {
            let objects = images.iter().map(|image| (image.row, sidecar_objects(reading, image)));
            let objects: Vec<_> = objects.collect();
            let is_changed = object::changed(c, &objects)?;
            let all = images.iter().zip(objects).zip(is_changed);
            changed.extend(all.filter(|(_, is_changed)| *is_changed).map(
                |((picture, (_, objects)), _)| ChangedObjects { picture: picture.clone(), objects },
            ));
        }
        Ok(())
    })?;
    Ok(changed)
}

fn sidecar_objects(reading: &SidecarData, picture: &DescribedMedia) -> Vec<LabeledRegion> {
    let description = reading.descriptions.get(&picture.path);
    let boxes = description.map(|description| description.objects.as_slice()).unwrap_or_default();
    boxes.iter().filter_map(|boxed| boxed.in_picture(picture.width, picture.height)).collect()
}

/// The number of pictures that are opened and written at a time, which bounds the memory and the number of syncs.
const BATCH_SIZE: usize = 32;

struct ChangedObjects {
    picture: DescribedMedia,
    objects: Vec<LabeledRegion>,
}

/// Extracts the objects in pictures. A picture that cannot be read keeps its objects, and is read again by the next
/// indexing task.
fn extract_objects(
    context: &TaskContext,
    source: i64,
    folder: &dyn OriginalFiles,
    pictures: &[ChangedObjects],
) -> Result<(), TaskError> {
    for batch in pictures.chunks(BATCH_SIZE) {
        context.check_cancelled()?;
        let extracted: Vec<Option<ObjectFeatures>> = batch
            .par_iter()
            .map(|picture| match extract_from_picture(folder, picture) {
                Err(cause) if is_unavailable(&cause) => Err(TaskError::storage(&cause)),
                extracted => Ok(extracted.ok()),
            })
            .collect::<Result<_, _>>()?;
        let (mut detected, mut unread) = (Vec::new(), Vec::new());
        for (changed, features) in batch.iter().zip(&extracted) {
            match features {
                Some(features) => {
                    detected.push((changed.picture.row, detected_objects(changed, features)));
                }
                None => unread.push(&*changed.picture.path),
            }
        }
        let features = extracted.iter().flatten().flatten().flatten();
        let packed = context.put_pictures(features.map(|features| &*features.thumbnail))?;
        context.write(|tx| {
            object::replace_all(tx, &detected, &packed)?;
            unread.iter().try_for_each(|path| indexed_files::forget_modified(tx, source, path))
        })?;
    }
    Ok(())
}

fn detected_objects<'a>(
    changed: &'a ChangedObjects,
    features: &'a [Option<Features>],
) -> Vec<DetectedObject<'a>> {
    let objects = changed.objects.iter().zip(features);
    let detected = |(object, features): (_, &'a Option<_>)| {
        Some(DetectedObject { object, features: features.as_ref()? })
    };
    objects.filter_map(detected).collect()
}

/// The features of the objects in a picture, in the order of the objects. `None` stands for an object whose features
/// cannot be computed.
type ObjectFeatures = Vec<Option<Features>>;

fn extract_from_picture(
    folder: &dyn OriginalFiles,
    changed: &ChangedObjects,
) -> io::Result<ObjectFeatures> {
    if changed.objects.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = read_picture(folder, &changed.picture.path)?;
    let regions: Vec<_> = changed.objects.iter().map(|object| object.region).collect();
    let extracted = catch_unwind(AssertUnwindSafe(|| index::extract_regions(&bytes, &regions)));
    Ok(extracted.ok().and_then(Result::ok).unwrap_or_default())
}
