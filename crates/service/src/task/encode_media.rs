//! Computes vectors and labels with the user's own model. Finished batches stay in the store, so that an interruption
//! loses little work.

use std::{
    collections::{HashMap, hash_map::Entry},
    io,
    path::Path,
};

use super::{
    TaskContext,
    context::{ProgressRange, fraction},
    extract_media::read_picture,
    member_features::Scope,
};
use crate::{task_error::TaskError, usecase::UNREADABLE_MODEL};
use image::RgbImage;
use tessera_encoder::{Encoder, HashedFile};
use tessera_media::ingest::{OriginalFiles, is_refused, is_unavailable, sidecar::push_name};
use tessera_model::{DatasetId, Region};
use tessera_picture::decode::{DecodeError, decode, with_spare_pixels};
use tessera_search::index::{THUMBNAIL_SIDE, decode_regions};
use tessera_store::{
    applied_model::{self, AppliedModel, ModelFile, ModelRecord},
    dataset,
    media::insert_model_labels,
    picture_table::StoredPicture,
    source,
    vectors::{self, FullPicture},
};

const BATCH_SIZE: usize = 32;

/// Encodes the media that have no vector of the dataset's own model, except media that the model rejects. Without a
/// model, deletes the vectors and labels of a previous model, but keeps imported embeddings. Returns why the dataset
/// has no vectors of its model, if the model rejects all media.
pub(crate) fn encode_media(
    context: &TaskContext,
    dataset: DatasetId,
    scope: Scope,
    progress: &ProgressRange,
) -> Result<Option<String>, TaskError> {
    let record = context.store.read(|c| dataset::find(c, dataset))?.ok_or(TaskError::Stopped)?;
    let model = context.models.of(&record);
    let model = model.map_err(|_| TaskError::Failed(UNREADABLE_MODEL.to_owned()))?;
    let model = model.as_deref();
    let fingerprint = model.map(Encoder::fingerprint);
    if context.store.read(|c| applied_model::fingerprint(c, dataset))? != fingerprint {
        let applied = model.map(applied);
        context.write(|tx| applied_model::replace(tx, dataset, applied.as_ref()))?;
    }
    let Some(model) = model else { return Ok(None) };
    let rows =
        context.store.read(|c| vectors::without_model_vector(c, dataset, scope.source_row()))?;
    let mut pictures = ModelPictures::new(context, model.input_side());
    let (mut done, mut rejection) = (0, None);
    let run = context.encoding.begin(dataset, rows.len());
    for batch in rows.chunks(BATCH_SIZE) {
        if !progress.report(fraction(done, rows.len())) {
            return Err(TaskError::Stopped);
        }
        let (mut vectors, mut labels) = (Vec::new(), Vec::new());
        let mut encoded_here = 0;
        pictures.for_each(batch, |row, pixels| {
            run.set_done(done + encoded_here);
            encoded_here += 1;
            // Calls are not made in parallel, because each call uses all cores already.
            match model.encode_image(pixels) {
                Ok(encoded) => {
                    vectors.push((row, encoded.vector));
                    labels.extend(encoded.label.map(|label| (row, bounded(&label.labels))));
                }
                Err(reason) => rejection = Some(reason),
            }
        })?;
        context.write(|tx| {
            vectors::MODEL_VECTORS.upsert_all(tx, &vectors)?;
            insert_model_labels(tx, &labels)
        })?;
        done += batch.len();
    }
    let encoded = context.store.read(|c| vectors::model_vector_counts(c, dataset))?.0;
    let rejection = rejection.filter(|_| encoded == 0);
    Ok(rejection.map(|reason| format!("the model encodes no media of this dataset: {reason}")))
}

fn applied(model: &Encoder) -> AppliedModel {
    let file = |HashedFile { path, sha256 }: &HashedFile| ModelFile {
        path: path.clone(),
        sha256: sha256.clone(),
    };
    let record = ModelRecord {
        name: model.name(),
        is_imported: false,
        takes_texts: model.takes_texts(),
        files: model.hashed_files().iter().map(file).collect(),
    };
    AppliedModel { fingerprint: model.fingerprint(), record }
}

/// Applies the same limits as for labels of the dataset.
fn bounded(labels: &[String]) -> Vec<String> {
    let mut bounded = Vec::new();
    for label in labels {
        push_name(&mut bounded, label);
    }
    bounded
}

pub(crate) struct ModelPictures<'a> {
    context: &'a TaskContext,
    /// The number of pixels per side of the model's input.
    side: u32,
    /// The folders that were opened, by the row of their source.
    folders: HashMap<i64, Box<dyn OriginalFiles>>,
    /// Why object storage refused the originals since it last sent one.
    refusals: Vec<io::Error>,
    /// The number of refusals in a row from which the access key is wrong, and not the originals.
    max_refusals: usize,
}

impl<'a> ModelPictures<'a> {
    pub fn new(context: &'a TaskContext, side: u32) -> Self {
        Self { context, side, folders: HashMap::new(), refusals: Vec::new(), max_refusals: 2 }
    }

    /// Calls `each` with the rows of media and their pixels. Fails if object storage refuses all originals, because
    /// the vectors of thumbnails would stay when it sends the originals again.
    pub fn for_each(
        &mut self,
        rows: &[i64],
        mut each: impl FnMut(i64, &RgbImage),
    ) -> Result<(), TaskError> {
        if self.side <= THUMBNAIL_SIDE {
            return self.for_each_thumbnail(rows, &mut each);
        }
        let mut pictures = self.context.store.read(|c| vectors::full_pictures(c, rows))?;
        let frames = pictures.iter_mut().filter_map(|it| Some((it.row, it.frame.take()?)));
        let frames: HashMap<i64, Vec<u8>> =
            self.read_pictures(frames.collect())?.into_iter().collect();
        // The objects in an image follow each other.
        let are_in_same_image = |a: &FullPicture, b: &FullPicture| {
            a.region.is_some() && b.region.is_some() && (a.source, &a.path) == (b.source, &b.path)
        };
        for pictures in pictures.chunk_by(are_in_same_image) {
            self.context.check_cancelled()?;
            let original = match frames.get(&pictures[0].row) {
                Some(jpeg) => Some(jpeg.clone()),
                None => self.read_original(pictures[0].source, &pictures[0].path)?,
            };
            let decoded = original.map(|bytes| decode_all(&bytes, pictures, self.side, &mut each));
            if !matches!(decoded, Some(Ok(()))) {
                // If the file is gone or damaged by now, the thumbnails are all that is left of it.
                let rows: Vec<i64> = pictures.iter().map(|picture| picture.row).collect();
                self.for_each_thumbnail(&rows, &mut each)?;
            }
        }
        match self.refusals.last() {
            Some(cause) if self.refusals.len() >= self.max_refusals => {
                Err(TaskError::storage(cause))
            }
            _ => Ok(()),
        }
    }

    fn for_each_thumbnail(
        &self,
        rows: &[i64],
        each: &mut impl FnMut(i64, &RgbImage),
    ) -> Result<(), TaskError> {
        let thumbnails = self.context.store.read(|c| vectors::thumbnails(c, rows))?;
        for (row, jpeg) in self.read_pictures(thumbnails)? {
            if let Ok(decoded) = decode(&jpeg, self.side) {
                each(row, &decoded.pixels);
            }
        }
        Ok(())
    }

    fn read_pictures(
        &self,
        pictures: Vec<(i64, StoredPicture)>,
    ) -> Result<Vec<(i64, Vec<u8>)>, TaskError> {
        let read = self.context.originals.pictures.read_all(pictures);
        read.map_err(|cause| TaskError::storage(&cause))
    }

    /// Reads an original. Returns `None` if the file cannot be read.
    fn read_original(&mut self, source: i64, path: &Path) -> Result<Option<Vec<u8>>, TaskError> {
        let folder = match self.folders.entry(source) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(free) => {
                let found = self.context.store.read(|c| source::find(c, source))?;
                free.insert(self.context.open_source(&found.ok_or(TaskError::Stopped)?)?)
            }
        };
        match read_picture(&**folder, path) {
            Ok(bytes) => {
                self.refusals.clear();
                self.max_refusals = BATCH_SIZE;
                Ok(Some(bytes))
            }
            Err(cause) if is_unavailable(&cause) => Err(TaskError::storage(&cause)),
            Err(cause) => {
                self.refusals.extend(is_refused(&cause).then_some(cause));
                Ok(None)
            }
        }
    }
}

/// Decodes an image, or the objects in an image.
fn decode_all(
    bytes: &[u8],
    pictures: &[FullPicture],
    side: u32,
    each: &mut impl FnMut(i64, &RgbImage),
) -> Result<(), DecodeError> {
    let regions: Vec<Region> = pictures.iter().filter_map(|picture| picture.region).collect();
    if regions.is_empty() {
        each(pictures[0].row, &decode(bytes, with_spare_pixels(side))?.pixels);
        return Ok(());
    }
    let parts = decode_regions(bytes, &regions, with_spare_pixels(side))?;
    for (picture, (pixels, _)) in pictures.iter().zip(parts) {
        each(picture.row, &pixels);
    }
    Ok(())
}
