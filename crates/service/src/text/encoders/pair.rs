//! A pair of encoders, and the errors of loading and running them.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use half::f16;
use image::RgbImage;

use super::{image_encoder::ImageEncoder, text_encoder::TextEncoder};
use crate::path_display::printable_path;
use tessera_model::SafeText;

/// Length limit of library messages in errors, in characters.
const MAX_REASON_CHARS: usize = 240;

/// Prefix of the value stored as text space of a pair of encoders.
const SPACE_MARKER: &[u8] = b"tessera-encoders\n";

/// A pair of encoders with comparable vectors. Can be shared between threads; each inference uses
/// all cores.
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
    ///
    /// # Errors
    /// A file cannot be read or is not a suitable model or tokenizer, or the files do not match.
    pub fn load(image: &Path, text: &Path, tokenizer: &Path) -> Result<Self, LoadError> {
        let fingerprint = fingerprint([image, text, tokenizer])?;
        let (image_encoder, seen) = ImageEncoder::load(image)?;
        let (text_encoder, read) = TextEncoder::load(text, tokenizer)?;
        if seen != read {
            return Err(LoadError(format!(
                "the image encoder {} gives {seen} numbers and the text encoder {} gives {read}; \
                 take both from the same model, with their projections",
                printable_path(image),
                printable_path(text)
            )));
        }
        Ok(Self { image: image_encoder, text: text_encoder, dimension: seen, fingerprint })
    }

    /// Length of the vectors.
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

    /// Whether a stored text space belongs to a pair of encoders.
    pub fn is_space_marker(space: &[u8]) -> bool {
        space.starts_with(SPACE_MARKER)
    }

    /// Encodes an upright image as a unit vector.
    ///
    /// # Errors
    /// The model fails, or returns a zero or non-finite vector.
    pub fn embed_image(&self, pixels: &RgbImage) -> Result<Vec<f16>, EncodeError> {
        let failed = |reason: String| EncodeError::new("image", &reason);
        let numbers = self.image.embed(pixels).map_err(failed)?;
        unit_vector(&numbers).ok_or_else(|| failed("it gives no direction".to_owned()))
    }

    /// Encodes a text as a unit vector; texts longer than the model supports are truncated.
    ///
    /// # Errors
    /// As for images.
    pub fn embed_text(&self, text: &str) -> Result<Vec<f16>, EncodeError> {
        let failed = |reason: String| EncodeError::new("text", &reason);
        let numbers = self.text.embed(text).map_err(failed)?;
        unit_vector(&numbers).ok_or_else(|| failed("it gives no direction".to_owned()))
    }
}

/// Why a pair of encoders cannot be used, as a message for the terminal. Contains local paths, so
/// it must not be sent to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(String);

impl LoadError {
    /// `what` is the role of the file; `reason` says what is wrong and what to do.
    pub(super) fn new(what: &str, path: &Path, reason: &str) -> Self {
        Self(format!("the {what} {} {reason}", printable_path(path)))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// Why an image or text cannot be encoded. Contains no local paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError(String);

impl EncodeError {
    fn new(what: &str, reason: &str) -> Self {
        Self(format!("the {what} encoder failed ({})", short_reason(&reason)))
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodeError {}

/// A message of a library, printable and truncated.
pub(super) fn short_reason(reason: &dyn fmt::Display) -> SafeText {
    SafeText::new(&reason.to_string(), MAX_REASON_CHARS)
}

pub(super) fn cannot_read(what: &str, path: &Path, cause: &io::Error) -> LoadError {
    LoadError::new(what, path, &format!("cannot be read ({cause}); check the path"))
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

/// Scales to length 1; `None` for zero and non-finite vectors.
fn unit_vector(numbers: &[f32]) -> Option<Vec<f16>> {
    let length = numbers.iter().map(|value| value * value).sum::<f32>().sqrt();
    let direction = length.is_finite() && length > f32::MIN_POSITIVE;
    direction.then(|| numbers.iter().map(|value| f16::from_f32(value / length)).collect())
}
