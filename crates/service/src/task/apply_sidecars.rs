//! Applies sidecars to the media of a source: captions, labels, tags and objects. All of them are read
//! at each indexing, which covers changed sidecars, new pictures and interrupted runs. Only what
//! changed is written, and only pictures whose objects changed are opened again.

use super::{
    TaskContext,
    extract_objects::{ChangedObjects, extract_objects},
};
use crate::{
    ingest::{FolderScan, OriginalFiles, sidecar::SidecarData},
    store::{
        indexed_files, object,
        sidecar::{self as descriptions, DescribedMedia, TextMetadata},
        source::SourceFolder,
    },
    task_error::TaskError,
};

/// Updates texts and objects to match the sidecars. Sidecars with errors are listed among the
/// skipped files; their valid parts count.
pub fn apply_sidecars(
    context: &TaskContext,
    source: &SourceFolder,
    folder: &dyn OriginalFiles,
    scan: &FolderScan,
    reading: &SidecarData,
) -> Result<(), TaskError> {
    let pictures = context.store.read(|c| descriptions::all_media(c, source.row))?;
    context.write(|tx| {
        for found in &scan.files {
            let (path, stat) = (&found.path, found.stat);
            if let Some(reason) = reading.problems.get(path) {
                indexed_files::mark_skipped(tx, source.row, path, Some(stat), reason)?;
            } else if reading.sidecars.contains(path) {
                descriptions::mark_read(tx, source.row, path, stat)?;
            }
        }
        for picture in &pictures {
            let text = sidecar_text(reading, picture);
            if text != picture.text {
                descriptions::set_text(tx, picture.row, &text)?;
            }
        }
        Ok(())
    })?;
    extract_objects(context, folder, &changed_objects(context, pictures, reading)?)
}

fn sidecar_text(reading: &SidecarData, picture: &DescribedMedia) -> TextMetadata {
    let description = reading.descriptions.get(&picture.path);
    description.map_or_else(TextMetadata::default, |description| TextMetadata {
        caption: description.caption.clone(),
        labels: description.labels.clone(),
        tags: description.tags.clone(),
    })
}

fn changed_objects(
    context: &TaskContext,
    pictures: Vec<DescribedMedia>,
    reading: &SidecarData,
) -> Result<Vec<ChangedObjects>, TaskError> {
    let mut changed = Vec::new();
    context.store.read(|c| {
        // Boxes are in images, not in all frames of a video.
        for picture in pictures.into_iter().filter(|picture| !picture.is_frame) {
            let description = reading.descriptions.get(&picture.path);
            let boxes =
                description.map(|description| description.objects.as_slice()).unwrap_or_default();
            let objects: Vec<_> = boxes
                .iter()
                .filter_map(|boxed| {
                    let region = boxed.bounding_box.to_region(picture.width, picture.height)?;
                    Some((boxed.label.clone(), region))
                })
                .collect();
            if !object::matches_stored(c, picture.row, &objects)? {
                changed.push(ChangedObjects { picture, objects });
            }
        }
        Ok(())
    })?;
    Ok(changed)
}
