//! Plants issues as the ground truth for the index: near-duplicates, and blurred, dark and bright images.

use std::io::Cursor;

use image::{ImageFormat, RgbImage, imageops};

use super::{LabeledBox, Region, SampleImage, random::Rng};

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

/// Returns the number of near-duplicates (4 %) and the number of images with each defect (2 %). Both are at least one
/// from 16 images on, and at least two from 60 images on.
pub fn issue_counts(images: usize) -> (usize, usize) {
    let least = usize::from(images >= 16) + usize::from(images >= 60);
    let share = |percent: usize| match least {
        0 => 0,
        _ => ((images * percent + 50) / 100).max(least),
    };
    (share(4), share(2))
}

pub fn plant_issues(
    samples: &mut Vec<SampleImage>,
    near_duplicates: usize,
    per_defect: usize,
    mut rng: Rng,
) {
    let mut remaining: Vec<usize> = (0..samples.len()).collect();
    rng.shuffle(&mut remaining);
    for defect in [PlantedIssue::Bright, PlantedIssue::Blurred, PlantedIssue::Dark] {
        let mut left = per_defect;
        remaining.retain(|&index| {
            let sample = &mut samples[index];
            let chosen = left > 0 && (defect != PlantedIssue::Bright || is_daylight(sample));
            if chosen {
                (sample.planted, left) = (Some(defect), left - 1);
            }
            !chosen
        });
    }
    let mut left = near_duplicates;
    for original in remaining {
        // There are at least two groups, so that tests can distinguish groups.
        let group = rng.int(1, 3).min(left.div_ceil(2));
        for edit in random_edits(&mut rng).into_iter().take(group) {
            let copy = edited_copy(&samples[original], original, edit);
            samples.push(copy);
        }
        left -= group;
        if left == 0 {
            return;
        }
    }
}

/// Whether a scene is bright by nature. Night scenes stay dark even when overexposed.
fn is_daylight(sample: &SampleImage) -> bool {
    let dark = ["night", "dusk", "lights", "space"];
    !sample.labels.iter().any(|label| dark.contains(&label.as_str()))
}

fn random_edits(rng: &mut Rng) -> Vec<Edit> {
    let margin = |rng: &mut Rng| f64::from(rng.range(0.01, 0.06));
    let (x, y) = (margin(rng), margin(rng));
    let crop = Region::new(x, y, 1.0 - x - margin(rng), 1.0 - y - margin(rng)).map(Edit::Crop);
    let gain = rng.pick(&[0.84, 0.88, 1.12, 1.16]);
    let mut all = vec![Edit::HalfSize, Edit::Recompressed, Edit::Mirror, Edit::Brightness(gain)];
    all.extend(crop);
    rng.shuffle(&mut all);
    all
}

fn edited_copy(sample: &SampleImage, original: usize, edit: Edit) -> SampleImage {
    let mut copy = sample.clone();
    match edit {
        Edit::HalfSize => (copy.width, copy.height) = (copy.width / 2, copy.height / 2),
        Edit::Mirror => {
            for LabeledBox { region, .. } in &mut copy.objects {
                region.x = (1.0 - region.x - region.width).max(0.0);
            }
        }
        Edit::Crop(part) => {
            [_, _, copy.width, copy.height] = region_in_pixels(part, copy.width, copy.height);
            copy.objects.retain_mut(|object| {
                region_within_part(object.region, part)
                    .map(|region| object.region = region)
                    .is_some()
            });
        }
        Edit::Recompressed | Edit::Brightness(_) => {}
    }
    copy.planted = Some(PlantedIssue::NearDuplicate { original, edit });
    copy
}

/// Returns left, top, width and height of a region in pixels.
fn region_in_pixels(part: Region, width: u32, height: u32) -> [u32; 4] {
    let scale = |fraction: f64, size: u32| (fraction * f64::from(size)).round() as u32;
    let (w, h) = (scale(part.width, width).max(1), scale(part.height, height).max(1));
    [scale(part.x, width), scale(part.y, height), w, h]
}

/// Converts a box of the whole image to the coordinates of a part. Returns `None` if nothing of the box is inside the
/// part.
fn region_within_part(region: Region, part: Region) -> Option<Region> {
    let left = ((region.x - part.x) / part.width).clamp(0.0, 1.0);
    let top = ((region.y - part.y) / part.height).clamp(0.0, 1.0);
    let right = ((region.x + region.width - part.x) / part.width).clamp(0.0, 1.0);
    let bottom = ((region.y + region.height - part.y) / part.height).clamp(0.0, 1.0);
    Region::new(left, top, right - left, bottom - top)
}

impl PlantedIssue {
    /// The name of the issue in the sidecar.
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
    /// The name of the edit in the sidecar.
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
