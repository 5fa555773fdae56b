//! Pictures as an image encoder wants them: its size, and the colours CLIP was trained with.

use std::path::Path;

use image::{RgbImage, imageops};
use rten::{NodeId, Value};
use rten_tensor::NdTensor;

use super::{
    LoadError,
    onnx_model::{ModelInput, OnnxModel, load_model, model_inputs},
    short_reason,
};
use tessera_picture::fit;

const ROLE: &str = "image encoder";
/// Outputs that are the vector, the surest first.
const PREFERRED_OUTPUTS: [&str; 3] = ["image_embeds", "sentence_embedding", "pooler_output"];
/// Pixels a side when the model takes any size.
const DEFAULT_SIDE: usize = 224;
/// Pixels a side a model may ask for.
const MAX_SIDE: usize = 2_048;
/// The mean and spread of red, green and blue in the pictures CLIP was trained with.
const CHANNEL_MEAN: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
const CHANNEL_STD: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];

/// The half of a pair that sees.
pub struct ImageEncoder {
    model: OnnxModel,
    input: NodeId,
    /// Pixels (width, height).
    size: (u32, u32),
}

impl ImageEncoder {
    /// Opens a model and tries it with a grey picture; also tells the length of its vectors.
    pub fn load(path: &Path) -> Result<(Self, usize), LoadError> {
        let model = load_model(ROLE, path)?;
        let refuse = |reason: &str| LoadError::new(ROLE, path, reason);
        let inputs = model_inputs(&model);
        let input = inputs.iter().find(|input| input.shape.len() == 4).ok_or_else(|| {
            refuse(
                "takes no picture (no input of four dimensions); give the vision model of the pair",
            )
        })?;
        let (input, size) = (input.id, input_size(input).map_err(|reason| refuse(&reason))?);
        let grey = RgbImage::from_pixel(size.0, size.1, image::Rgb([128; 3]));
        let example = [(input, to_tensor(&grey, size).map_err(|reason| refuse(&reason))?)];
        let (network, dimension) =
            OnnxModel::new(model, &PREFERRED_OUTPUTS, &example).map_err(|reason| {
                refuse(&format!(
                    "gives no vector for a picture ({}); export it with its projection",
                    short_reason(&reason)
                ))
            })?;
        Ok((Self { model: network, input, size }, dimension))
    }

    /// The longer of its two sides, in pixels.
    pub fn input_side(&self) -> u32 {
        self.size.0.max(self.size.1)
    }

    /// The vector as the model gives it.
    pub fn embed(&self, pixels: &RgbImage) -> Result<Vec<f32>, String> {
        self.model.run(&[(self.input, to_tensor(pixels, self.size)?)])
    }
}

/// The size (width, height) of an input of the form (1, 3, height, width).
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

/// The middle of the picture at this size, channel after channel.
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

/// The largest middle part with the shape of `size`. Cut before resizing, because a very long
/// picture would be enormous at the right height.
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
