//! Pictures as an image encoder wants them: its size, and the colours CLIP was trained with.

use std::path::Path;

use image::{RgbImage, imageops};
use rten::{NodeId, Value};
use rten_tensor::NdTensor;

use super::{
    LoadError,
    network::{Input, Network, inputs, open},
    short,
};
use tessera_picture::fit;

const WHAT: &str = "image encoder";
/// Outputs that are the vector, the surest first.
const OUTPUTS: [&str; 3] = ["image_embeds", "sentence_embedding", "pooler_output"];
/// Pixels a side when the model takes any size.
const SIDE: usize = 224;
/// Pixels a side a model may ask for.
const LARGEST: usize = 2_048;
/// The mean and spread of red, green and blue in the pictures CLIP was trained with.
const MEAN: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
const SPREAD: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];

/// The half of a pair that sees.
pub struct ImageEncoder {
    network: Network,
    input: NodeId,
    /// Pixels (width, height).
    size: (u32, u32),
}

impl ImageEncoder {
    /// Opens a model and tries it with a grey picture; also tells the length of its vectors.
    pub fn load(path: &Path) -> Result<(Self, usize), LoadError> {
        let model = open(WHAT, path)?;
        let refuse = |reason: &str| LoadError::new(WHAT, path, reason);
        let inputs = inputs(&model);
        let input = inputs.iter().find(|input| input.shape.len() == 4).ok_or_else(|| {
            refuse(
                "takes no picture (no input of four dimensions); give the vision model of the pair",
            )
        })?;
        let (input, size) = (input.id, size(input).map_err(|reason| refuse(&reason))?);
        let grey = RgbImage::from_pixel(size.0, size.1, image::Rgb([128; 3]));
        let example = [(input, tensor(&grey, size).map_err(|reason| refuse(&reason))?)];
        let (network, dimension) = Network::new(model, &OUTPUTS, &example).map_err(|reason| {
            refuse(&format!(
                "gives no vector for a picture ({}); export it with its projection",
                short(&reason)
            ))
        })?;
        Ok((Self { network, input, size }, dimension))
    }

    /// The longer of its two sides, in pixels.
    pub fn side(&self) -> u32 {
        self.size.0.max(self.size.1)
    }

    /// The vector as the model gives it.
    pub fn embed(&self, pixels: &RgbImage) -> Result<Vec<f32>, String> {
        self.network.run(&[(self.input, tensor(pixels, self.size)?)])
    }
}

/// The size (width, height) of an input of the form (1, 3, height, width).
fn size(input: &Input) -> Result<(u32, u32), String> {
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
        let size = size.unwrap_or(SIDE);
        let fits = (1..=LARGEST).contains(&size);
        let wrong = || format!("wants pictures of {size} pixels; {LARGEST} a side are the limit");
        u32::try_from(size).ok().filter(|_| fits).ok_or_else(wrong)
    };
    Ok((side(width)?, side(height)?))
}

/// The middle of the picture at this size, channel after channel.
fn tensor(pixels: &RgbImage, size: (u32, u32)) -> Result<Value, String> {
    let resized = fit::resize(&middle(pixels, size), size).map_err(|cause| cause.to_string())?;
    let (pixels, _) = resized.as_chunks::<3>();
    let channel = |at: usize| {
        pixels.iter().map(move |pixel| (f32::from(pixel[at]) / 255.0 - MEAN[at]) / SPREAD[at])
    };
    let numbers: Vec<f32> = (0..3).flat_map(channel).collect();
    let shape = [1, 3, size.1 as usize, size.0 as usize];
    NdTensor::try_from_data(shape, numbers).map(Value::from).map_err(|cause| cause.to_string())
}

/// The largest middle part with the shape of `size`. Cut before resizing, because a very long
/// picture would be enormous at the right height.
fn middle(pixels: &RgbImage, size: (u32, u32)) -> RgbImage {
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
