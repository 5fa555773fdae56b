//! Converts a picture to the input of a model, as `preprocessor_config.json` says. Defaults for missing settings are
//! reported.

use image::RgbImage;
use serde_json::Value;
use tessera_picture::{PicturePart, ResampleFilter, resample};

use crate::model_folder::{ModelFamily, PREPROCESSOR};

/// The width and height of the input of a model in pixels, as far as they are fixed.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputSize {
    pub width: Option<u32>,
    pub height: Option<u32>,
}

const MAX_SIDE: u32 = 2_048;
/// The number of pixels per side if neither the file nor the model fixes it.
const DEFAULT_SIDE: u32 = 224;
/// From this side length on, a model with a `crop_pct` gets whole pictures.
const MIN_UNCROPPED_SIDE: u32 = 384;
const RESCALE_FACTOR: f64 = 1.0 / 255.0;

/// The mean and standard deviation of red, green and blue in the training data of CLIP.
const CLIP_COLORS: [[f32; 3]; 2] =
    [[0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_6, 0.275_777_1]];
const SIGLIP_COLORS: [[f32; 3]; 2] = [[0.5; 3], [0.5; 3]];
/// The mean and standard deviation of `ImageNet`, on which most other models were trained.
const IMAGENET_COLORS: [[f32; 3]; 2] = [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]];

#[derive(Clone, Debug, PartialEq)]
pub struct Preprocessing {
    resize: Resize,
    /// The width and height of the central part that is kept after resizing.
    crop: Option<(u32, u32)>,
    filter: ResampleFilter,
    scale: f32,
    mean: [f32; 3],
    std: [f32; 3],
}

/// The size to which a picture is resized before it is cropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resize {
    /// The picture is stretched to this width and height.
    Stretched(u32, u32),
    /// The picture is scaled until its shorter side has this length.
    ShortestEdge(u32),
}

impl Preprocessing {
    /// Reads the file, and adds the defaults used to `defaults`. `input` is the width and height of the input of the
    /// model, as far as they are fixed. The error says what is wrong and what to do.
    pub fn read(
        file: Option<&Value>,
        family: ModelFamily,
        input: InputSize,
        defaults: &mut Vec<String>,
    ) -> Result<Self, String> {
        let read = if let Some(file) = file {
            FileReader { file, family, input, defaults: &mut *defaults }.read()?
        } else {
            let taken = Self::of_family(family, input);
            defaults.push(format!("{PREPROCESSOR} is missing; taken: {}", taken.describe()));
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
                "takes pictures of {}x{} pixels, and {PREPROCESSOR} makes them {width}x{height}; \
                 download both from the same place",
                input.width.unwrap_or(width),
                input.height.unwrap_or(height)
            ));
        }
        Ok(read)
    }

    fn of_family(family: ModelFamily, input: InputSize) -> Self {
        let (width, height) =
            (input.width.unwrap_or(DEFAULT_SIDE), input.height.unwrap_or(DEFAULT_SIDE));
        let [mean, std] = family_colors(family);
        let (resize, crop) = match family {
            ModelFamily::Siglip => (Resize::Stretched(width, height), None),
            ModelFamily::Clip | ModelFamily::Other => {
                (Resize::ShortestEdge(width.max(height)), Some((width, height)))
            }
        };
        let (filter, scale) = (ResampleFilter::Bicubic, to_f32(RESCALE_FACTOR));
        Self { resize, crop, filter, scale, mean, std }
    }

    /// Returns the width and height of the input, in pixels.
    pub fn size(&self) -> (u32, u32) {
        match (self.crop, self.resize) {
            (Some(size), _) => size,
            (None, Resize::Stretched(width, height)) => (width, height),
            (None, Resize::ShortestEdge(side)) => (side, side),
        }
    }

    /// Returns the minimum number of pixels that the shorter side of a picture should have.
    pub fn min_side(&self) -> u32 {
        match self.resize {
            Resize::Stretched(width, height) => width.max(height),
            Resize::ShortestEdge(side) => side,
        }
    }

    pub fn describe(&self) -> String {
        let (width, height) = self.size();
        let resize = match self.resize {
            Resize::Stretched(width, height) => format!("stretched to {width}x{height}"),
            Resize::ShortestEdge(side) => format!("shorter side {side}"),
        };
        let crop = self.crop.map_or_else(String::new, |_| format!(", middle {width}x{height}"));
        let filter = format!("{:?}", self.filter).to_lowercase();
        let Self { mean, std, scale, .. } = self;
        format!("{resize}{crop}, {filter}, scale {scale}, mean {mean:?}, std {std:?}")
    }

    /// Returns the pixels of the input, each with three channels.
    pub fn apply(&self, picture: &RgbImage) -> Result<Vec<[f32; 3]>, String> {
        let part = self.part_of(picture.dimensions());
        let resized = resample(picture, part, self.size(), self.filter);
        let resized = resized.map_err(|cause| cause.to_string())?;
        let number = |pixel: &[u8; 3], at: usize| {
            (f32::from(pixel[at]) * self.scale - self.mean[at]) / self.std[at]
        };
        let (pixels, _) = resized.as_chunks::<3>();
        Ok(pixels.iter().map(|pixel| [0, 1, 2].map(|at| number(pixel, at))).collect())
    }

    /// Returns the part that remains after resizing and cropping. The part is cut out before it is resized, because a
    /// very long picture would become huge.
    fn part_of(&self, (width, height): (u32, u32)) -> PicturePart {
        let (full_width, full_height) = (f64::from(width), f64::from(height));
        let wanted = self.size();
        let (across, down) = match self.resize {
            Resize::Stretched(width, height) => {
                (full_width / f64::from(width), full_height / f64::from(height))
            }
            Resize::ShortestEdge(side) => {
                let pixel = full_width.min(full_height) / f64::from(side);
                (pixel, pixel)
            }
        };
        let width = (across * f64::from(wanted.0)).min(full_width);
        let height = (down * f64::from(wanted.1)).min(full_height);
        PicturePart {
            left: (full_width - width) / 2.0,
            top: (full_height - height) / 2.0,
            width,
            height,
        }
    }
}

fn family_colors(family: ModelFamily) -> [[f32; 3]; 2] {
    match family {
        ModelFamily::Clip => CLIP_COLORS,
        ModelFamily::Siglip => SIGLIP_COLORS,
        ModelFamily::Other => IMAGENET_COLORS,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an input of a model has single precision")]
fn to_f32(number: f64) -> f32 {
    number as f32
}

/// Reads `preprocessor_config.json`, which uses the names of the Hugging Face image processors.
struct FileReader<'a> {
    file: &'a Value,
    family: ModelFamily,
    input: InputSize,
    defaults: &'a mut Vec<String>,
}

impl FileReader<'_> {
    fn read(mut self) -> Result<Preprocessing, String> {
        if !self.file.is_object() {
            return Err(format!("has a {PREPROCESSOR} without settings; download it again"));
        }
        if self.file["do_flip_channel_order"] == true {
            return Err(
                "takes colors as blue, green, red, which is not supported; use another model"
                    .to_owned(),
            );
        }
        let (resize, crop) = self.geometry()?;
        let [default_mean, default_std] = family_colors(self.family);
        let (mean, std) = if self.is_on("do_normalize") {
            (self.color("image_mean", default_mean)?, self.color("image_std", default_std)?)
        } else {
            ([0.0; 3], [1.0; 3])
        };
        if std.iter().any(|value| *value <= 0.0) {
            return Err(format!("has {std:?} as image_std in {PREPROCESSOR}; download it again"));
        }
        let factor = match &self.file["rescale_factor"] {
            _ if !self.is_on("do_rescale") => 1.0,
            Value::Null => RESCALE_FACTOR,
            given => given.as_f64().ok_or_else(|| unusable("rescale_factor"))?,
        };
        let filter = self.filter()?;
        Ok(Preprocessing { resize, crop, filter, scale: to_f32(factor), mean, std })
    }

    /// Whether a step is done. Image processors do every step unless the file turns it off.
    fn is_on(&self, name: &str) -> bool {
        self.file[name] != false
    }

    fn geometry(&mut self) -> Result<(Resize, Option<(u32, u32)>), String> {
        let crops = self.file["do_center_crop"] == true;
        let resize = match &self.file["size"] {
            Value::Null => {
                let input = self.input;
                let taken =
                    (input.width.unwrap_or(DEFAULT_SIDE), input.height.unwrap_or(DEFAULT_SIDE));
                self.default("size", &format!("stretched to {}x{}", taken.0, taken.1));
                Resize::Stretched(taken.0, taken.1)
            }
            // In old files, a number is the shorter side of a picture that is cropped afterwards.
            Value::Number(_) if crops => Resize::ShortestEdge(side(&self.file["size"])?),
            Value::Number(_) => {
                let side = side(&self.file["size"])?;
                Resize::Stretched(side, side)
            }
            size if !size["shortest_edge"].is_null() => {
                Resize::ShortestEdge(side(&size["shortest_edge"])?)
            }
            size => Resize::Stretched(side(&size["width"])?, side(&size["height"])?),
        };
        if let (Some(share), Resize::ShortestEdge(edge)) = (self.file["crop_pct"].as_f64(), resize)
        {
            return crop_by_share(edge, share);
        }
        if crops {
            let crop = self.crop(resize)?;
            return Ok((resize, Some(crop)));
        }
        if let Resize::ShortestEdge(edge) = resize {
            self.default("crop_size", &format!("the middle {edge}x{edge}"));
        }
        Ok((resize, None))
    }

    fn crop(&mut self, resize: Resize) -> Result<(u32, u32), String> {
        let (width, height) = match resize {
            Resize::Stretched(width, height) => (width, height),
            Resize::ShortestEdge(edge) => (edge, edge),
        };
        let crop = match &self.file["crop_size"] {
            Value::Null => {
                self.default("crop_size", &format!("{width}x{height}"));
                (width, height)
            }
            number @ Value::Number(_) => (side(number)?, side(number)?),
            size => (side(&size["width"])?, side(&size["height"])?),
        };
        if crop.0 > width || crop.1 > height {
            return Err(format!(
                "has a crop_size in {PREPROCESSOR} that is larger than its size; download it again"
            ));
        }
        Ok(crop)
    }

    fn color(&mut self, name: &'static str, default: [f32; 3]) -> Result<[f32; 3], String> {
        let given = &self.file[name];
        if given.is_null() {
            self.default(name, &format!("{default:?}"));
            return Ok(default);
        }
        let numbers = given.as_array().map(Vec::as_slice).unwrap_or_default();
        let numbers: Option<Vec<f32>> =
            numbers.iter().map(|number| number.as_f64().map(to_f32)).collect();
        numbers.and_then(|all| all.try_into().ok()).ok_or_else(|| unusable(name))
    }

    /// Reads the filter, which is numbered as in the Python Imaging Library.
    fn filter(&mut self) -> Result<ResampleFilter, String> {
        Ok(match &self.file["resample"] {
            Value::Null => {
                self.default("resample", "bicubic");
                ResampleFilter::Bicubic
            }
            given => match given.as_u64() {
                Some(0) => ResampleFilter::Nearest,
                Some(1) => ResampleFilter::Lanczos,
                Some(2) => ResampleFilter::Bilinear,
                Some(3) => ResampleFilter::Bicubic,
                Some(4) => ResampleFilter::Box,
                Some(5) => ResampleFilter::Hamming,
                _ => return Err(unusable("resample")),
            },
        })
    }

    fn default(&mut self, name: &str, taken: &str) {
        self.defaults.push(format!("{PREPROCESSOR} has no {name}; taken: {taken}"));
    }
}

/// Applies `crop_pct`, the share of the resized picture that remains. Large pictures are not cropped.
fn crop_by_share(edge: u32, share: f64) -> Result<(Resize, Option<(u32, u32)>), String> {
    if edge >= MIN_UNCROPPED_SIDE {
        return Ok((Resize::Stretched(edge, edge), None));
    }
    if !(0.1..=1.0).contains(&share) {
        return Err(unusable("crop_pct"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and at most ten times a side; image processors round down"
    )]
    let resized = (f64::from(edge) / share) as u32;
    Ok((Resize::ShortestEdge(resized), Some((edge, edge))))
}

fn side(value: &Value) -> Result<u32, String> {
    let side = value.as_u64().and_then(|side| u32::try_from(side).ok());
    side.filter(|side| (1..=MAX_SIDE).contains(side)).ok_or_else(|| unusable("size"))
}

fn unusable(name: &str) -> String {
    format!(
        "has a {name} in {PREPROCESSOR} that this version cannot use; use another export of the model"
    )
}

#[cfg(test)]
mod tests;
