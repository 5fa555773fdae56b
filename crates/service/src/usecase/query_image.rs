//! Query images: uploads that a search ranks by.

use std::{fmt::Display, io::Cursor};

use half::f16;
use image::{ImageFormat, imageops};
use uuid::Uuid;

use super::ServiceError;
use crate::{
    Deployment, InjectedFailure, index,
    store::query_image::{self, StoredQueryImage},
};
use tessera_model::{DatasetId, EntityType, Granularity, MediaId, Region};
use tessera_picture::decode::decode;

/// The part of a query image that is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueryRegion {
    Fractional(Region),
    /// Left, top, width, height.
    Pixels([f64; 4]),
}

impl Deployment {
    /// Registers a query image for searches at one granularity. Returns its identifier as an anchor.
    pub(crate) fn register_query_image(
        &self,
        dataset: DatasetId,
        entity: EntityType,
        level: Granularity,
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
            let (x, y, width, height) = to_pixels(region, whole.dimensions());
            let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
            let mut lossless = Cursor::new(Vec::new());
            part.write_to(&mut lossless, ImageFormat::Bmp).map_err(|cause| unreadable(&cause))?;
            cropped = lossless.into_inner();
            &cropped
        }
    };
    Ok(index::extract(bytes).map_err(|cause| unreadable(&cause))?.descriptor)
}

/// A region in whole pixels (left, top, width, height): at least one, never outside.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded, then clamped"
)]
fn to_pixels(region: QueryRegion, (width, height): (u32, u32)) -> (u32, u32, u32, u32) {
    let (wide, high) = (f64::from(width), f64::from(height));
    let [x, y, w, h] = match region {
        QueryRegion::Fractional(part) => {
            [part.x * wide, part.y * high, part.width * wide, part.height * high]
        }
        QueryRegion::Pixels(sides) => sides,
    };
    let span = |from: f64, length: f64, side: u32| {
        let first = (from as u32).min(side - 1);
        (first, (length.round() as u32).clamp(1, side - first))
    };
    let ((x, w), (y, h)) = (span(x, w, width), span(y, h, height));
    (x, y, w, h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_at_least_one_pixel_and_inside_the_image() {
        let part = |x, y, w, h| QueryRegion::Fractional(Region::new(x, y, w, h).unwrap());
        let of = |x, y, w, h| to_pixels(part(x, y, w, h), (100, 50));
        assert_eq!(of(0.0, 0.0, 1.0, 1.0), (0, 0, 100, 50));
        assert_eq!(of(0.25, 0.5, 0.5, 0.5), (25, 25, 50, 25));
        assert_eq!(of(0.999, 0.0, 0.001, 0.0001), (99, 0, 1, 1));
        assert_eq!(of(1.0, 1.0, 1e-12, 1e-12), (99, 49, 1, 1));
        assert_eq!(
            to_pixels(QueryRegion::Pixels([90.0, 0.0, 2048.0, 1536.0]), (100, 50)),
            (90, 0, 10, 50)
        );
    }
}
