//! Indexes a folder: scans it, extracts new files, removes missing ones, and applies sidecars. The files of an addition
//! are first brought into the folder of their batch. Files in object storage stay there.
//!
//! Sidecars, and the texts in picture files, are read at each indexing, which covers changed sidecars, new pictures and
//! interrupted runs. Only changes are written, and only pictures whose objects changed are opened again.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use super::{
    TaskContext,
    extract_media::{extract_media, percent},
    several_processes::extract_in_ranges,
};
use crate::{
    originals::{FOLDER_MISSING, is_missing, storage_location},
    task_error::TaskError,
};
use rayon::prelude::*;
use tessera_files::staging::ARCHIVE_FILE_NAME;
use tessera_media::ingest::{
    FolderScan, KnownFile, OriginalFiles, ScannedFile, diff, is_source_failure,
    sidecar::{self, SidecarData, place_boxes, push_name},
    unpack::{ArchiveKind, UnpackError, UnpackLimits},
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

/// Updates the store to match a folder. The files in `missing` are listed among the skipped files.
pub fn index_source(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    missing: &MissingFiles,
) -> Result<(), TaskError> {
    let store = &context.store;
    let known = store.read(|c| indexed_files::known_files(c, source.row))?;
    if source.is_dataset_folder
        && !known.is_empty()
        && storage_location(&source.folder).is_none()
        && is_missing(&source.folder)
    {
        // A disk that is not connected must not empty the index.
        return Err(TaskError::Failed(FOLDER_MISSING.to_owned()));
    }
    let folder = &*context.open_source(source)?;
    let scan = context.originals.scan(&source.folder, &source.patterns);
    let mut scan = scan.map_err(|cause| TaskError::in_storage(cause.to_string(), &cause))?;
    // Other sources inside this folder keep their own files.
    let inside: Vec<PathBuf> = store
        .read(|c| sources::all(c, source.dataset))?
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
            skipped.chain(missing.iter().map(|(path, reason)| (path, &**reason))).collect();
        let skipped =
            skipped.iter().map(|(path, reason)| FileWithoutMedia { path, stat: None, reason });
        indexed_files::mark_skipped(tx, source.row, skipped)
    })?;
    let reading = sidecar::read(folder, &scan);
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

pub(crate) type MissingFiles = Vec<(PathBuf, String)>;

/// Brings the files into the folder, unless they are already there. Returns the files that are missing.
pub(crate) fn fetch_batch(
    context: &TaskContext,
    source: &SourceFolder,
    origin: &BatchOrigin,
) -> Result<MissingFiles, TaskError> {
    match origin {
        BatchOrigin::InPlace | BatchOrigin::ObjectStorage(_) => Ok(MissingFiles::new()),
        BatchOrigin::Archive(extension) => unpack_batch(context, source, extension),
    }
}

/// Unpacks the archive of an upload, if this was not done before the database was lost or the addition failed.
pub(crate) fn finish_unpacking(
    context: &TaskContext,
    source: &SourceFolder,
) -> Result<MissingFiles, TaskError> {
    let record = context.originals.uploads.record_of_unpacked(&source.folder);
    let record = record.map_err(|cause| TaskError::io("the upload could not be read", &cause))?;
    match record.map(|record| record.origin) {
        Some(BatchOrigin::Archive(extension)) => unpack_batch(context, source, &extension),
        _ => Ok(MissingFiles::new()),
    }
}

/// Unpacks the archive of a batch, and removes the archive.
fn unpack_batch(
    context: &TaskContext,
    source: &SourceFolder,
    extension: &str,
) -> Result<MissingFiles, TaskError> {
    let whole = PathBuf::from(format!("{ARCHIVE_FILE_NAME}{extension}"));
    let unknown = || TaskError::Failed("the format of the uploaded archive is unknown".to_owned());
    let kind = ArchiveKind::from_name(&whole.to_string_lossy()).ok_or_else(unknown)?;
    let limits = UnpackLimits { disk: context.settings.disk.clone(), ..UnpackLimits::default() };
    let uploads = &context.originals.uploads;
    // The folder has a name of its own, because a worker that lost the task may still be writing its folder.
    let target = source.folder.with_extension(context.fence().to_string());
    let unpacked = uploads.unpack(&source.folder, &target, kind, limits, context.stop_flag());
    let unpacked = unpacked.map_err(|unfinished| match unfinished {
        UnpackError::Cancelled => TaskError::Stopped,
        UnpackError::Io(cause) => TaskError::io("the archive could not be unpacked", &cause),
    })?;
    let Some(unpacked) = unpacked else { return Ok(MissingFiles::new()) };
    // Inside this transaction, no other worker can take the task.
    context
        .write(|_| Ok(uploads.publish(&source.folder, &target)))?
        .map_err(|cause| TaskError::io("the archive could not be unpacked", &cause))?;
    let skipped = unpacked.skipped.into_iter();
    let mut missing: MissingFiles =
        skipped.map(|(name, reason)| (PathBuf::from(name.as_str()), reason.to_owned())).collect();
    if let Some(damage) = unpacked.damage_reason {
        missing.push((whole, damage.to_owned()));
    } else if unpacked.unreported > 0 {
        missing.push((whole, format!("{} more members were passed over", unpacked.unreported)));
    }
    Ok(missing)
}

/// The number of media that are processed at a time, which bounds the memory.
const MEDIA_AT_A_TIME: usize = 1_000;

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
    extract_objects(context, folder, &changed_objects(context, pictures, reading)?)
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
    text
}

fn changed_objects(
    context: &TaskContext,
    pictures: Vec<DescribedMedia>,
    reading: &SidecarData,
) -> Result<Vec<ChangedObjects>, TaskError> {
    let mut changed = Vec::new();
    context.store.read(|c| {
        // Boxes belong to images, not to all frames of a video.
        let images: Vec<_> = pictures.into_iter().filter(|picture| !picture.is_frame).collect();
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

/// Extracts the objects in pictures. A picture that cannot be opened has no objects, unless its source has failed.
fn extract_objects(
    context: &TaskContext,
    folder: &dyn OriginalFiles,
    pictures: &[ChangedObjects],
) -> Result<(), TaskError> {
    for batch in pictures.chunks(BATCH_SIZE) {
        context.check_cancelled()?;
        let extracted: Vec<Vec<Features>> = batch
            .par_iter()
            .map(|picture| match extract_from_picture(folder, picture) {
                Err(cause) if is_source_failure(&cause) => Err(TaskError::storage(&cause)),
                extracted => Ok(extracted.unwrap_or_default()),
            })
            .collect::<Result<_, _>>()?;
        let detected: Vec<_> = batch
            .iter()
            .zip(&extracted)
            .map(|(changed, features)| (changed.picture.row, detected_objects(changed, features)))
            .collect();
        let thumbnails = extracted.iter().flatten().map(|features| &*features.thumbnail);
        let packed = context.put_pictures(thumbnails)?;
        context.write(|tx| object::replace_all(tx, &detected, &packed))?;
    }
    Ok(())
}

fn detected_objects<'a>(
    changed: &'a ChangedObjects,
    features: &'a [Features],
) -> Vec<DetectedObject<'a>> {
    let objects = changed.objects.iter().zip(features);
    objects.map(|(object, features)| DetectedObject { object, features }).collect()
}

fn extract_from_picture(
    folder: &dyn OriginalFiles,
    changed: &ChangedObjects,
) -> io::Result<Vec<Features>> {
    if changed.objects.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    folder.open_file(&changed.picture.path)?.read_to_end(&mut bytes)?;
    let regions: Vec<_> = changed.objects.iter().map(|object| object.region).collect();
    let extracted = catch_unwind(AssertUnwindSafe(|| index::extract_regions(&bytes, &regions)));
    Ok(extracted.ok().and_then(Result::ok).unwrap_or_default())
}
