//! The image encoder: resizes and normalizes images as CLIP expects.

use std::path::Path;

use image::{RgbImage, imageops};
use rten::{NodeId, Value};
use rten_tensor::NdTensor;

use super::{
    error::{LoadError, short_reason},
    onnx_model::{ModelInput, OnnxModel, load_model, model_inputs},
};
use tessera_picture::fit;

const ROLE: &str = "image encoder";
/// Names of vector outputs, most specific first.
const PREFERRED_OUTPUTS: [&str; 3] = ["image_embeds", "sentence_embedding", "pooler_output"];
/// Pixels per side if the model accepts any size.
const DEFAULT_SIDE: usize = 224;
const MAX_SIDE: usize = 2_048;
/// Mean and standard deviation of red, green and blue in the training data of CLIP.
const CHANNEL_MEAN: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
const CHANNEL_STD: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];

pub struct ImageEncoder {
    model: OnnxModel,
    input: NodeId,
    /// Width and height in pixels.
    size: (u32, u32),
}

impl ImageEncoder {
    /// Loads a model and runs it with a gray image; also returns the vector length.
    pub fn load(path: &Path) -> Result<(Self, usize), LoadError> {
        let model = load_model(ROLE, path)?;
        let refuse = |reason: String| LoadError::new(ROLE, path, &reason);
        let inputs = model_inputs(&model);
        let input = inputs.iter().find(|input| input.shape.len() == 4);
        let no_input =
            "takes no picture (no input of four dimensions); give the vision model of the pair";
        let input = input.ok_or_else(|| refuse(no_input.to_owned()))?;
        let (input, size) = (input.id, input_size(input).map_err(refuse)?);
        let gray = RgbImage::from_pixel(size.0, size.1, image::Rgb([128; 3]));
        let example = [(input, to_tensor(&gray, size).map_err(refuse)?)];
        let model = OnnxModel::new(model, &PREFERRED_OUTPUTS, &example);
        let (model, dimension) = model.map_err(|reason| {
            let reason = short_reason(&reason);
            refuse(format!(
                "gives no vector for a picture ({reason}); export it with its projection"
            ))
        })?;
        Ok((Self { model, input, size }, dimension))
    }

    /// The longer side, in pixels.
    pub fn input_side(&self) -> u32 {
        self.size.0.max(self.size.1)
    }

    /// Returns the vector, not normalized.
    pub fn embed(&self, pixels: &RgbImage) -> Result<Vec<f32>, String> {
        self.model.run(&[(self.input, to_tensor(pixels, self.size)?)])
    }
}

/// Width and height of an input of the form (1, 3, height, width).
fn input_size(input: &ModelInput) -> Result<(u32, u32), String> {
    let [batch, channels, height, width] = input.shape[..] else {
        return Err("takes no picture".to_owned());
    };
    if batch.is_some_and(|batch| batch != 1) || channels.is_some_and(|channels| channels != 3) {
        return Err(format!(
            "takes pictures as {:?} and not as (1, 3, height, width); export it again in that form",
            input.shape
        ));
    }
    let side = |size: Option<usize>| {
        let size = size.unwrap_or(DEFAULT_SIDE);
        let fits = (1..=MAX_SIDE).contains(&size);
        let wrong = || format!("wants pictures of {size} pixels; {MAX_SIDE} a side are the limit");
        u32::try_from(size).ok().filter(|_| fits).ok_or_else(wrong)
    };
    Ok((side(width)?, side(height)?))
}

/// Crops, resizes and normalizes an image; channels first.
fn to_tensor(pixels: &RgbImage, size: (u32, u32)) -> Result<Value, String> {
    let resized =
        fit::resize(&center_crop(pixels, size), size).map_err(|cause| cause.to_string())?;
    let (pixels, _) = resized.as_chunks::<3>();
    let channel = |at: usize| {
        pixels
            .iter()
            .map(move |pixel| (f32::from(pixel[at]) / 255.0 - CHANNEL_MEAN[at]) / CHANNEL_STD[at])
    };
    let numbers: Vec<f32> = (0..3).flat_map(channel).collect();
    let shape = [1, 3, size.1 as usize, size.0 as usize];
    NdTensor::try_from_data(shape, numbers).map(Value::from).map_err(|cause| cause.to_string())
}

/// The largest centered part with the aspect ratio of `size`. Cropped before resizing, because a
/// very long image would become huge.
fn center_crop(pixels: &RgbImage, size: (u32, u32)) -> RgbImage {
    let (width, height) = pixels.dimensions();
    let across = u64::from(width) * u64::from(size.1);
    let down = u64::from(height) * u64::from(size.0);
    let part = |whole: u32, of: u64, by: u64| {
        u32::try_from(u64::from(whole) * of / by.max(1)).unwrap_or(whole).max(1)
    };
    let (w, h) = if across > down {
        (part(width, down, across), height)
    } else {
        (width, part(height, across, down))
    };
    imageops::crop_imm(pixels, (width - w) / 2, (height - h) / 2, w, h).to_image()
}
