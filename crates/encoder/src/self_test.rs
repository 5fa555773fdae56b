//! Runs a model with generated pictures.

use std::time::{Duration, Instant};

use half::f16;
use image::{Rgb, RgbImage};

use super::LearnedModel;

const SIDE: u32 = 256;
/// The pictures have nothing in common; vectors that differ less do so by rounding.
const MIN_DISTANCE: f32 = 1e-3;
const EXAMPLE_TEXT: &str = "a photo of a red square";

/// The result of running a model.
#[derive(Clone, Copy, Debug)]
pub struct SelfTest {
    /// The cosine distance of the vectors of two pictures.
    pub distance: f32,
    pub time_per_picture: Duration,
    /// `None` if the model takes no texts.
    pub time_per_text: Option<Duration>,
}

impl SelfTest {
    /// Fails with the reason if vectors are not finite, have another length, or are the same for different pictures.
    pub fn run(model: &LearnedModel) -> Result<Self, String> {
        let pictures = [red_square(), gradient()];
        let begin = Instant::now();
        let [red, gradient] = [encode(model, &pictures[0])?, encode(model, &pictures[1])?];
        let time_per_picture = begin.elapsed() / 2;
        let distance =
            1.0 - red.iter().zip(&gradient).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>();
        if distance < MIN_DISTANCE {
            return Err(format!(
                "it gives the same vector for two different pictures (distance {distance}); download it again"
            ));
        }
        let begin = Instant::now();
        let time_per_text = if model.takes_texts() {
            check_length(model, &model.embed_text(EXAMPLE_TEXT)?)?;
            Some(begin.elapsed())
        } else {
            None
        };
        Ok(Self { distance, time_per_picture, time_per_text })
    }
}

fn encode(model: &LearnedModel, picture: &RgbImage) -> Result<Vec<f16>, String> {
    let vector = model.encode_image(picture)?.vector;
    check_length(model, &vector)?;
    Ok(vector)
}

fn check_length(model: &LearnedModel, vector: &[f16]) -> Result<(), String> {
    if vector.len() == model.dimension() {
        return Ok(());
    }
    Err(format!("it gives {} numbers and not {}", vector.len(), model.dimension()))
}

fn red_square() -> RgbImage {
    RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let inside = (SIDE / 4..SIDE * 3 / 4).contains(&x) && (SIDE / 4..SIDE * 3 / 4).contains(&y);
        if inside { Rgb([220, 20, 20]) } else { Rgb([255; 3]) }
    })
}

fn gradient() -> RgbImage {
    let shade = |position: u32| u8::try_from(position).unwrap_or(u8::MAX);
    RgbImage::from_fn(SIDE, SIDE, |x, y| Rgb([shade(x / 4), shade(x), shade(y)]))
}
