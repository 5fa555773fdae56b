//! Lists the models that `tessera model get` and the interface offer. Other models are had by the names of their
//! repositories.

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use super::{
    Coverage,
    text::{format_duration, group_digits, grouped_with_noun},
};

/// The name of the model that is made from published packages.
pub const STARTER: &str = "starter";

/// A model that can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AvailableModel {
    /// `starter`, or the name of a repository of the model hub.
    pub name: &'static str,
    /// About how much is downloaded.
    pub size: &'static str,
    pub languages: &'static str,
    pub license: &'static str,
    /// What this project has done with the real weights.
    pub tried: &'static str,
    pub purpose: &'static str,
}

/// What getting a model downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPlan {
    pub name: String,
    /// The number of files that are missing, or 0 if the model is on this machine.
    pub files: usize,
    pub bytes: u64,
    /// What the user should know before a confirmation. It is empty for a plain download.
    pub note: &'static str,
}

/// How far the media of a dataset are encoded by its model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncodingProgress {
    pub done: u64,
    pub total: u64,
    /// The speed since the task began. `None` until it is known.
    pub per_second: Option<f64>,
}

impl EncodingProgress {
    /// Returns a text like `320 of 1 000 pictures, 53 pictures/s, 00:13 left`.
    pub fn text(&self) -> String {
        let total = grouped_with_noun(self.total, "picture", "pictures");
        let mut text = format!("{} of {total}", group_digits(self.done));
        if let (Some(speed), Some(left)) = (self.per_second, self.seconds_left()) {
            let left = format_duration(Duration::from_secs(left));
            let _ = write!(text, ", {speed:.0} pictures/s, {left} left");
        }
        text
    }

    /// Returns the seconds until all media are encoded, if the speed is known.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an estimate in whole seconds"
    )]
    pub fn seconds_left(&self) -> Option<u64> {
        let per_second = self.per_second.filter(|speed| *speed > 0.0)?;
        Some((self.total.saturating_sub(self.done) as f64 / per_second).ceil() as u64)
    }
}

const NOT_TRIED: &str = "not tried here with real weights";

/// The models, with the one for a first try in front.
pub const AVAILABLE_MODELS: [AvailableModel; 6] = [
    AvailableModel {
        name: STARTER,
        size: "43 MB",
        languages: "English",
        license: "Apache-2.0, MIT, WordNet 3.0",
        tried: "measured",
        purpose: "texts find 1,000 kinds of things; look-alikes, labels",
    },
    AvailableModel {
        name: "Xenova/clip-vit-base-patch32",
        size: "about 600 MB",
        languages: "English",
        license: "MIT",
        tried: NOT_TRIED,
        purpose: "texts find scenes, actions and colors; the fastest CLIP",
    },
    AvailableModel {
        name: "Xenova/clip-vit-base-patch16",
        size: "about 600 MB",
        languages: "English",
        license: "MIT",
        tried: NOT_TRIED,
        purpose: "the same with more detail, and four times slower",
    },
    AvailableModel {
        name: "Xenova/siglip-base-patch16-224",
        size: "about 800 MB",
        languages: "English",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "texts find scenes, actions and colors, usually better than CLIP",
    },
    AvailableModel {
        name: "onnx-community/siglip2-base-patch16-224-ONNX",
        size: "about 1.5 GB",
        languages: "more than 100",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "the same in many languages",
    },
    AvailableModel {
        name: "Xenova/dinov2-small",
        size: "about 90 MB",
        languages: "none",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "look-alikes only",
    },
];

// What an export or an import of embeddings has done.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingExport {
    /// The name of the model whose vectors were written. `None` stands for our own descriptor.
    pub model: Option<String>,
    pub dimension: usize,
    /// How many images and frames have a vector. Only these are in the file.
    pub coverage: Coverage,
    /// The list of names of an array.
    pub names: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingImport {
    /// The name of the file.
    pub name: String,
    pub dimension: usize,
    /// How many images and frames have an embedding now.
    pub coverage: Coverage,
    /// The number of rows that were omitted.
    pub refused: u64,
    /// The first rows that were omitted, with the reasons.
    pub examples: Vec<String>,
}
