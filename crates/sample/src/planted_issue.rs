//! Defines the issues that are planted in images, and changes the pixels of an image accordingly.

use std::io::Cursor;

use image::{ImageFormat, RgbImage, imageops};

use tessera_model::Region;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlantedIssue {
    NearDuplicate {
        /// The index of the original in the plan.
        original: usize,
        edit: Edit,
    },
    Blurred,
    Dark,
    Bright,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edit {
    HalfSize,
    /// The image is compressed once more, at a low JPEG quality.
    Recompressed,
    Crop(Region),
    Mirror,
    /// All colors are multiplied by this factor.
    Brightness(f32),
}

/// Returns left, top, width and height of a region in pixels.
pub(super) fn region_in_pixels(part: Region, width: u32, height: u32) -> [u32; 4] {
    let scale = |fraction: f64, size: u32| (fraction * f64::from(size)).round() as u32;
    let (w, h) = (scale(part.width, width).max(1), scale(part.height, height).max(1));
    [scale(part.x, width), scale(part.y, height), w, h]
}

impl PlantedIssue {
    /// Returns the name of the issue in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearDuplicate { .. } => "near-duplicate",
            Self::Blurred => "blurred",
            Self::Dark => "dark",
            Self::Bright => "bright",
        }
    }

    pub(super) fn apply(self, image: RgbImage) -> RgbImage {
        match self {
            Self::NearDuplicate { edit, .. } => edit.apply(image),
            Self::Blurred => {
                imageops::fast_blur(&image, image.width().min(image.height()) as f32 / 75.0)
            }
            Self::Dark => apply_tone_curve(image, |v| 0.17 * v * v + 0.06 * v),
            Self::Bright => apply_tone_curve(image, |v| 0.46 + 0.95 * v),
        }
    }
}

impl Edit {
    /// Returns the name of the edit in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfSize => "half size",
            Self::Recompressed => "recompressed",
            Self::Crop(_) => "cropped",
            Self::Mirror => "mirrored",
            Self::Brightness(gain) if gain > 1.0 => "brighter",
            Self::Brightness(_) => "darker",
        }
    }

    fn apply(self, image: RgbImage) -> RgbImage {
        let (width, height) = image.dimensions();
        match self {
            Self::HalfSize => imageops::thumbnail(&image, width / 2, height / 2),
            Self::Recompressed => recompress(image),
            Self::Crop(part) => {
                let [x, y, w, h] = region_in_pixels(part, width, height);
                imageops::crop_imm(&image, x, y, w, h).to_image()
            }
            Self::Mirror => imageops::flip_horizontal(&image),
            Self::Brightness(gain) => apply_tone_curve(image, |v| v * gain),
        }
    }
}

/// Maps every channel value (0.0-1.0) by a curve.
fn apply_tone_curve(mut image: RgbImage, curve: impl Fn(f32) -> f32) -> RgbImage {
    let table: [u8; 256] = std::array::from_fn(|v| (curve(v as f32 / 255.0) * 255.0) as u8);
    for value in image.as_flat_samples_mut().samples {
        *value = table[usize::from(*value)];
    }
    image
}

/// Encodes the image as a JPEG of quality 30 and decodes it again. If that fails, the image is returned unchanged.
fn recompress(image: RgbImage) -> RgbImage {
    match tessera_picture::encode_jpeg(&image, 30) {
        Ok(bytes) => image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::Jpeg)
            .decode()
            .map_or(image, image::DynamicImage::into_rgb8),
        Err(_) => image,
    }
}
