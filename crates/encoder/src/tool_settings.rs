//! Finds the settings that say how pictures are prepared. Transformers writes them in the form that `preprocessing`
//! reads. The settings of `timm`, `open_clip` and Ultralytics are converted to that form here.
//!
//! The conversions add three keys to the form: a `size` of `min_height` and `min_width`, which the resized picture
//! covers, a `size` of `max_height` and `max_width`, within which it stays, and a `border_color`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    class_names::{ClassNames, json_of},
    error::LoadError,
    model_folder::{CONFIG, ModelFolder, OPEN_CLIP_CONFIG, PREPROCESSOR, PROCESSOR, VISUAL_CONFIG},
    onnx_model::metadata,
    preprocessing::InputForm,
};

/// The settings of a file, in the form of a `preprocessor_config.json`.
pub struct PictureSettings {
    /// The name of the file.
    pub source: String,
    pub json: Value,
}

impl PictureSettings {
    /// Finds the settings. `config` is the `config.json`, and `metadata` that of the ONNX file.
    pub fn find(
        folder: &ModelFolder,
        config: &Value,
        metadata: &BTreeMap<String, String>,
        input: InputForm,
    ) -> Result<Option<Self>, LoadError> {
        let from = |source: &str| {
            let source = source.to_owned();
            move |json| Self { source, json }
        };
        let processor = folder.json(PROCESSOR)?.map(|mut file| file["image_processor"].take());
        if let Some(json) = processor.filter(Value::is_object) {
            return Ok(Some(Self { source: PROCESSOR.to_owned(), json }));
        }
        if let Some(json) = folder.json(PREPROCESSOR)? {
            // The class for models of `timm` has their settings in the form of `timm`.
            let json =
                timm(&json, input).filter(|_| json["pretrained_cfg"].is_object()).unwrap_or(json);
            return Ok(Some(Self { source: PREPROCESSOR.to_owned(), json }));
        }
        if let Some(json) = timm(config, input) {
            return Ok(Some(Self { source: CONFIG.to_owned(), json }));
        }
        let visual = folder.json(VISUAL_CONFIG)?;
        let open_clip_config = folder.json(OPEN_CLIP_CONFIG)?;
        let found = visual.map(|file| (VISUAL_CONFIG, open_clip(&file, &file["size"])));
        let found = found.or_else(|| {
            let file = open_clip_config?;
            let size = &file["model_cfg"]["vision_cfg"]["image_size"];
            Some((OPEN_CLIP_CONFIG, open_clip(&file["preprocess_cfg"], size)))
        });
        let found = found.map(|(source, json)| from(source)(json));
        Ok(found.or_else(|| ultralytics(metadata, input).map(from("metadata of the ONNX file"))))
    }
}

/// How a tool resizes and crops pictures.
struct Geometry {
    height: f64,
    width: f64,
    /// The share of the resized picture that is kept.
    share: f64,
    mode: Mode,
}

#[derive(Clone, Copy)]
enum Mode {
    Stretch,
    Cover,
    Contain,
}

impl Geometry {
    fn to_settings(&self) -> Value {
        let [height, width] =
            [self.height, self.width].map(|side| whole((side / self.share).floor()));
        let size = match self.mode {
            Mode::Stretch => json!({"height": height, "width": width}),
            Mode::Cover => json!({"min_height": height, "min_width": width}),
            Mode::Contain => json!({"max_height": height, "max_width": width}),
        };
        let crop = json!({"height": whole(self.height), "width": whole(self.width)});
        json!({"size": size, "do_center_crop": true, "crop_size": crop})
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion saturates, and the side is checked when the settings are read"
)]
fn whole(side: f64) -> u64 {
    side as u64
}

/// Returns the settings of a model of `timm`, which earlier versions wrote without a group, or null.
pub fn timm_group(config: &Value) -> &Value {
    let group = &config["pretrained_cfg"];
    let is_flat = config["architecture"].is_string() || config["input_size"].is_array();
    if group.is_object() || !is_flat { group } else { config }
}

const IMAGENET: [[f64; 3]; 2] = [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]];
const CLIP: [[f64; 3]; 2] =
    [[0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_6, 0.275_777_1]];

fn timm(config: &Value, input: InputForm) -> Option<Value> {
    let settings = timm_group(config);
    let sides = |key: &str| {
        let [_, height, width] = settings[key].as_array()?.as_slice() else { return None };
        Some((height.as_f64()?, width.as_f64()?))
    };
    if !settings.is_object() {
        return None;
    }
    let (height, width) = sides("input_size").unwrap_or((224.0, 224.0));
    // An export may have another size than the training, such as that of the tests.
    let exported = (input.height.map_or(height, f64::from), input.width.map_or(width, f64::from));
    let is_of_tests = exported != (height, width) && Some(exported) == sides("test_input_size");
    let share = settings[if is_of_tests { "test_crop_pct" } else { "crop_pct" }].as_f64();
    let share = share.or_else(|| settings["crop_pct"].as_f64());
    let mode = match settings["crop_mode"].as_str() {
        Some("squash") => Mode::Stretch,
        Some("border") => Mode::Contain,
        _ => Mode::Cover,
    };
    let (height, width) = exported;
    let share = share.filter(|share| *share > 0.0).unwrap_or(0.875);
    let mut found = Geometry { height, width, share, mode }.to_settings();
    let [mean, std] = [("mean", IMAGENET[0]), ("std", IMAGENET[1])]
        .map(|(key, taken)| given_or(&settings[key], json!(taken)));
    if matches!(mode, Mode::Contain) {
        let border = mean.as_array().into_iter().flatten().filter_map(Value::as_f64);
        found["border_color"] = border.map(|value| whole((value * 255.0).round())).collect();
    }
    (found["image_mean"], found["image_std"]) = (mean, std);
    // The random filter is that of the training.
    let filter = settings["interpolation"].as_str().filter(|name| !["", "random"].contains(name));
    found["resample"] = json!(filter.unwrap_or("bicubic"));
    Some(found)
}

/// Converts the settings of `open_clip`. `size` is a number or height and width.
fn open_clip(settings: &Value, size: &Value) -> Value {
    let sides = match size.as_array().map(Vec::as_slice) {
        Some([height, width]) => height.as_f64().zip(width.as_f64()),
        _ => size.as_f64().map(|side| (side, side)),
    };
    let mode = match settings["resize_mode"].as_str() {
        Some("squash") => Mode::Stretch,
        Some("longest") => Mode::Contain,
        _ => Mode::Cover,
    };
    // Without a size, that of the model is taken and reported.
    let geometry = sides.map(|(height, width)| Geometry { height, width, share: 1.0, mode });
    let mut found = geometry.map_or_else(|| json!({}), |geometry| geometry.to_settings());
    let border = settings["fill_color"].as_u64().unwrap_or(0);
    found["border_color"] = json!([border, border, border]);
    found["image_mean"] = given_or(&settings["mean"], json!(CLIP[0]));
    found["image_std"] = given_or(&settings["std"], json!(CLIP[1]));
    let is_bilinear = settings["interpolation"] == "bilinear";
    found["resample"] = json!(if is_bilinear { "bilinear" } else { "bicubic" });
    found
}

/// Converts the metadata that Ultralytics writes into the ONNX file of a classifier.
fn ultralytics(metadata: &BTreeMap<String, String>, input: InputForm) -> Option<Value> {
    let sides = json_of(metadata.get("task").and_then(|_| metadata.get("imgsz"))?)?;
    let (height, width) = (number_of(&sides[0])?, number_of(&sides[1])?);
    let (height, width) =
        (input.height.map_or(height, f64::from), input.width.map_or(width, f64::from));
    let mut found = Geometry { height, width, share: 1.0, mode: Mode::Cover }.to_settings();
    found["image_mean"] = json!(0);
    found["image_std"] = json!(1);
    found["resample"] = json!("bilinear");
    Some(found)
}

fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn given_or(given: &Value, default: Value) -> Value {
    if given.is_null() { default } else { given.clone() }
}

// Reads what the configuration of a model says: its family, its classes, and the limit of its texts.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_timm_are_read_with_and_without_a_group() {
        let settings = json!({
            "input_size": [3, 224, 224], "crop_pct": 0.95, "mean": [0.4, 0.4, 0.4],
            "std": [0.3, 0.3, 0.3], "interpolation": "bicubic"
        });
        for config in [&settings, &json!({"pretrained_cfg": settings})] {
            let read = timm(config, InputForm::default()).unwrap();
            assert_eq!(read["size"], json!({"min_height": 235, "min_width": 235}));
            assert_eq!(read["crop_size"], json!({"height": 224, "width": 224}));
            assert_eq!(
                (&read["resample"], &read["image_std"][2]),
                (&json!("bicubic"), &json!(0.3))
            );
        }
        assert_eq!(timm(&json!({"model_type": "vit"}), InputForm::default()), None);
    }

    #[test]
    fn the_crop_modes_of_timm_and_its_defaults_are_kept() {
        let read = |more: Value, input| {
            let mut config = json!({"architecture": "tiny", "input_size": [3, 32, 64]});
            config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            timm(&config, input).unwrap()
        };
        let free = InputForm::default();
        let sizes = |kind: &str| json!({format!("{kind}height"): 36, format!("{kind}width"): 73});
        assert_eq!(read(json!({}), free)["size"], sizes("min_"));
        assert_eq!(read(json!({"crop_mode": "squash"}), free)["size"], sizes(""));
        let border = read(json!({"crop_mode": "border", "mean": [0.0, 0.5, 1.0]}), free);
        assert_eq!(
            (&border["size"], &border["border_color"]),
            (&sizes("max_"), &json!([0, 128, 255]))
        );
        let fixed = InputForm { width: Some(96), height: Some(48), ..free };
        let tested = json!({"test_input_size": [3, 48, 96], "test_crop_pct": 1.0, "crop_pct": 0.5});
        assert_eq!(read(tested, fixed)["size"], json!({"min_height": 48, "min_width": 96}));
    }

    #[test]
    fn the_resize_modes_of_open_clip_are_kept() {
        for (mode, kind) in [("shortest", "min_"), ("longest", "max_"), ("squash", "")] {
            let read = open_clip(&json!({"resize_mode": mode}), &json!([16, 32]));
            let size = json!({format!("{kind}height"): 16, format!("{kind}width"): 32});
            assert_eq!((&read["size"], &read["image_mean"][0]), (&size, &json!(CLIP[0][0])));
        }
        assert_eq!(open_clip(&json!({}), &json!(8))["crop_size"], json!({"height": 8, "width": 8}));
    }
}
