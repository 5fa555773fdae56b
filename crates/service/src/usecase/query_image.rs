//! Query images: uploads that a search ranks by.

use std::{fmt::Display, io::Cursor};

use half::f16;
use image::{ImageFormat, imageops};
use uuid::Uuid;

use super::ServiceError;
use crate::{
    Deployment, InjectedFailure,
    index::{self, region_in_pixels, whole_pixels},
    store::query_image::{self, StoredQueryImage},
};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId, Region};
use tessera_picture::decode::decode;

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
        let descriptor = compute_descriptor(file, region).map_err(ServiceError::Invalid)?;
        let id = MediaId(Uuid::new_v4());
        let image = StoredQueryImage { entity, level, descriptor };
        self.store.write(|tx| query_image::put(tx, dataset, id, &image))?;
        Ok(id)
    }
}

fn compute_descriptor(bytes: &[u8], region: Option<QueryRegion>) -> Result<Vec<f16>, String> {
    let unreadable =
        |cause: &dyn Display| format!("The file is not an image that can be read: {cause}");
    let cropped;
    let bytes = match region {
        None => bytes,
        Some(region) => {
            let whole = decode(bytes, u32::MAX).map_err(|cause| unreadable(&cause))?.pixels;
            let (x, y, width, height) = match region {
                QueryRegion::Fractional(region) => region_in_pixels(region, whole.dimensions()),
                QueryRegion::Pixels(sides) => whole_pixels(sides, whole.dimensions()),
            };
            let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
            let mut lossless = Cursor::new(Vec::new());
            part.write_to(&mut lossless, ImageFormat::Bmp).map_err(|cause| unreadable(&cause))?;
            cropped = lossless.into_inner();
            &cropped
        }
    };
    Ok(index::extract(bytes).map_err(|cause| unreadable(&cause))?.descriptor)
}
