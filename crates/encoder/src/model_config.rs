//! What `config.json` says about a model.

use std::path::Path;

use serde_json::Value;

use super::{
    error::LoadError,
    model_folder::{CONFIG, ModelFolder},
};

/// Tokens of a text in `SigLIP`, whose configuration usually omits it.
const SIGLIP_TOKENS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFamily {
    Clip,
    Siglip,
    Other,
}

pub struct ModelConfig {
    pub family: ModelFamily,
    /// The names of the classes, by number.
    pub labels: Vec<String>,
    /// The most tokens of a text.
    pub max_tokens: Option<usize>,
}

impl ModelConfig {
    /// Reads the file, and adds the defaults that were taken to `defaults`.
    pub fn read(folder: &ModelFolder, defaults: &mut Vec<String>) -> Result<Self, LoadError> {
        let Some(json) = folder.json(CONFIG)? else {
            // Public pairs without a configuration are CLIP's.
            let family =
                if folder.text_model.is_some() { ModelFamily::Clip } else { ModelFamily::Other };
            let taken = match family {
                ModelFamily::Clip => "a pair of encoders like CLIP",
                _ => "no labels, and no kind of model",
            };
            defaults.push(format!("{CONFIG} is missing; assumed: {taken}"));
            return Ok(Self { family, labels: Vec::new(), max_tokens: None });
        };
        let family = match json["model_type"].as_str() {
            Some(kind) if kind.starts_with("siglip") => ModelFamily::Siglip,
            Some(kind) if kind.contains("clip") => ModelFamily::Clip,
            _ => ModelFamily::Other,
        };
        let positions = json["text_config"]["max_position_embeddings"].as_u64();
        let max_tokens = positions.and_then(|count| usize::try_from(count).ok());
        let max_tokens = match family {
            ModelFamily::Siglip => Some(max_tokens.unwrap_or(SIGLIP_TOKENS)),
            ModelFamily::Clip | ModelFamily::Other => max_tokens,
        };
        let labels = labels(&json["id2label"], &folder.path.join(CONFIG))?;
        Ok(Self { family, labels, max_tokens })
    }
}

/// `{"0": "cat", "1": "dog"}` in order of number.
fn labels(names: &Value, path: &Path) -> Result<Vec<String>, LoadError> {
    let Some(names) = names.as_object() else { return Ok(Vec::new()) };
    let by_number = |number: usize| names.get(&number.to_string())?.as_str().map(str::to_owned);
    (0..names.len()).map(by_number).collect::<Option<_>>().ok_or_else(|| {
        let reason = "has an id2label without a name for each number from 0; download it again";
        LoadError::new("file", path, reason)
    })
}
