//! Query images: uploads that a search ranks by.

use std::{borrow::Cow, fmt::Display, io::Cursor};

use image::{ImageFormat, imageops};
use uuid::Uuid;

use super::ServiceError;
use crate::{Deployment, InjectedFailure};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId, Region};
use tessera_picture::decode::decode;
use tessera_search::index::{self, Features, region_in_pixels, whole_pixels};
use tessera_store::{
    picture_features::PictureFeatures,
    query_image::{self, StoredQueryImage},
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueryRegion {
    Fractional(Region),
    /// Left, top, width, height.
    Pixels([f64; 4]),
}

impl Deployment {
    /// Registers a query image, for searches of one entity type and granularity if they are given.
    /// Returns its identifier as an anchor.
    pub(crate) fn register_query_image(
        &self,
        dataset: DatasetId,
        entity: Option<EntityType>,
        level: Option<Granularity>,
        file: &[u8],
        region: Option<QueryRegion>,
    ) -> Result<MediaId, ServiceError> {
        self.inject(InjectedFailure::Search, "The search failed")?;
        let (features, thumbnail) =
            self.features_of(file, region).map_err(ServiceError::Invalid)?;
        let id = MediaId(Uuid::new_v4());
        let image = StoredQueryImage { entity, level, features, thumbnail };
        self.store.write(|tx| query_image::put(tx, dataset, id, &image))?;
        Ok(id)
    }

    /// What searches compare of a picture, and its thumbnail; without a vector of the user's own model if that rejects the picture.
    fn features_of(
        &self,
        file: &[u8],
        region: Option<QueryRegion>,
    ) -> Result<(PictureFeatures, Vec<u8>), String> {
        let file = match region {
            None => Cow::Borrowed(file),
            Some(region) => Cow::Owned(cut_out(file, region)?),
        };
        let Features { descriptor, keypoints, thumbnail, .. } =
            index::extract(&file).map_err(|cause| unreadable(&cause))?;
        let model_vector = self.settings.model.as_deref().and_then(|model| {
            let pixels = decode(&file, model.input_side()).ok()?.pixels;
            Some(model.encode_image(&pixels).ok()?.vector)
        });
        Ok((PictureFeatures { descriptor, keypoints, model_vector }, thumbnail))
    }
}

/// A part of a picture as a picture of its own.
fn cut_out(bytes: &[u8], region: QueryRegion) -> Result<Vec<u8>, String> {
    let whole = decode(bytes, u32::MAX).map_err(|cause| unreadable(&cause))?.pixels;
    let (x, y, width, height) = match region {
        QueryRegion::Fractional(region) => region_in_pixels(region, whole.dimensions()),
        QueryRegion::Pixels(sides) => whole_pixels(sides, whole.dimensions()),
    };
    let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
    let mut lossless = Cursor::new(Vec::new());
    part.write_to(&mut lossless, ImageFormat::Bmp).map_err(|cause| unreadable(&cause))?;
    Ok(lossless.into_inner())
}

fn unreadable(cause: &dyn Display) -> String {
    format!("The file is not an image that can be read: {cause}")
}
