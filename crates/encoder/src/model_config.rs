//! Reads what the configuration of a model says: its family, its classes, and the limit of its texts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    class_names::{ClassNames, json_of},
    error::LoadError,
    model_folder::{CONFIG, ModelFolder, OPEN_CLIP_CONFIG},
    onnx_model::metadata,
};

/// The number of tokens of a text in `SigLIP`, whose configuration usually omits this number.
const SIGLIP_TOKENS: usize = 64;

/// The families of models that get special treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFamily {
    Clip,
    Siglip,
    Other,
}

pub struct ModelConfig {
    pub family: ModelFamily,
    pub classes: ClassNames,
    /// The maximum number of tokens of a text.
    pub max_tokens: Option<usize>,
    /// The `config.json`, or null.
    pub json: Value,
    /// The metadata of the ONNX file.
    pub metadata: BTreeMap<String, String>,
}

impl ModelConfig {
    /// Reads the files, and adds the defaults used to `defaults`.
    pub fn read(folder: &ModelFolder, defaults: &mut Vec<String>) -> Result<Self, LoadError> {
        let metadata = metadata(&folder.image_model);
        let file = folder.json(CONFIG)?;
        let open_clip = match folder.json(OPEN_CLIP_CONFIG)? {
            Some(mut config) => Some(config["model_cfg"].take()),
            None => file.clone().filter(|config| config["vision_cfg"].is_object()),
        };
        let is_missing = file.is_none() && open_clip.is_none();
        let json = file.unwrap_or_default();
        let family = family(folder, &json, open_clip.as_ref());
        let positions = json["text_config"]["max_position_embeddings"].as_u64();
        let positions =
            positions.or_else(|| open_clip.as_ref()?["text_cfg"]["context_length"].as_u64());
        let max_tokens = positions.and_then(|count| usize::try_from(count).ok());
        let max_tokens = match family {
            ModelFamily::Siglip => Some(max_tokens.unwrap_or(SIGLIP_TOKENS)),
            ModelFamily::Clip | ModelFamily::Other => max_tokens,
        };
        let names = metadata.get("names").and_then(|names| json_of(names));
        if is_missing && names.is_none() {
            let taken = match family {
                ModelFamily::Clip => "a pair of encoders like CLIP",
                _ => "no labels, and no kind of model",
            };
            defaults.push(format!("{CONFIG} is missing; assumed: {taken}"));
        }
        let classes = ClassNames::find(folder, &json, names.as_ref(), defaults);
        Ok(Self { family, classes, max_tokens, json, metadata })
    }
}

fn family(folder: &ModelFolder, config: &Value, open_clip: Option<&Value>) -> ModelFamily {
    match (config["model_type"].as_str(), open_clip) {
        (Some(kind), _) if kind.starts_with("siglip") => ModelFamily::Siglip,
        (Some(kind), _) if kind.contains("clip") => ModelFamily::Clip,
        // Only the loss of `SigLIP` has a bias.
        (None, Some(model)) if !model["init_logit_bias"].is_null() => ModelFamily::Siglip,
        (None, Some(_)) => ModelFamily::Clip,
        // Public pairs of encoders without a configuration belong to the CLIP family.
        (None, None) if config.is_null() && folder.text_model.is_some() => ModelFamily::Clip,
        _ => ModelFamily::Other,
    }
}
