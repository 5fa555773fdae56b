//! The user's own pair of encoders (CLIP and similar): one maps images to vectors, the other texts,
//! so that a text is close to the images that show it.
//!
//! Consists of two .onnx files and the tokenizer.json of the text encoder. Input formats are read
//! from the files; an unusable pair is rejected when it is loaded.

mod image_encoder;
mod onnx_model;
mod text_encoder;
mod tokenizer;

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use half::f16;
use image::RgbImage;

use crate::error::printable_path;
use image_encoder::ImageEncoder;
use tessera_model::SafeText;
use text_encoder::TextEncoder;

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
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Pixels per side that images should be decoded to at least.
    #[must_use]
    pub fn input_side(&self) -> u32 {
        self.image.input_side()
    }

    /// Hash of the files; vectors of a pair with another fingerprint are stale.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// The value stored as text space for this pair, instead of a trained one.
    #[must_use]
    pub fn space_marker(&self) -> Vec<u8> {
        [SPACE_MARKER, &self.fingerprint].concat()
    }

    /// Whether a stored text space belongs to a pair of encoders.
    #[must_use]
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
    fn new(what: &str, path: &Path, reason: &str) -> Self {
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
fn short_reason(reason: &dyn fmt::Display) -> SafeText {
    SafeText::new(&reason.to_string(), MAX_REASON_CHARS)
}

fn cannot_read(what: &str, path: &Path, cause: &io::Error) -> LoadError {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use image::Rgb;

    use super::*;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(name)
    }

    fn load(image: &str, text: &str, tokenizer: &str) -> Result<Encoders, LoadError> {
        Encoders::load(&file(image), &file(text), &file(tokenizer))
    }

    fn refused(image: &str, text: &str, tokenizer: &str) -> String {
        load(image, text, tokenizer).expect_err("refused").to_string()
    }

    fn distance(a: &[f16], b: &[f16]) -> f32 {
        1.0 - a.iter().zip(b).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
    }

    const COLOURS: [(&str, [u8; 3]); 3] =
        [("red", [250, 10, 10]), ("green", [10, 250, 10]), ("blue", [10, 10, 250])];

    #[test]
    fn a_text_is_nearest_the_picture_that_shows_it() {
        for (text, tokenizer) in [("clip-text.onnx", "clip.json"), ("bert-text.onnx", "bert.json")]
        {
            let pair = load("image.onnx", text, tokenizer).unwrap();
            assert_eq!((pair.dimension(), pair.input_side()), (4, 8));
            for (name, colour) in COLOURS {
                for words in [name.to_uppercase(), format!("a {name} picture, indeed")] {
                    let text = pair.embed_text(&words).unwrap();
                    for (other, shown) in COLOURS {
                        let picture = RgbImage::from_pixel(60, 40, Rgb(shown));
                        let away = distance(&text, &pair.embed_image(&picture).unwrap());
                        assert_eq!(away < 0.2, shown == colour, "{words} is {away} from {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_text_and_any_shape_of_picture_has_a_vector() {
        let pair = load("image.onnx", "clip-text.onnx", "clip.json").unwrap();
        for text in ["", "\u{0}\n", "ｒｅｄ 红色 🟥", &"red ".repeat(9_000)] {
            assert_eq!(pair.embed_text(text).unwrap().len(), 4, "{text:.20}");
        }
        let red = pair.embed_image(&RgbImage::from_pixel(9, 9, Rgb([250, 10, 10]))).unwrap();
        for (width, height) in [(1, 1), (1, 30_000), (30_000, 1), (7, 700)] {
            let picture = RgbImage::from_pixel(width, height, Rgb([250, 10, 10]));
            assert!(distance(&pair.embed_image(&picture).unwrap(), &red) < 0.01);
        }
    }

    #[test]
    fn what_does_not_belong_together_is_refused_by_name() {
        for (files, says) in [
            (["none.onnx", "clip-text.onnx", "clip.json"], "image encoder"),
            (["image.onnx", "none.onnx", "clip.json"], "cannot be read"),
            (["make.py", "clip-text.onnx", "clip.json"], "is no ONNX model"),
            (["clip-text.onnx", "clip-text.onnx", "clip.json"], "takes no picture"),
            (["image.onnx", "image.onnx", "clip.json"], "takes no tokens"),
            (["image.onnx", "clip-text.onnx", "make.py"], "is no tokenizer"),
            (["image.onnx", "clip-text.onnx", "image.onnx"], "tokenizer"),
            (["image.onnx", "bert-text.onnx", "clip.json"], "the tokenizer that belongs to it"),
            (["image.onnx", "wide-text.onnx", "bert.json"], "gives 4 numbers and the text"),
        ] {
            let said = refused(files[0], files[1], files[2]);
            assert!(said.contains(says), "{files:?} says {said}");
            assert!(said.contains("tests/encoders"), "{said} names no file");
            assert!(said.contains("; "), "{said} tells nothing to do");
        }
    }

    #[test]
    fn a_tokenizer_of_a_larger_model_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let larger = folder.path().join("larger.json");
        let bert = fs::read_to_string(file("bert.json")).unwrap();
        fs::write(&larger, bert.replacen('{', r#"{"added_tokens":[{"id":99,"content":"x"}],"#, 1))
            .unwrap();
        let refused = Encoders::load(&file("image.onnx"), &file("bert-text.onnx"), &larger).err();
        let said = refused.expect("refused").to_string();
        assert!(said.contains("has tokens up to 99"), "{said}");
    }

    #[test]
    fn damaged_files_are_refused_and_change_the_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("damaged.onnx");
        let try_with = |bytes: &[u8]| {
            fs::write(&damaged, bytes).unwrap();
            Encoders::load(&damaged, &file("bert-text.onnx"), &file("bert.json"))
        };
        let whole = fs::read(file("image.onnx")).unwrap();
        let pair = try_with(&whole).unwrap();
        let original = load("image.onnx", "bert-text.onnx", "bert.json").unwrap();
        assert_eq!(pair.fingerprint(), original.fingerprint());
        assert!(try_with(&whole[..whole.len() / 2]).is_err());
        assert!(try_with(&[]).is_err());
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 0x11;
            for bytes in [&whole[..place], &flipped] {
                // Not every byte of the model affects the result.
                if let Ok(other) = try_with(bytes) {
                    assert_ne!(other.fingerprint(), pair.fingerprint());
                }
            }
        }
    }

    #[test]
    fn encoders_may_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<Encoders>();
    }
}
