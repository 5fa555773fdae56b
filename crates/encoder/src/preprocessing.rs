//! Converts a picture to the input of a model, as `preprocessor_config.json` says. Defaults for missing settings are
//! reported.

use image::{Rgb, RgbImage, imageops};
use tessera_picture::{PicturePart, ResampleFilter, resample};

use crate::{
    model_folder::PREPROCESSOR,
    tool_settings::{ModelFamily, PictureSettings},
};
use settings_reader::SettingsReader;

mod settings_reader;

/// What is fixed of the input of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputForm {
    /// In pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// Whether the input takes bytes, which the model scales and normalizes itself.
    pub is_bytes: bool,
    /// Whether the input has one channel.
    pub is_gray: bool,
}

const MAX_SIDE: u32 = 2_048;
/// The number of pixels per side if neither the file nor the model fixes it.
const DEFAULT_SIDE: u32 = 224;
const RESCALE_FACTOR: f64 = 1.0 / 255.0;

/// The mean and standard deviation of red, green and blue.
type Colors = [[f32; 3]; 2];

/// The colors of the training data of CLIP.
const CLIP_COLORS: Colors =
    [[0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_6, 0.275_777_1]];
/// The colors of `SigLIP` and of many other models, which scale a color to the range from -1 to 1.
const SYMMETRIC_COLORS: Colors = [[0.5; 3], [0.5; 3]];
/// The colors of `ImageNet`, on which most other models were trained.
const IMAGENET_COLORS: Colors = [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]];
const UNCHANGED_COLORS: Colors = [[0.0; 3], [1.0; 3]];

#[derive(Clone, Debug, PartialEq)]
pub struct Preprocessing {
    resize: Resize,
    /// The width and height of the central part that is kept after resizing.
    crop: Option<(u32, u32)>,
    /// The color around a picture that is smaller than this part.
    border: [u8; 3],
    filter: ResampleFilter,
    scale: f32,
    mean: [f32; 3],
    std: [f32; 3],
    /// Whether the channels are blue, green and red.
    is_bgr: bool,
}

/// The size to which a picture is resized before it is cropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resize {
    /// The picture is stretched to this width and height.
    Stretched(u32, u32),
    /// The picture is scaled until it just covers this width and height.
    Covering(u32, u32),
    /// The picture is scaled until it just fits into this width and height.
    Within(u32, u32),
}

impl Preprocessing {
    /// Reads the settings, and adds the defaults used to `defaults`. `input` is what is fixed of the input of the
    /// model. The error says what is wrong and what to do.
    pub fn read(
        settings: Option<&PictureSettings>,
        family: ModelFamily,
        input: InputForm,
        defaults: &mut Vec<String>,
    ) -> Result<Self, String> {
        let source = settings.map_or(PREPROCESSOR, |settings| &settings.source);
        let read = if let Some(settings) = settings {
            SettingsReader::new(settings, family, input, defaults).read()?
        } else {
            let taken = Self::of_family(family, input);
            defaults.push(format!("{source} is missing; taken: {}", taken.describe()));
            taken
        };
        let (width, height) = read.size();
        if width.max(height) > MAX_SIDE || width.min(height) == 0 {
            return Err(format!(
                "wants pictures of {width}x{height} pixels; the limit is {MAX_SIDE} per side"
            ));
        }
        if input.width.unwrap_or(width) != width || input.height.unwrap_or(height) != height {
            return Err(format!(
                "takes pictures of {}x{} pixels, and {source} makes them {width}x{height}; \
                 download both from the same place",
                input.width.unwrap_or(width),
                input.height.unwrap_or(height)
            ));
        }
        if input.is_bytes && (read.scale, [read.mean, read.std]) != (1.0, UNCHANGED_COLORS) {
            return Err(format!(
                "takes colors as whole numbers from 0 to 255, and {source} scales or normalizes them; \
                 download both from the same place"
            ));
        }
        Ok(read)
    }

    fn of_family(family: ModelFamily, input: InputForm) -> Self {
        let (width, height) =
            (input.width.unwrap_or(DEFAULT_SIDE), input.height.unwrap_or(DEFAULT_SIDE));
        let (scale, [mean, std]) = if input.is_bytes {
            (1.0, UNCHANGED_COLORS)
        } else {
            (to_f32(RESCALE_FACTOR), family_colors(family))
        };
        let (resize, crop) = match family {
            ModelFamily::Siglip => (Resize::Stretched(width, height), None),
            ModelFamily::Clip | ModelFamily::Other => {
                (Resize::Covering(width, height), Some((width, height)))
            }
        };
        let (border, filter) = ([0; 3], ResampleFilter::Bicubic);
        Self { resize, crop, border, filter, scale, mean, std, is_bgr: false }
    }

    /// Returns the width and height of the input, in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.crop.unwrap_or_else(|| self.resize.size())
    }

    /// Returns the minimum number of pixels that the shorter side of a picture should have.
    pub fn min_side(&self) -> u32 {
        let (width, height) = self.resize.size();
        width.max(height)
    }

    pub fn describe(&self) -> String {
        let resize = match self.resize {
            Resize::Stretched(width, height) => format!("stretched to {width}x{height}"),
            Resize::Covering(width, height) if width == height => format!("shorter side {width}"),
            Resize::Covering(width, height) => format!("covering {width}x{height}"),
            Resize::Within(width, height) if width == height => format!("longer side {width}"),
            Resize::Within(width, height) => format!("within {width}x{height}"),
        };
        let (width, height) = self.size();
        let crop = self.crop.map_or_else(String::new, |_| format!(", middle {width}x{height}"));
        let filter = format!("{:?}", self.filter).to_lowercase();
        let Self { mean, std, scale, border, .. } = self;
        let (resized_width, resized_height) = self.resize.size();
        let has_border = matches!(self.resize, Resize::Within(..))
            || width > resized_width
            || height > resized_height;
        let border = if has_border { format!(", border {border:?}") } else { String::new() };
        let order = if self.is_bgr { ", channels blue, green, red" } else { "" };
        format!(
            "{resize}{crop}{border}, {filter}, scale {scale}, mean {mean:?}, std {std:?}{order}"
        )
    }

    /// Returns the pixels of the input, each with three channels.
    pub fn apply(&self, picture: &RgbImage) -> Result<Vec<[f32; 3]>, String> {
        let (part, inner) = self.part_of(picture.dimensions());
        let resized = resample(picture, part, inner, self.filter);
        let mut resized = resized.map_err(|cause| cause.to_string())?;
        let (width, height) = self.size();
        if inner != (width, height) {
            let mut whole = RgbImage::from_pixel(width, height, Rgb(self.border));
            let (left, top) = ((width - inner.0) / 2, (height - inner.1) / 2);
            imageops::replace(&mut whole, &resized, left.into(), top.into());
            resized = whole;
        }
        let number = |pixel: &[u8; 3], at: usize| {
            (f32::from(pixel[at]) * self.scale - self.mean[at]) / self.std[at]
        };
        let order = if self.is_bgr { [2, 1, 0] } else { [0, 1, 2] };
        let (pixels, _) = resized.as_chunks::<3>();
        Ok(pixels.iter().map(|pixel| order.map(|at| number(pixel, at))).collect())
    }

    /// Returns the part that remains after resizing and cropping, and its size in the input. The part is cut out before
    /// it is resized, because a very long picture would become huge.
    fn part_of(&self, (width, height): (u32, u32)) -> (PicturePart, (u32, u32)) {
        let (full_width, full_height) = (f64::from(width), f64::from(height));
        let (resized_width, resized_height) = self.resize.size();
        let across = full_width / f64::from(resized_width);
        let down = full_height / f64::from(resized_height);
        let (across, down) = match self.resize {
            Resize::Stretched(..) => (across, down),
            Resize::Covering(..) => (across.min(down), across.min(down)),
            Resize::Within(..) => (across.max(down), across.max(down)),
        };
        let wanted = self.size();
        let (width, inner_width) = part_of_side(full_width, across, wanted.0);
        let (height, inner_height) = part_of_side(full_height, down, wanted.1);
        let (left, top) = ((full_width - width) / 2.0, (full_height - height) / 2.0);
        (PicturePart { left, top, width, height }, (inner_width, inner_height))
    }
}

impl Resize {
    fn size(self) -> (u32, u32) {
        let (Self::Stretched(width, height)
        | Self::Covering(width, height)
        | Self::Within(width, height)) = self;
        (width, height)
    }
}

/// Returns how much of a side remains, and how many of the `wanted` pixels it takes. A pixel of the resized picture has
/// `step` pixels of the original.
fn part_of_side(full: f64, step: f64, wanted: u32) -> (f64, u32) {
    let part = (step * f64::from(wanted)).min(full);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and at most about the wanted number"
    )]
    let pixels = (part / step).round() as u32;
    (part, pixels.clamp(1, wanted))
}

fn family_colors(family: ModelFamily) -> Colors {
    match family {
        ModelFamily::Clip => CLIP_COLORS,
        ModelFamily::Siglip => SYMMETRIC_COLORS,
        ModelFamily::Other => IMAGENET_COLORS,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an input of a model has single precision")]
fn to_f32(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests;
