//! Reads the `config.json` of models of `timm`, which contains the names of the classes and how pictures are prepared,
//! instead of a `preprocessor_config.json`.

use serde_json::{Value, json};

/// Returns the names of the classes, by number.
pub fn class_names(config: &Value) -> Option<&Value> {
    let given = [&config["label_names"], &settings(config)?["label_names"]];
    given.into_iter().find(|names| names.is_array())
}

/// Returns the settings in the form of a `preprocessor_config.json`. Returns `None` for another kind of model.
pub fn preprocessor(config: &Value) -> Option<Value> {
    let settings = settings(config)?;
    let [_, height, width] = settings["input_size"].as_array()?.as_slice() else { return None };
    let (height, width) = (height.as_f64()?, width.as_f64()?);
    let share = settings["crop_pct"].as_f64().filter(|share| *share > 0.0).unwrap_or(1.0);
    let resized = |side: f64| (side / share).floor();
    let size = if settings["crop_mode"] == "squash" {
        json!({"height": whole(resized(height)), "width": whole(resized(width))})
    } else {
        json!({"shortest_edge": whole(resized(height.max(width)))})
    };
    Some(json!({
        "size": size,
        "do_center_crop": true,
        "crop_size": {"height": whole(height), "width": whole(width)},
        "image_mean": settings["mean"],
        "image_std": settings["std"],
        "resample": filter(&settings["interpolation"]),
    }))
}

/// Returns the settings, which earlier versions of `timm` wrote without a group.
fn settings(config: &Value) -> Option<&Value> {
    let group = &config["pretrained_cfg"];
    let settings = if group.is_object() { group } else { config };
    settings["input_size"].is_array().then_some(settings)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a conversion saturates, and the side is checked when the settings are read"
)]
fn whole(side: f64) -> u64 {
    side as u64
}

/// Returns the number of a filter in the Python Imaging Library.
fn filter(name: &Value) -> Value {
    match name.as_str() {
        Some("nearest") => json!(0),
        Some("lanczos") => json!(1),
        Some("bilinear") => json!(2),
        Some("bicubic") => json!(3),
        Some("box") => json!(4),
        Some("hamming") => json!(5),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_with_and_without_a_group() {
        let settings = json!({
            "input_size": [3, 224, 224], "crop_pct": 0.95, "mean": [0.4, 0.4, 0.4],
            "std": [0.3, 0.3, 0.3], "interpolation": "bicubic"
        });
        let grouped = json!({"pretrained_cfg": settings, "label_names": ["red"]});
        for config in [&settings, &grouped] {
            let read = preprocessor(config).unwrap();
            assert_eq!(read["size"], json!({"shortest_edge": 235}));
            assert_eq!(read["crop_size"], json!({"height": 224, "width": 224}));
            assert_eq!((&read["resample"], &read["image_std"][2]), (&json!(3), &json!(0.3)));
        }
        assert_eq!(class_names(&grouped), Some(&json!(["red"])));
        let squashed = json!({"input_size": [3, 32, 64], "crop_mode": "squash"});
        assert_eq!(preprocessor(&squashed).unwrap()["size"], json!({"height": 32, "width": 64}));
        assert_eq!(preprocessor(&json!({"model_type": "vit"})), None);
    }
}
