//! The loaded encoders of a model folder, and a description of the folder. `tessera model check` runs the self-test at
//! the end of this file with generated pictures.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use half::f16;
use image::{Rgb, RgbImage};

use crate::{
    classifier::ConfidentLabel,
    error::{LoadError, short_reason},
    image_encoder::ImageEncoder,
    model_folder::{HashedFile, ModelFolder, fingerprint},
    text_encoder::TextEncoder,
    tool_settings::ModelConfig,
};

/// The encoders of a model folder, shared between threads. Each inference uses all cores.
pub struct Encoder {
    folder: ModelFolder,
    image: ImageEncoder,
    text: Option<TextEncoder>,
    files: Vec<HashedFile>,
    defaults: Vec<String>,
}

/// The unit vector and label of a picture.
#[derive(Clone, Debug)]
pub struct EncodedImage {
    /// A unit vector.
    pub vector: Vec<f16>,
    pub label: Option<ConfidentLabel>,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoder of {} numbers", self.dimension())
    }
}

/// How long a model may take to load and to run once. The largest models on the slowest disks take less.
const LOAD_LIMIT: Duration = Duration::from_mins(5);
/// The stack of a main thread, because graphs are read recursively.
const LOAD_STACK_BYTES: usize = 8 << 20;

impl Encoder {
    /// Loads the encoders of a folder and runs each of them once.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        Self::load_within(folder, LOAD_LIMIT)
    }

    /// Loads a model with a time limit. The graph of a model may contain loops without an end, and a running graph
    /// cannot be stopped. After the limit, its thread is left behind until the program ends.
    pub fn load_within(folder: &Path, limit: Duration) -> Result<Self, LoadError> {
        let (sender, receiver) = channel();
        let path = folder.to_owned();
        let load = move || {
            // After the limit, nobody receives the model.
            let _ = sender.send(Self::load_unlimited(&path));
        };
        let failed = |reason: &str| LoadError::new("model", folder, reason);
        thread::Builder::new()
            .name("model".to_owned())
            .stack_size(LOAD_STACK_BYTES)
            .spawn(load)
            .map_err(|cause| failed(&format!("cannot be loaded ({cause})")))?;
        receiver.recv_timeout(limit).unwrap_or_else(|cause| {
            Err(match cause {
                RecvTimeoutError::Timeout => failed(&format!(
                    "took longer than {} s to load and to run once; use a smaller or quantized model",
                    limit.as_secs()
                )),
                RecvTimeoutError::Disconnected => {
                    failed("makes the library that runs models fail; export it again")
                }
            })
        })
    }

    fn load_unlimited(folder: &Path) -> Result<Self, LoadError> {
        let folder = ModelFolder::open(folder)?;
        let files = folder.hashed_files()?;
        let mut defaults = Vec::new();
        let config = ModelConfig::read(&folder, &mut defaults)?;
        let image = ImageEncoder::load(&folder, &config, &mut defaults)?;
        let text = TextEncoder::load(&folder, &image.model, &config, &mut defaults)?;
        let text = match text {
            Some((_, dimension)) if dimension != image.dimension() => {
                let reason = format!(
                    "gives {} numbers for a picture and {dimension} for a text; take both encoders from the same \
                     model, with their projections",
                    image.dimension()
                );
                return Err(LoadError::new("model", &folder.path, &reason));
            }
            Some((encoder, _)) => Some(encoder),
            None => None,
        };
        Ok(Self { folder, image, text, files, defaults })
    }

    pub fn description(&self) -> ModelDescription {
        let kind = match self.text {
            Some(_) => ModelKind::ImageTextPair,
            None if self.image.is_classifier() => ModelKind::Classifier,
            None => ModelKind::ImageEncoder,
        };
        let models = [Some(&self.folder.image_model), self.folder.text_model.as_ref()];
        ModelDescription {
            kind,
            models: models.into_iter().flatten().cloned().collect(),
            dimension: self.dimension(),
            labels: self.image.classes.iter().filter(|labels| !labels.is_empty()).count(),
            preprocessing: self.image.preprocessing.describe(),
            defaults: self.defaults.clone(),
        }
    }

    /// Returns the settings that the folder does not contain, with the defaults used instead.
    pub fn defaults(&self) -> &[String] {
        &self.defaults
    }

    /// Returns the files of the model, all of which are in its folder or below.
    pub fn files(&self) -> Vec<PathBuf> {
        self.folder.files()
    }

    pub fn dimension(&self) -> usize {
        self.image.dimension()
    }

    /// Returns the number of pixels per side to which pictures should at least be decoded.
    pub fn input_side(&self) -> u32 {
        self.image.preprocessing.min_side()
    }

    /// Whether texts have vectors that are comparable with those of pictures.
    pub fn takes_texts(&self) -> bool {
        self.text.is_some()
    }

    /// Whether pictures get labels.
    pub fn gives_labels(&self) -> bool {
        !self.image.classes.is_empty()
    }

    /// Returns the folder from which the encoders were loaded.
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Returns the name of the folder.
    pub fn name(&self) -> String {
        self.folder.name()
    }

    /// Returns the files that change vectors or labels, with their hashes.
    pub fn hashed_files(&self) -> &[HashedFile] {
        &self.files
    }

    /// Returns a hash of the files. Vectors and labels with a different fingerprint are stale.
    pub fn fingerprint(&self) -> [u8; 32] {
        fingerprint(&self.files)
    }

    /// Encodes an upright picture. The error message contains no local paths.
    pub fn encode_image(&self, pixels: &RgbImage) -> Result<EncodedImage, String> {
        let encoded = self
            .image
            .encode(pixels)
            .and_then(|(vector, label)| Ok(EncodedImage { vector: unit_vector(vector)?, label }));
        encoded.map_err(|reason| failure("image", &reason))
    }

    /// Encodes a text as a unit vector. A text longer than the model supports is truncated.
    pub fn embed_text(&self, text: &str) -> Result<Vec<f16>, String> {
        let encoder = self.text.as_ref().ok_or_else(|| "the model takes no texts".to_owned())?;
        let vector = encoder.embed(&self.image.model, text).and_then(unit_vector);
        vector.map_err(|reason| failure("text", &reason))
    }
}

fn failure(encoder: &str, reason: &str) -> String {
    format!("the {encoder} encoder failed ({})", short_reason(&reason))
}

/// Scales a vector to length 1. Zero and non-finite vectors have no direction.
fn unit_vector(numbers: Vec<f32>) -> Result<Vec<f16>, String> {
    let length = numbers.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::MIN_POSITIVE {
        return Err("it gives no direction".to_owned());
    }
    Ok(numbers.into_iter().map(|value| f16::from_f32(value / length)).collect())
}

/// What a model can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Texts and pictures have comparable vectors.
    ImageTextPair,
    /// Pictures have vectors and labels.
    Classifier,
    /// Pictures have vectors.
    ImageEncoder,
}

impl ModelKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ImageTextPair => "image and text encoder",
            Self::Classifier => "classifier",
            Self::ImageEncoder => "image encoder",
        }
    }
}

#[derive(Clone, Debug)]
pub struct ModelDescription {
    pub kind: ModelKind,
    /// The ONNX files.
    pub models: Vec<PathBuf>,
    /// The dimension of the vectors.
    pub dimension: usize,
    /// The number of labels that pictures can get.
    pub labels: usize,
    /// A description of how pictures become inputs.
    pub preprocessing: String,
    /// The settings that the folder does not contain, with the defaults used instead.
    pub defaults: Vec<String>,
}

const SIDE: u32 = 256;
/// The minimum distance between the vectors of two pictures that have nothing in common. A smaller distance can be a
/// rounding error.
const MIN_DISTANCE: f32 = 1e-3;
const EXAMPLE_TEXT: &str = "a photo of a red square";

/// The result of running a model.
#[derive(Clone, Copy, Debug)]
pub struct SelfTest {
    /// The cosine distance between the vectors of two pictures.
    pub distance: f32,
    pub time_per_picture: Duration,
    /// `None` if the model takes no texts.
    pub time_per_text: Option<Duration>,
}

impl SelfTest {
    /// Runs the encoders. Fails if a vector is not finite or has a wrong length, or if different pictures have the same
    /// vector.
    pub fn run(model: &Encoder) -> Result<Self, String> {
        let pictures = [red_square(), gradient()];
        let begin = Instant::now();
        let [red, gradient] =
            [encode_checked(model, &pictures[0])?, encode_checked(model, &pictures[1])?];
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

fn encode_checked(model: &Encoder, picture: &RgbImage) -> Result<Vec<f16>, String> {
    let vector = model.encode_image(picture)?.vector;
    check_length(model, &vector)?;
    Ok(vector)
}

fn check_length(model: &Encoder, vector: &[f16]) -> Result<(), String> {
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
