//! What is planted on purpose: copies with small edits, and photographs gone wrong.
//! Near-duplicates and quality issues are found by the index; here is the truth to find.

use std::{io::Cursor, path::PathBuf};

use image::{ImageFormat, RgbImage, imageops};

use super::{Object, Painting, dice::Dice};
use tessera_model::Region;

/// What was done to a painting on purpose.
#[derive(Clone, Debug, PartialEq)]
pub enum Planted {
    /// It is an edited copy of another painting.
    NearDuplicate {
        /// File of the original.
        of: PathBuf,
        /// Index of the original in the plan.
        original: usize,
        /// How it was edited.
        edit: Edit,
    },
    /// It is out of focus.
    Blurred,
    /// It is under-exposed.
    Dark,
    /// It is over-exposed.
    Bright,
}

/// How a near-duplicate differs from its original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edit {
    /// Half as wide and half as high.
    HalfSize,
    /// Saved once more at a low JPEG quality.
    Recompressed,
    /// Only this part of it.
    Crop(Region),
    /// Left and right exchanged.
    Mirror,
    /// All colours multiplied by this.
    Brightness(f32),
}

/// How many images of each sort a dataset holds.
pub struct Shares {
    /// Near-duplicates.
    pub copies: usize,
    /// Blurred, dark and bright ones, each.
    pub flawed: usize,
}

impl Shares {
    /// 4 % near-duplicates and 2 % of each flaw; at least two of each from 60 images on, one from 16.
    pub fn of(images: usize) -> Self {
        let least = usize::from(images >= 16) + usize::from(images >= 60);
        let share = |percent: usize| ((images * percent + 50) / 100).max(least);
        if least == 0 {
            return Self { copies: 0, flawed: 0 };
        }
        Self { copies: share(4), flawed: share(2) }
    }
}

/// Marks some paintings as flawed and appends the copies of others.
pub fn plant(paintings: &mut Vec<Painting>, shares: &Shares, mut dice: Dice) {
    let mut order: Vec<usize> = (0..paintings.len()).collect();
    dice.shuffle(&mut order);
    let mut chosen = order.into_iter();
    for flaw in [Planted::Blurred, Planted::Dark, Planted::Bright] {
        for index in chosen.by_ref().take(shares.flawed) {
            paintings[index].planted = Some(flaw.clone());
        }
    }
    let mut left = shares.copies;
    for original in chosen {
        // Two groups at least, so that groups can be told apart.
        let group = dice.count(1, 3).min(left.div_ceil(2));
        for edit in edits(&mut dice).into_iter().take(group) {
            let copy = copy(&paintings[original], original, edit);
            paintings.push(copy);
        }
        left -= group;
        if left == 0 {
            return;
        }
    }
}

/// Every edit once, in any order.
fn edits(dice: &mut Dice) -> Vec<Edit> {
    let margin = |dice: &mut Dice| f64::from(dice.range(0.01, 0.06));
    let (x, y) = (margin(dice), margin(dice));
    let crop = Region::new(x, y, 1.0 - x - margin(dice), 1.0 - y - margin(dice)).map(Edit::Crop);
    let gain = dice.pick(&[0.84, 0.88, 1.12, 1.16]);
    let mut all = vec![Edit::HalfSize, Edit::Recompressed, Edit::Mirror, Edit::Brightness(gain)];
    all.extend(crop);
    dice.shuffle(&mut all);
    all
}

fn copy(painting: &Painting, original: usize, edit: Edit) -> Painting {
    let mut copy = painting.clone();
    match edit {
        Edit::HalfSize => {
            copy.width /= 2;
            copy.height /= 2;
        }
        Edit::Mirror => {
            for Object { region, .. } in &mut copy.objects {
                region.x = (1.0 - region.x - region.width).max(0.0);
            }
        }
        Edit::Crop(part) => {
            let (_, _, width, height) = pixels(part, copy.width, copy.height);
            (copy.width, copy.height) = (width, height);
            copy.objects.retain_mut(|object| match within(object.region, part) {
                Some(region) => {
                    object.region = region;
                    true
                }
                None => false,
            });
        }
        Edit::Recompressed | Edit::Brightness(_) => {}
    }
    copy.planted = Some(Planted::NearDuplicate { of: painting.file.clone(), original, edit });
    copy
}

/// Left, top, width and height in pixels of a part of a picture.
fn pixels(part: Region, width: u32, height: u32) -> (u32, u32, u32, u32) {
    let scale = |fraction: f64, size: u32| (fraction * f64::from(size)).round() as u32;
    (
        scale(part.x, width),
        scale(part.y, height),
        scale(part.width, width).max(1),
        scale(part.height, height).max(1),
    )
}

/// A box of the whole picture as a box of its part, if any of it is left.
fn within(region: Region, part: Region) -> Option<Region> {
    let left = ((region.x - part.x) / part.width).clamp(0.0, 1.0);
    let top = ((region.y - part.y) / part.height).clamp(0.0, 1.0);
    let right = ((region.x + region.width - part.x) / part.width).clamp(0.0, 1.0);
    let bottom = ((region.y + region.height - part.y) / part.height).clamp(0.0, 1.0);
    Region::new(left, top, right - left, bottom - top)
}

impl Planted {
    /// The word for it in the sidecar.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NearDuplicate { .. } => "near-duplicate",
            Self::Blurred => "blurred",
            Self::Dark => "dark",
            Self::Bright => "bright",
        }
    }

    /// Does it to the pixels of the original.
    pub(super) fn apply(&self, image: RgbImage) -> RgbImage {
        match self {
            Self::NearDuplicate { edit, .. } => edit.apply(image),
            Self::Blurred => {
                imageops::fast_blur(&image, image.width().min(image.height()) as f32 / 75.0)
            }
            Self::Dark => tone(image, |v| 0.17 * v * v + 0.06 * v),
            Self::Bright => tone(image, |v| 0.46 + 0.95 * v),
        }
    }
}

impl Edit {
    /// The words for it in the sidecar.
    #[must_use]
    pub fn words(self) -> &'static str {
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
                let (x, y, w, h) = pixels(part, width, height);
                imageops::crop_imm(&image, x, y, w, h).to_image()
            }
            Self::Mirror => imageops::flip_horizontal(&image),
            Self::Brightness(gain) => tone(image, |v| v * gain),
        }
    }
}

/// Maps every channel value, 0.0-1.0, by a curve.
fn tone(mut image: RgbImage, curve: impl Fn(f32) -> f32) -> RgbImage {
    let table: [u8; 256] = std::array::from_fn(|v| (curve(v as f32 / 255.0) * 255.0) as u8);
    for value in image.as_flat_samples_mut().samples {
        *value = table[usize::from(*value)];
    }
    image
}

/// Through JPEG at quality 30 and back. An encoder that fails leaves the picture as it was.
fn recompress(image: RgbImage) -> RgbImage {
    let (width, height) = image.dimensions();
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, 30);
    let (w, h) = (width as u16, height as u16);
    match encoder.encode(&image, w, h, jpeg_encoder::ColorType::Rgb) {
        Ok(()) => image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::Jpeg)
            .decode()
            .map_or(image, image::DynamicImage::into_rgb8),
        Err(_) => image,
    }
}
