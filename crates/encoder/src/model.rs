//! A loaded model.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use half::f16;
use image::RgbImage;
use sha2::{Digest as _, Sha256};

use super::{
    classifier::ConfidentLabel,
    description::{ModelDescription, ModelKind},
    error::{LoadError, short_reason},
    image_encoder::ImageEncoder,
    model_config::ModelConfig,
    model_folder::{HashedFile, ModelFolder},
    text_encoder::TextEncoder,
};

/// A model that is shared between threads; each inference uses all cores.
pub struct LearnedModel {
    folder: ModelFolder,
    image: ImageEncoder,
    text: Option<TextEncoder>,
    files: Vec<HashedFile>,
    defaults: Vec<String>,
}

/// A picture as a model sees it.
#[derive(Clone, Debug)]
pub struct EncodedImage {
    /// A unit vector.
    pub vector: Vec<f16>,
    pub label: Option<ConfidentLabel>,
}

impl fmt::Debug for LearnedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LearnedModel of {} numbers", self.dimension())
    }
}

impl LearnedModel {
    /// Loads the model of a folder and runs it once.
    pub fn load(folder: &Path) -> Result<Self, LoadError> {
        let folder = ModelFolder::open(folder)?;
        let files = folder.hashed_files()?;
        let mut defaults = Vec::new();
        let config = ModelConfig::read(&folder, &mut defaults)?;
        let image = ImageEncoder::load(&folder, &config, &mut defaults)?;
        let text = TextEncoder::load(&folder, image.model(), &config, &mut defaults)?;
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
            labels: self.image.classes().len(),
            preprocessing: self.image.preprocessing().describe(),
            defaults: self.defaults.clone(),
        }
    }

    /// What the folder does not say, and what was taken instead.
    pub fn defaults(&self) -> &[String] {
        &self.defaults
    }

    /// The files that it consists of, all in its folder or below.
    pub fn files(&self) -> Vec<PathBuf> {
        self.folder.files()
    }

    pub fn dimension(&self) -> usize {
        self.image.dimension()
    }

    /// Pixels per side that pictures should be decoded to at least.
    pub fn input_side(&self) -> u32 {
        self.image.preprocessing().min_side()
    }

    /// Whether texts have vectors that are comparable with those of pictures.
    pub fn takes_texts(&self) -> bool {
        self.text.is_some()
    }

    /// Whether pictures get labels.
    pub fn gives_labels(&self) -> bool {
        !self.image.classes().is_empty()
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        self.folder.name()
    }

    /// The files that change vectors or labels, with their hashes.
    pub fn hashed_files(&self) -> &[HashedFile] {
        &self.files
    }

    /// Hash of the files; vectors and labels of a model with another fingerprint are stale.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut whole = Sha256::new();
        for HashedFile { path, sha256 } in &self.files {
            whole.update(path);
            whole.update([0]);
            whole.update(sha256);
        }
        whole.finalize().into()
    }

    /// Encodes an upright picture. The error message contains no local paths.
    pub fn encode_image(&self, pixels: &RgbImage) -> Result<EncodedImage, String> {
        let encoded = self.image.encode(pixels).and_then(|encoded| {
            let label = encoded.label;
            unit_vector(encoded.vector).map(|vector| EncodedImage { vector, label })
        });
        encoded.map_err(|reason| failure("image", &reason))
    }

    /// Encodes a text as a unit vector; texts longer than the model supports are truncated.
    pub fn embed_text(&self, text: &str) -> Result<Vec<f16>, String> {
        let encoder = self.text.as_ref().ok_or_else(|| "the model takes no texts".to_owned())?;
        let vector = encoder.embed(self.image.model(), text).and_then(unit_vector);
        vector.map_err(|reason| failure("text", &reason))
    }
}

fn failure(encoder: &str, reason: &str) -> String {
    format!("the {encoder} encoder failed ({})", short_reason(&reason))
}

/// Scales to length 1. Zero and non-finite vectors have no direction.
fn unit_vector(numbers: Vec<f32>) -> Result<Vec<f16>, String> {
    let length = numbers.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::MIN_POSITIVE {
        return Err("it gives no direction".to_owned());
    }
    Ok(numbers.into_iter().map(|value| f16::from_f32(value / length)).collect())
}
