//! Applies sidecars, and the texts in picture files, to the media of a source: captions, labels, tags and objects. All
//! sidecars are read at each indexing, which covers changed sidecars, new pictures and interrupted runs. Only changes
//! are written, and only pictures whose objects changed are opened again.

use std::{
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use super::TaskContext;
use crate::task_error::TaskError;
use rayon::prelude::*;
use tessera_media::ingest::{
    FolderScan, OriginalFiles,
    sidecar::{SidecarData, place_boxes, push_name},
};
use tessera_model::{DatasetId, EntityType, LabeledRegion};
use tessera_search::index::{self, Features};
use tessera_store::{
    Transaction, dataset,
    indexed_files::{self, FileWithoutMedia},
    object::{self, DetectedObject},
    search_table,
    sidecar::{self as descriptions, DescribedMedia, TextMetadata},
    source::SourceFolder,
};

/// The number of media that are processed at a time, which bounds the memory.
const MEDIA_AT_A_TIME: usize = 1_000;

/// Updates texts and objects to match the sidecars. Sidecars with errors are listed among the skipped files, but their
/// valid parts are used.
pub(crate) fn apply_sidecars(
    context: &TaskContext,
    source: &SourceFolder,
    folder: &dyn OriginalFiles,
    scan: &FolderScan,
    mut reading: SidecarData,
) -> Result<(), TaskError> {
    let pictures = context.store.read(|c| descriptions::all_media(c, source.row))?;
    let images = pictures.iter().filter(|picture| !picture.is_frame);
    let sizes = images.map(|image| (&*image.path, (image.width, image.height)));
    place_boxes(folder, &mut reading, sizes);
    let reading = &reading;
    context.write(|tx| {
        let files = scan.files.iter().map(|found| (&*found.path, found.stat));
        let unreadable = files.clone().filter_map(|(path, stat)| {
            let reason = reading.problems.get(path)?;
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

/// Merges the texts of an item. The caption of a sidecar takes precedence over the caption of the picture; labels are
/// merged.
fn text_of(reading: &SidecarData, picture: &DescribedMedia) -> TextMetadata {
    let description = reading.descriptions.get(&picture.path);
    let mut text = description.map_or_else(TextMetadata::default, |description| TextMetadata {
        caption: description.caption.clone(),
        labels: description.labels.clone(),
        tags: description.tags.clone(),
        own: description.own.clone(),
    });
    text.caption = text.caption.or_else(|| picture.embedded.caption.clone());
    picture.embedded.labels.iter().for_each(|label| push_name(&mut text.labels, label));
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

pub(crate) struct ChangedObjects {
    pub picture: DescribedMedia,
    pub objects: Vec<LabeledRegion>,
}

/// Extracts the objects in pictures. A picture that cannot be opened has no objects.
pub(crate) fn extract_objects(
    context: &TaskContext,
    folder: &dyn OriginalFiles,
    pictures: &[ChangedObjects],
) -> Result<(), TaskError> {
    for batch in pictures.chunks(BATCH_SIZE) {
        context.check_cancelled()?;
        let extracted: Vec<Vec<Features>> = batch
            .par_iter()
            .map(|picture| extract_from_picture(folder, picture).unwrap_or_default())
            .collect();
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
) -> Option<Vec<Features>> {
    if changed.objects.is_empty() {
        return Some(Vec::new());
    }
    let mut bytes = Vec::new();
    folder.open_file(&changed.picture.path).ok()?.read_to_end(&mut bytes).ok()?;
    let regions: Vec<_> = changed.objects.iter().map(|object| object.region).collect();
    catch_unwind(AssertUnwindSafe(|| index::extract_regions(&bytes, &regions))).ok()?.ok()
}
