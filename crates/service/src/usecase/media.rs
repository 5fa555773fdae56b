//! Media items (the original file, the thumbnail, the record), and query images, which are uploads by which a search
//! ranks.

use std::{
    borrow::Cow,
    fmt::Display,
    path::{Path, PathBuf},
};

use image::{ExtendedColorType, codecs::bmp::BmpEncoder, imageops};
use rustix::io::Errno;
use uuid::Uuid;

use super::ServiceError;
use crate::{Deployment, InjectedFailure, OriginalPaths, originals::storage_location};
use tessera_media::ingest::{
    HASHED_BEFORE_SENDING, SourceFile, is_changed, parquet_images::containing_file,
    read_first_bytes,
};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId, Region};
use tessera_picture::decode::{decode, with_spare_pixels};
use tessera_retrieval::stored_pictures::REQUEST_LIMIT;
use tessera_search::index::{self, Features, region_in_pixels, whole_pixels};
use tessera_store::{
    cluster::StoredPreview,
    indexed_files,
    media::{self, MediaRecord},
    picture_features::PictureFeatures,
    picture_table::StoredPicture,
    query_image::{self, StoredQueryImage},
};

pub(crate) struct OriginalFile {
    pub record: MediaRecord,
    pub file: Box<dyn SourceFile>,
    /// The first bytes of the file.
    pub head: Vec<u8>,
}

pub(crate) enum Original {
    File(OriginalFile),
    /// A frame of a video as JPEG.
    Frame(MediaRecord, Vec<u8>),
}

impl Deployment {
    pub(crate) fn media_item(&self, id: MediaId) -> Result<MediaRecord, ServiceError> {
        Ok(self.find_media(id)?.0)
    }

    pub(crate) fn original(&self, id: MediaId) -> Result<Original, ServiceError> {
        let (record, folder) = self.find_media(id)?;
        if record.frame.is_none() {
            return self.open_original(record, &folder).map(Original::File);
        }
        let picture = self.store.read(|c| media::frame_picture(c, record.row))?;
        Ok(Original::Frame(record, self.read_picture(picture)?))
    }

    /// Returns the file of the video from which a frame was taken.
    pub(crate) fn video(&self, id: MediaId) -> Result<OriginalFile, ServiceError> {
        let (record, folder) = self.find_media(id)?;
        if record.frame.is_none() {
            return Err(ServiceError::media_not_found());
        }
        self.open_original(record, &folder)
    }

    /// Finds a media item with the folder of its source, unless this service does not offer its dataset.
    pub(super) fn find_media(&self, id: MediaId) -> Result<(MediaRecord, PathBuf), ServiceError> {
        let found = self.store.read(|c| media::find(c, id))?;
        let found = found.filter(|(record, _)| self.offers(record.dataset));
        found.ok_or_else(ServiceError::media_not_found)
    }

    /// Returns the paths of the files on this machine that are or contain the originals of previews, in their order.
    /// `None` stands for an original in a bucket, for a path that is not text, and for every original if the settings
    /// hide paths.
    pub(super) fn original_paths(
        &self,
        previews: &[StoredPreview],
    ) -> Result<Vec<Option<String>>, ServiceError> {
        if self.settings.original_paths == OriginalPaths::Hidden {
            return Ok(vec![None; previews.len()]);
        }
        let path_of = |(folder, path): (PathBuf, PathBuf)| {
            let is_local = storage_location(&folder).is_none();
            let file = is_local.then(|| containing_file(&folder, &path))?;
            file.into_os_string().into_string().ok()
        };
        let locations: Vec<_> = self
            .store
            .read(|c| previews.iter().map(|preview| media::location(c, preview.media)).collect())?;
        Ok(locations.into_iter().map(|location| location.and_then(path_of)).collect())
    }

    /// Returns the thumbnail as a JPEG, with its media item.
    pub(crate) fn thumbnail(&self, id: MediaId) -> Result<(MediaRecord, Vec<u8>), ServiceError> {
        let (record, _) = self.find_media(id)?;
        let picture = self.store.read(|c| media::thumbnail(c, id))?;
        Ok((record, self.read_picture(picture)?))
    }

    fn read_picture(&self, picture: Option<StoredPicture>) -> Result<Vec<u8>, ServiceError> {
        let picture = picture.ok_or_else(ServiceError::media_not_found)?;
        self.originals
            .pictures
            .read(picture, REQUEST_LIMIT)
            .map_err(ServiceError::unreadable_picture)
    }

    fn open_original(
        &self,
        record: MediaRecord,
        folder: &Path,
    ) -> Result<OriginalFile, ServiceError> {
        let open = || {
            let files = self.originals.open(folder)?;
            let content = record.indexed_content();
            let mut file = content.open(&*files, &record.path, HASHED_BEFORE_SENDING)?;
            let head = read_first_bytes(&mut *file)?;
            file.rewind()?;
            Ok::<_, std::io::Error>((file, head))
        };
        let opened = open();
        if opened.as_ref().is_err_and(is_changed) {
            self.forget_modified(&record)?;
            return Err(ServiceError::ChangedFile);
        }
        let (file, head) = opened.map_err(|cause| {
            ServiceError::source_failure(&cause).unwrap_or(match Errno::from_io_error(&cause) {
                Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO) => {
                    ServiceError::internal()
                }
                _ => ServiceError::original_not_found(),
            })
        })?;
        Ok(OriginalFile { record, file, head })
    }

    /// Makes the next comparison of the folder read a file again, even if its size and time are the indexed ones.
    fn forget_modified(&self, record: &MediaRecord) -> Result<(), ServiceError> {
        if record.modified().is_some() {
            self.store
                .write_rows(|tx| indexed_files::forget_modified(tx, record.source, &record.path))?;
        }
        Ok(())
    }
}

/// The maximum number of query images, and of those without free disk space. A query image takes about 30 KB.
const MAX_QUERY_IMAGES: [u32; 2] = [10_000, 16];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueryRegion {
    Fractional(Region),
    /// Left, top, width and height in pixels.
    Pixels([f64; 4]),
}

impl Deployment {
    /// Registers a query image, for searches of the given entity type and granularity if there are any. Returns its
    /// identifier, which searches use as an anchor.
    pub(crate) fn register_query_image(
        &self,
        dataset: DatasetId,
        entity: Option<EntityType>,
        level: Option<Granularity>,
        file: &[u8],
        region: Option<QueryRegion>,
    ) -> Result<MediaId, ServiceError> {
        self.inject(InjectedFailure::Search, "The search failed")?;
        let (features, thumbnail) = self.features_of(dataset, file, region)?;
        let id = MediaId(Uuid::new_v4());
        let image = StoredQueryImage { entity, level, features, thumbnail };
        let max_images = self.max_query_images();
        self.store.write(|tx| query_image::put(tx, dataset, id, &image, max_images))?;
        Ok(id)
    }

    /// Returns how many query images are kept. Without free disk space, a query image replaces the oldest ones.
    fn max_query_images(&self) -> u32 {
        let [usual, without_space] = MAX_QUERY_IMAGES;
        if self.available_disk_space() == Some(0) { without_space } else { usual }
    }

    /// Returns the features of a picture that searches compare, and its thumbnail. If the user's own model rejects the
    /// picture, there is no vector of the model.
    fn features_of(
        &self,
        dataset: DatasetId,
        file: &[u8],
        region: Option<QueryRegion>,
    ) -> Result<(PictureFeatures, Vec<u8>), ServiceError> {
        let file = match region {
            None => Cow::Borrowed(file),
            Some(region) => Cow::Owned(cut_out(file, region).map_err(ServiceError::Invalid)?),
        };
        let Features { descriptor, keypoints, thumbnail, .. } =
            index::extract(&file).map_err(|cause| ServiceError::Invalid(unreadable(&cause)))?;
        let model_vector = self.user_model(dataset)?.and_then(|model| {
            let pixels = decode(&file, with_spare_pixels(model.input_side())).ok()?.pixels;
            Some(model.encode_image(&pixels).ok()?.vector)
        });
        Ok((PictureFeatures { descriptor, keypoints, model_vector }, thumbnail))
    }
}

/// Cuts out a part of a picture, as a separate picture.
fn cut_out(bytes: &[u8], region: QueryRegion) -> Result<Vec<u8>, String> {
    let decoded = decode(bytes, u32::MAX).map_err(|cause| unreadable(&cause))?;
    let (whole, original) = (decoded.pixels, decoded.original);
    let (x, y, width, height) = match region {
        QueryRegion::Fractional(region) => region_in_pixels(region, whole.dimensions()),
        // The largest pictures are decoded at half their size.
        QueryRegion::Pixels(sides) => {
            let scale = f64::from(whole.width()) / f64::from(original.0);
            whole_pixels(sides.map(|side| side * scale), whole.dimensions())
        }
    };
    let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
    let (width, height) = part.dimensions();
    let mut lossless = Vec::new();
    BmpEncoder::new(&mut lossless)
        .encode(&part, width, height, ExtendedColorType::Rgb8)
        .map_err(|cause| unreadable(&cause))?;
    Ok(lossless)
}

fn unreadable(cause: &dyn Display) -> String {
    format!("The file is not an image that can be read: {cause}")
}
