//! Extracts the features of new objects, using all cores.

use std::{
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use rayon::prelude::*;

use super::TaskContext;
use crate::task_error::TaskError;
use tessera_media::ingest::OriginalFiles;
use tessera_model::LabeledRegion;
use tessera_search::index::{self, Features};
use tessera_store::{
    object::{self, DetectedObject},
    sidecar::DescribedMedia,
};

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
