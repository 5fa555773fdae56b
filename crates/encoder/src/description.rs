//! What was found in a model folder, for `tessera model check`.

use std::path::PathBuf;

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
    /// The number of numbers of a vector.
    pub dimension: usize,
    /// The number of labels that pictures can get.
    pub labels: usize,
    /// How pictures become inputs.
    pub preprocessing: String,
    /// What the folder does not say, and what was taken instead.
    pub defaults: Vec<String>,
}
