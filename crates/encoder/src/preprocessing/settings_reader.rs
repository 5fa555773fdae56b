//! Reads the settings of the Hugging Face image processors. A processor does not write every setting, and the
//! processors differ in their defaults.

use serde_json::Value;
use tessera_picture::ResampleFilter;

use super::{
    CLIP_COLORS, Colors, DEFAULT_SIDE, IMAGENET_COLORS, InputForm, MAX_SIDE, ModelFamily,
    PictureSettings, Preprocessing, RESCALE_FACTOR, Resize, SYMMETRIC_COLORS, UNCHANGED_COLORS,
    family_colors, to_f32,
};

/// From this side length on, a `ConvNeXT` with a `crop_pct` gets whole pictures.
const MIN_UNCROPPED_SIDE: u32 = 384;

/// Steps of image processors for other tasks.
const SKIPPED_STEPS: [&str; 4] = ["do_pad", "do_crop_margin", "do_thumbnail", "do_align_long_axis"];

/// What an image processor does if its file does not say it.
struct ProcessorDefaults {
    crops: bool,
    /// Whether a `size` that is a number is that of both sides, and not of the shorter side.
    is_square: bool,
    crop_pct: Option<f64>,
    filter: ResampleFilter,
    colors: Colors,
}

impl ProcessorDefaults {
    fn of(processor: &str) -> Option<Self> {
        use ResampleFilter::{Bicubic, Bilinear, Nearest};
        let (crops, is_square, crop_pct, filter, colors) = match processor {
            "CLIP" | "ChineseCLIP" | "Bit" | "ViTHybrid" => {
                (true, false, None, Bicubic, CLIP_COLORS)
            }
            "Beit" | "DeiT" => (true, true, None, Bicubic, SYMMETRIC_COLORS),
            "Blip" => (false, true, None, Bicubic, CLIP_COLORS),
            "ConvNext" => (false, false, Some(0.875), Bilinear, SYMMETRIC_COLORS),
            "DINOv3ViT" => (false, true, None, Bilinear, IMAGENET_COLORS),
            "EfficientNet" => (false, true, None, Nearest, SYMMETRIC_COLORS),
            "Levit" => (true, false, Some(0.875), Bicubic, IMAGENET_COLORS),
            "MobileNetV1" | "MobileNetV2" => (true, false, None, Bilinear, SYMMETRIC_COLORS),
            "MobileViT" => (true, false, None, Bilinear, UNCHANGED_COLORS),
            "PoolFormer" => (true, false, Some(0.9), Bicubic, IMAGENET_COLORS),
            "Siglip" => (false, true, None, Bicubic, SYMMETRIC_COLORS),
            "ViT" => (false, true, None, Bilinear, SYMMETRIC_COLORS),
            _ => return None,
        };
        Some(Self { crops, is_square, crop_pct, filter, colors })
    }
}

/// Reads the settings of one file.
pub struct SettingsReader<'a> {
    file: &'a Value,
    source: &'a str,
    /// The name of the image processor, such as `ViT`.
    processor: &'a str,
    processor_defaults: Option<ProcessorDefaults>,
    family: ModelFamily,
    input: InputForm,
    defaults: &'a mut Vec<String>,
}

impl<'a> SettingsReader<'a> {
    pub fn new(
        settings: &'a PictureSettings,
        family: ModelFamily,
        input: InputForm,
        defaults: &'a mut Vec<String>,
    ) -> Self {
        let file = &settings.json;
        let class = file["image_processor_type"].as_str();
        let class = class.or_else(|| file["feature_extractor_type"].as_str()).unwrap_or_default();
        let end = class.find("ImageProcessor").or_else(|| class.find("FeatureExtractor"));
        let processor = &class[..end.unwrap_or_default()];
        let processor_defaults = ProcessorDefaults::of(processor);
        let source = &settings.source;
        Self { file, source, processor, processor_defaults, family, input, defaults }
    }

    pub fn read(mut self) -> Result<Preprocessing, String> {
        if !self.file.is_object() {
            return Err(format!("has a {} without settings; download it again", self.source));
        }
        let (resize, crop) = self.geometry()?;
        let (mean, std) = self.normalization()?;
        let border = self.border()?;
        let scale = to_f32(self.rescale_factor()?);
        let filter = self.filter()?;
        let reverses = self.file["do_flip_channel_order"].as_bool();
        let is_bgr = reverses.unwrap_or(self.processor == "MobileViT");
        let read = Preprocessing { resize, crop, border, filter, scale, mean, std, is_bgr };
        if !self.is_on("do_resize") {
            let taken = read.describe();
            self.defaults.push(format!("{} turns do_resize off; taken: {taken}", self.source));
        }
        for step in SKIPPED_STEPS.into_iter().filter(|step| self.file[*step] == true) {
            self.defaults.push(format!("{} turns {step} on, which is skipped", self.source));
        }
        Ok(read)
    }

    /// Whether a step is done. Image processors do every step unless the file turns it off.
    fn is_on(&self, name: &str) -> bool {
        self.file[name] != false
    }

    fn geometry(&mut self) -> Result<(Resize, Option<(u32, u32)>), String> {
        let by_default = self.processor_defaults.as_ref().is_some_and(|it| it.crops);
        // A picture of another shape has to be cropped.
        let keeps_shape = !self.file["size"]["shortest_edge"].is_null();
        let crops = self.file["do_center_crop"]
            .as_bool()
            .unwrap_or_else(|| by_default || keeps_shape && !self.file["crop_size"].is_null());
        let resize = self.resize(crops)?;
        if let (Some(share), Resize::Covering(edge, _)) = (self.crop_pct(), resize) {
            return self.crop_by_share(edge, share, crops);
        }
        if crops {
            let crop = self.crop(resize)?;
            let cuts = resize != Resize::Stretched(crop.0, crop.1);
            return Ok((resize, Some(crop).filter(|_| cuts)));
        }
        match resize {
            Resize::Covering(width, height) => {
                self.default("crop_size", &format!("the middle {width}x{height}"));
                Ok((resize, None))
            }
            // Pictures of many shapes do not fit one input.
            Resize::Within(..) => Err(self.unusable("size")),
            Resize::Stretched(..) => Ok((resize, None)),
        }
    }

    fn resize(&mut self, crops: bool) -> Result<Resize, String> {
        let size = &self.file["size"];
        if let Some([height, width]) = size.as_array().map(Vec::as_slice) {
            return Ok(Resize::Stretched(self.side(width)?, self.side(height)?));
        }
        if size.is_number() {
            // In old files, a number is the shorter side of a picture that is cropped afterwards.
            let crops = crops || !self.file["crop_pct"].is_null();
            let is_square = self.processor_defaults.as_ref().map_or(!crops, |it| it.is_square);
            let edge = self.side(size)?;
            let resize = if is_square { Resize::Stretched } else { Resize::Covering };
            return Ok(resize(edge, edge));
        }
        if size.is_null() {
            let width = self.input.width.unwrap_or(DEFAULT_SIDE);
            let height = self.input.height.unwrap_or(DEFAULT_SIDE);
            self.default("size", &format!("stretched to {width}x{height}"));
            return Ok(Resize::Stretched(width, height));
        }
        let forms = [
            ("shortest_edge", "shortest_edge", Resize::Covering as fn(_, _) -> _),
            ("longest_edge", "longest_edge", Resize::Within),
            ("min_width", "min_height", Resize::Covering),
            ("max_width", "max_height", Resize::Within),
        ];
        let found = forms.into_iter().find(|(width, ..)| !size[*width].is_null());
        let (width, height, resize) = found.unwrap_or(("width", "height", Resize::Stretched));
        Ok(resize(self.side(&size[width])?, self.side(&size[height])?))
    }

    fn crop(&mut self, resize: Resize) -> Result<(u32, u32), String> {
        match &self.file["crop_size"] {
            Value::Null => {
                let (width, height) = resize.size();
                self.default("crop_size", &format!("{width}x{height}"));
                Ok((width, height))
            }
            number @ Value::Number(_) => Ok((self.side(number)?, self.side(number)?)),
            Value::Array(sides) if sides.len() == 2 => {
                Ok((self.side(&sides[1])?, self.side(&sides[0])?))
            }
            size => Ok((self.side(&size["width"])?, self.side(&size["height"])?)),
        }
    }

    /// Returns the share of the resized picture that remains.
    fn crop_pct(&self) -> Option<f64> {
        let given = self.file["crop_pct"].as_f64();
        given.or_else(|| self.processor_defaults.as_ref()?.crop_pct)
    }

    fn crop_by_share(
        &mut self,
        edge: u32,
        share: f64,
        crops: bool,
    ) -> Result<(Resize, Option<(u32, u32)>), String> {
        if !crops && edge >= MIN_UNCROPPED_SIDE {
            return Ok((Resize::Stretched(edge, edge), None));
        }
        if !(0.1..=1.0).contains(&share) {
            return Err(self.unusable("crop_pct"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and at most ten times a side; image processors round down"
        )]
        let resized = (f64::from(edge) / share) as u32;
        let has_size = crops && !self.file["crop_size"].is_null();
        let original = Resize::Covering(edge, edge);
        let crop = if has_size { self.crop(original)? } else { original.size() };
        Ok((Resize::Covering(resized, resized), Some(crop)))
    }

    /// Returns the mean and the standard deviation.
    fn normalization(&mut self) -> Result<([f32; 3], [f32; 3]), String> {
        let [default_mean, default_std] = match &self.processor_defaults {
            Some(defaults) => defaults.colors,
            None => family_colors(self.family),
        };
        let is_unchanged = [default_mean, default_std] == UNCHANGED_COLORS;
        let [mut mean, mut std] =
            if !self.is_on("do_normalize") || is_unchanged && self.file["image_mean"].is_null() {
                UNCHANGED_COLORS
            } else {
                [self.color("image_mean", default_mean)?, self.color("image_std", default_std)?]
            };
        if self.file["rescale_offset"] == true {
            mean = mean.map(|value| value + 1.0);
        }
        // The processor divides by the deviation again for the head of the model.
        if self.processor == "EfficientNet" && self.is_on("include_top") {
            let again = self.color("image_std", default_std)?;
            std = [0, 1, 2].map(|at| std[at] * again[at]);
        }
        if std.iter().any(|value| *value <= 0.0) {
            return Err(format!("has {std:?} as image_std in {}; download it again", self.source));
        }
        Ok((mean, std))
    }

    fn rescale_factor(&self) -> Result<f64, String> {
        match &self.file["rescale_factor"] {
            _ if !self.is_on("do_rescale") => Ok(1.0),
            Value::Null => Ok(RESCALE_FACTOR),
            given => given.as_f64().ok_or_else(|| self.unusable("rescale_factor")),
        }
    }

    /// Reads a color. A number is that of each channel, and so is the only one of a gray input.
    fn color(&mut self, name: &'static str, default: [f32; 3]) -> Result<[f32; 3], String> {
        let given = &self.file[name];
        if given.is_null() {
            self.default(name, &format!("{default:?}"));
            return Ok(default);
        }
        let single = given.as_array().filter(|all| all.len() == 1 && self.input.is_gray);
        if let Some(number) = single.map_or(given, |all| &all[0]).as_f64() {
            return Ok([to_f32(number); 3]);
        }
        let numbers = given.as_array().map(Vec::as_slice).unwrap_or_default();
        let numbers: Option<Vec<f32>> =
            numbers.iter().map(|number| number.as_f64().map(to_f32)).collect();
        numbers.and_then(|all| all.try_into().ok()).ok_or_else(|| self.unusable(name))
    }

    /// Reads the color of the border, which is black in image processors.
    fn border(&self) -> Result<[u8; 3], String> {
        let Some(given) = self.file["border_color"].as_array() else { return Ok([0; 3]) };
        let channels = given.iter().cycle().take(3).map(|value| u8::try_from(value.as_u64()?).ok());
        let channels: Option<Vec<u8>> = channels.collect();
        channels.and_then(|all| all.try_into().ok()).ok_or_else(|| self.unusable("border color"))
    }

    /// Reads the filter, which is numbered as in the Python Imaging Library, or named.
    fn filter(&mut self) -> Result<ResampleFilter, String> {
        let given = &self.file["resample"];
        if given.is_null() {
            let default = self.processor_defaults.as_ref();
            let default = default.map_or(ResampleFilter::Bicubic, |it| it.filter);
            self.default("resample", &format!("{default:?}").to_lowercase());
            return Ok(default);
        }
        let name = given.as_str().map(str::to_lowercase);
        Ok(match (given.as_u64(), name.as_deref()) {
            (Some(0), _) | (_, Some("nearest" | "nearest-exact")) => ResampleFilter::Nearest,
            (Some(1), _) | (_, Some("lanczos")) => ResampleFilter::Lanczos,
            (Some(2), _) | (_, Some("bilinear")) => ResampleFilter::Bilinear,
            (Some(3), _) | (_, Some("bicubic")) => ResampleFilter::Bicubic,
            (Some(4), _) | (_, Some("box")) => ResampleFilter::Box,
            (Some(5), _) | (_, Some("hamming")) => ResampleFilter::Hamming,
            _ => return Err(self.unusable("resample")),
        })
    }

    fn side(&self, value: &Value) -> Result<u32, String> {
        let side = value.as_u64().and_then(|side| u32::try_from(side).ok());
        side.filter(|side| (1..=MAX_SIDE).contains(side)).ok_or_else(|| self.unusable("size"))
    }

    fn default(&mut self, name: &str, taken: &str) {
        self.defaults.push(format!("{} has no {name}; taken: {taken}", self.source));
    }

    fn unusable(&self, name: &str) -> String {
        format!("has an unsupported {name} in {}; use another export of the model", self.source)
    }
}
