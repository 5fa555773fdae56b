//! A pair of encoders.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use half::f16;
use image::RgbImage;

use super::{
    error::{LoadError, cannot_read, short_reason},
    image_encoder::ImageEncoder,
    text_encoder::TextEncoder,
};
use crate::path_display::printable_path;

/// Prefix of the value stored as text space of a pair of encoders.
const SPACE_MARKER: &[u8] = b"tessera-encoders\n";

/// Encoders with comparable vectors, shared between threads; each inference uses all cores.
pub struct Encoders {
    image: ImageEncoder,
    text: TextEncoder,
    dimension: usize,
    fingerprint: [u8; 32],
}

impl fmt::Debug for Encoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoders of {} numbers", self.dimension)
    }
}

impl Encoders {
    /// Loads the pair and runs each model once.
    pub fn load(image: &Path, text: &Path, tokenizer: &Path) -> Result<Self, LoadError> {
        let fingerprint = fingerprint([image, text, tokenizer])?;
        let (image_encoder, image_dimension) = ImageEncoder::load(image)?;
        let (text_encoder, text_dimension) = TextEncoder::load(text, tokenizer)?;
        if image_dimension != text_dimension {
            return Err(LoadError(format!(
                "the image encoder {} gives {image_dimension} numbers and the text encoder {} gives {text_dimension}; \
                 take both from the same model, with their projections",
                printable_path(image),
                printable_path(text)
            )));
        }
        let dimension = image_dimension;
        Ok(Self { image: image_encoder, text: text_encoder, dimension, fingerprint })
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Pixels per side that images should be decoded to at least.
    pub fn input_side(&self) -> u32 {
        self.image.input_side()
    }

    /// Hash of the files; vectors of a pair with another fingerprint are stale.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// The value stored as text space for this pair, instead of a trained one.
    pub fn space_marker(&self) -> Vec<u8> {
        [SPACE_MARKER, &self.fingerprint].concat()
    }

    pub fn is_space_marker(space: &[u8]) -> bool {
        space.starts_with(SPACE_MARKER)
    }

    /// Encodes an upright image as a unit vector. The error message contains no local paths.
    pub fn embed_image(&self, pixels: &RgbImage) -> Result<Vec<f16>, String> {
        self.image.embed(pixels).and_then(unit_vector).map_err(|reason| failure("image", &reason))
    }

    /// Encodes a text as a unit vector; texts longer than the model supports are truncated.
    pub fn embed_text(&self, text: &str) -> Result<Vec<f16>, String> {
        self.text.embed(text).and_then(unit_vector).map_err(|reason| failure("text", &reason))
    }
}

fn failure(encoder: &str, reason: &str) -> String {
    format!("the {encoder} encoder failed ({})", short_reason(&reason))
}

/// BLAKE3 of the files and of their external weights.
fn fingerprint(files: [&Path; 3]) -> Result<[u8; 32], LoadError> {
    let mut whole = blake3::Hasher::new();
    for (what, path) in ["image encoder", "text encoder", "tokenizer"].into_iter().zip(files) {
        whole.update(&hash_file(path).map_err(|cause| cannot_read(what, path, &cause))?);
        for ending in [".data", "_data"] {
            let mut weights = path.as_os_str().to_owned();
            weights.push(ending);
            let weights = PathBuf::from(weights);
            if weights.is_file() {
                whole
                    .update(&hash_file(&weights).map_err(|cause| cannot_read(what, path, &cause))?);
            }
        }
    }
    Ok(*whole.finalize().as_bytes())
}

fn hash_file(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(*hasher.finalize().as_bytes())
}

/// Scales to length 1. Zero and non-finite vectors have no direction.
fn unit_vector(numbers: Vec<f32>) -> Result<Vec<f16>, String> {
    let length = numbers.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::MIN_POSITIVE {
        return Err("it gives no direction".to_owned());
    }
    Ok(numbers.into_iter().map(|value| f16::from_f32(value / length)).collect())
}
