//! Loading and running the kinds of models.

use half::f16;
use image::{Rgb, RgbImage};
use serde_json::json;
use tessera_encoder::{Encoder, ModelKind, SelfTest};
use tessera_testing::tiny_model::{
    COLORS, DIMENSION, ModelFolder, OPPOSITE_COLORS, OWN_COLORS, byte_model, byte_pair_tokenizer,
    classifier_model, gray_model, image_model, masked_text_model, preprocessor, with_metadata,
};

fn load(folder: &ModelFolder) -> Encoder {
    Encoder::load(folder.path()).unwrap()
}

fn distance(a: &[f16], b: &[f16]) -> f32 {
    1.0 - a.iter().zip(b).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
}

fn plain(color: [u8; 3]) -> RgbImage {
    RgbImage::from_pixel(60, 40, Rgb(color))
}

fn vector(model: &Encoder, picture: &RgbImage) -> Vec<f16> {
    model.encode_image(picture).unwrap().vector
}

#[test]
fn a_text_is_nearest_the_picture_that_shows_it() {
    for (kind, folder) in [("clip", ModelFolder::clip()), ("siglip", ModelFolder::siglip())] {
        let model = load(&folder);
        assert_eq!(model.description().kind, ModelKind::ImageTextPair);
        assert_eq!((model.dimension(), model.input_side()), (DIMENSION, 8));
        assert_eq!(model.description().defaults.len(), usize::from(kind == "siglip"), "of padding");
        for (name, ..) in COLORS {
            for words in [name.to_uppercase(), format!("a {name} picture")] {
                let text = model.embed_text(&words).unwrap();
                for (other, shown, _) in COLORS {
                    let away = distance(&text, &vector(&model, &plain(shown)));
                    assert_eq!(away < 0.2, other == name, "{kind}: {words} is {away} from {other}");
                }
            }
        }
    }
}

#[test]
fn a_pair_needs_no_class_names() {
    let pair = || ModelFolder::clip().with("labels.txt", "").with("categories.json", "{}");
    for (key, names) in [("labels", json!(["a", 1])), ("names", json!({"a": "b"}))] {
        let config = json!({"model_type": "clip", key: names});
        assert_eq!(load(&pair().with_json("config.json", &config)).description().labels, 0);
    }
}

#[test]
fn texts_of_siglip_are_padded_to_64_tokens() {
    let model = load(&ModelFolder::siglip());
    let numbers: Vec<f32> = model.embed_text("red").unwrap().into_iter().map(f16::to_f32).collect();
    // One token is a color, each of the others adds a hundredth to the last number.
    assert!((numbers[3] / numbers[0] - 0.63).abs() < 0.01, "{numbers:?}");
}

#[test]
fn a_classifier_gives_vectors_before_its_head_and_confident_labels() {
    let model = load(&ModelFolder::classifier());
    let description = model.description();
    assert_eq!((description.kind, description.labels), (ModelKind::Classifier, 3));
    assert_eq!(model.dimension(), 3);
    assert!(!model.takes_texts() && model.embed_text("red").is_err());
    for (name, shown, direction) in COLORS {
        let encoded = model.encode_image(&plain(shown)).unwrap();
        let label = encoded.label.unwrap();
        assert_eq!(label.labels, [name]);
        assert!(label.confidence > 0.9, "{label:?}");
        let direction: Vec<f16> =
            direction.iter().map(|x| f16::from_f32(x / 3f32.sqrt())).collect();
        assert!(distance(&encoded.vector, &direction) < 0.01);
    }
    assert_eq!(model.encode_image(&plain([128; 3])).unwrap().label, None);
}

#[test]
fn the_first_token_is_the_vector_of_a_sequence() {
    let model = load(&ModelFolder::tokens());
    assert_eq!(model.description().kind, ModelKind::ImageEncoder);
    assert_eq!(model.dimension(), 3);
    let [red, blue] = [COLORS[0].1, COLORS[2].1].map(|color| vector(&model, &plain(color)));
    assert!(red[0] > f16::ZERO && red[2] < f16::ZERO && blue[0] < f16::ZERO, "{red:?} {blue:?}");
    assert!(distance(&red, &blue) > 1.0);
}

#[test]
fn an_image_encoder_alone_is_enough_and_missing_files_are_named_with_their_defaults() {
    let bare = ModelFolder::empty().with("onnx/vision_model.onnx", image_model("any", OWN_COLORS));
    let model = load(&bare);
    assert_eq!(model.description().kind, ModelKind::ImageEncoder);
    let defaults = model.defaults().join("; ");
    for words in [
        "config.json is missing; assumed: no labels",
        "preprocessor_config.json is missing; taken: shorter side 8, middle 8x8, bicubic",
        "mean [0.485, 0.456, 0.406]",
    ] {
        assert!(defaults.contains(words), "{defaults}");
    }
    let complete = bare
        .with_json("config.json", &json!({}))
        .with_json("preprocessor_config.json", &preprocessor());
    assert!(load(&complete).defaults().is_empty());
}

#[test]
fn the_most_exact_variant_is_taken() {
    let opposite = image_model("image_embeds", OPPOSITE_COLORS);
    let folder = ModelFolder::clip().with("onnx/vision_model_quantized.onnx", &opposite);
    let red = vector(&load(&folder), &plain(COLORS[0].1));
    assert!(red[0] > f16::ZERO);
    let folder = folder.without("onnx/vision_model.onnx");
    assert!(vector(&load(&folder), &plain(COLORS[0].1))[0] < f16::ZERO);
    let folder =
        folder.with("onnx/vision_model_fp16.onnx", image_model("image_embeds", OWN_COLORS));
    assert!(vector(&load(&folder), &plain(COLORS[0].1))[0] > f16::ZERO);
}

#[test]
fn a_classifier_of_timm_is_read_from_its_configuration() {
    let config = json!({
        "architecture": "tiny", "num_classes": 3, "label_names": COLORS.map(|(name, ..)| name),
        "pretrained_cfg": {
            "input_size": [3, 8, 8], "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
            "crop_pct": 1.0, "interpolation": "bilinear"
        }
    });
    let with_mark = format!("\u{feff}{config}");
    let folder = ModelFolder::classifier()
        .without("preprocessor_config.json")
        .with("config.json", with_mark);
    let description = load(&folder).description();
    assert_eq!((description.kind, description.labels), (ModelKind::Classifier, 3));
    assert!(description.defaults.is_empty(), "{:?}", description.defaults);
}

/// Returns the labels of a red, a green and a blue picture.
fn labels(folder: &ModelFolder) -> Vec<String> {
    let model = load(folder);
    assert_eq!(model.description().kind, ModelKind::Classifier);
    let label = |color| model.encode_image(&plain(color)).unwrap().label;
    let found = COLORS.map(|(_, color, _)| label(color).map(|label| label.labels[0].clone()));
    found.into_iter().map(Option::unwrap_or_default).collect()
}

#[test]
fn names_of_classes_are_found_where_tools_write_them() {
    let names = json!(["red", "green", "blue"]);
    let descriptions = json!({"a": "red", "b": "green", "c": "blue"});
    for config in [
        json!({"label_names": names}),
        json!({"architecture": "tiny", "labels": names}),
        json!({"pretrained_cfg": {"label_names": names}}),
        json!({"label_names": ["a", "b", "c"], "label_descriptions": descriptions}),
        json!({"id2label": names}),
        json!({"label2id": {"red": 0, "green": 1, "blue": "2"}}),
    ] {
        let folder = ModelFolder::classifier().with_json("config.json", &config);
        assert_eq!(labels(&folder), ["red", "green", "blue"], "{config}");
    }
    let gap = ModelFolder::classifier()
        .with_json("config.json", &json!({"label_names": {"0": "red", "2": "blue"}}));
    assert_eq!(labels(&gap), ["red", "", "blue"]);
    assert_eq!(load(&gap).description().labels, 2);
    let placeholders = json!({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}});
    for file in ["labels.txt", "synset_words.txt"] {
        let folder = ModelFolder::classifier()
            .with_json("config.json", &placeholders)
            .with(file, "red\ngreen\nblue\n");
        assert_eq!(labels(&folder), ["red", "green", "blue"]);
        assert!(load(&folder).defaults().iter().any(|text| text.contains(file)));
        assert!(load(&folder).files().iter().any(|path| path.ends_with(file)));
    }
}

#[test]
fn a_file_of_another_encoding_or_with_nan_is_read() {
    let config = "{\"id2label\": [\"red\", \"green\", \"blue\"], \"loss\": NaN}";
    let utf16: Vec<u8> =
        format!("\u{feff}{config}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [config.as_bytes(), &utf16] {
        let folder = ModelFolder::classifier().with("config.json", bytes);
        assert_eq!(labels(&folder), ["red", "green", "blue"]);
    }
    let clip = ModelFolder::clip();
    let tokenizer = format!("\u{feff}{}", byte_pair_tokenizer());
    let tokenizer: Vec<u8> = tokenizer.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(load(&clip.with("tokenizer.json", tokenizer)).takes_texts());
}

#[test]
fn a_model_of_ultralytics_is_read_from_its_metadata() {
    let exported = |task| {
        let model = with_metadata(classifier_model(), "task", task);
        let model = with_metadata(model, "names", "{0: 'red', 1: \"green\", 2: 'blue'}");
        ModelFolder::empty().with("best.onnx", with_metadata(model, "imgsz", "[8, 8]"))
    };
    let folder = exported("classify");
    assert_eq!(load(&folder).description().labels, 3);
    let expected = "shorter side 8, middle 8x8, bilinear, scale 0.003921569, mean [0.0, 0.0, 0.0]";
    let found = load(&folder).description();
    assert!(found.preprocessing.starts_with(expected) && found.defaults.is_empty(), "{found:?}");
    let refused = Encoder::load(exported("detect").path()).unwrap_err().to_string();
    assert!(refused.contains("another task (detect); give a classifier"), "{refused}");
}

#[test]
fn a_pair_of_open_clip_is_read_from_its_configuration() {
    let preprocess = json!({"mean": [0.25, 0.25, 0.25], "std": [0.5, 0.5, 0.5],
        "interpolation": "bilinear", "resize_mode": "longest"});
    let model = json!({"vision_cfg": {"image_size": 8}, "text_cfg": {"context_length": 8}});
    let config = json!({"model_cfg": model, "preprocess_cfg": preprocess});
    let bare = ModelFolder::clip().without("config.json").without("preprocessor_config.json");
    let mut visual = preprocess;
    visual["size"] = json!([8, 8]);
    let folders = ModelFolder::empty()
        .with("visual/model.onnx", image_model("embedding", OWN_COLORS))
        .with_json("visual/preprocess_cfg.json", &visual)
        .with("textual/model.onnx", masked_text_model())
        .with_json("textual/tokenizer.json", &byte_pair_tokenizer())
        .with_json("textual/tokenizer_config.json", &json!({"pad_token": "<|endoftext|>"}))
        .with_json("config.json", &model);
    for folder in [bare.with_json("open_clip_config.json", &config), folders] {
        let found = load(&folder).description();
        assert_eq!(found.kind, ModelKind::ImageTextPair);
        let expected = "longer side 8, middle 8x8, border [0, 0, 0], bilinear, ";
        assert!(found.preprocessing.starts_with(expected), "{}", found.preprocessing);
        assert!(found.preprocessing.contains("mean [0.25, 0.25, 0.25]"));
        assert!(found.defaults.is_empty(), "{:?}", found.defaults);
    }
}

#[test]
fn a_model_that_takes_bytes_gets_colors_that_are_not_scaled() {
    let folder = ModelFolder::empty().with("model.onnx", byte_model());
    let model = load(&folder);
    assert!(model.description().preprocessing.contains("scale 1, mean [0.0, 0.0, 0.0]"));
    let found = vector(&model, &plain([200, 100, 0]));
    assert!((found[0].to_f32() / found[1].to_f32() - 2.0).abs() < 0.01, "{found:?}");
    let scaled = folder.with_json("preprocessor_config.json", &preprocessor());
    let refused = Encoder::load(scaled.path()).unwrap_err().to_string();
    assert!(
        refused.contains("whole numbers from 0 to 255, and preprocessor_config.json"),
        "{refused}"
    );
}

#[test]
fn a_model_of_gray_pictures_gets_their_luma() {
    let settings = json!({"size": 8, "do_rescale": false, "image_mean": [0.0], "image_std": [1.0]});
    let folder = ModelFolder::empty()
        .with("model.onnx", gray_model())
        .with_json("preprocessor_config.json", &settings);
    let halves = RgbImage::from_fn(8, 8, |x, _| Rgb(if x < 4 { [255, 0, 0] } else { [0, 0, 255] }));
    let found = vector(&load(&folder), &halves);
    assert_eq!(found.len(), 64);
    assert!((found[0].to_f32() / found[7].to_f32() - 76.0 / 29.0).abs() < 0.05, "{found:?}");
}

#[test]
fn texts_and_images_of_any_shape_are_encoded() {
    for folder in [ModelFolder::clip(), ModelFolder::siglip()] {
        let model = load(&folder);
        for text in ["", "\u{0}\n", "ｒｅｄ 红色 🟥", &"red ".repeat(9_000)] {
            assert_eq!(model.embed_text(text).unwrap().len(), DIMENSION, "{text:.20}");
        }
        let red = vector(&model, &plain(COLORS[0].1));
        for (width, height) in [(1, 1), (1, 30_000), (30_000, 1), (7, 700)] {
            let picture = RgbImage::from_pixel(width, height, Rgb(COLORS[0].1));
            assert!(distance(&vector(&model, &picture), &red) < 0.01);
        }
    }
}

#[test]
fn a_self_test_measures_distance_and_time() {
    for folder in [ModelFolder::clip(), ModelFolder::classifier(), ModelFolder::tokens()] {
        let model = load(&folder);
        let test = SelfTest::run(&model).unwrap();
        assert!(test.distance > 0.1, "{test:?}");
        assert_eq!(test.time_per_text.is_some(), model.takes_texts());
    }
    let reason = SelfTest::run(&load(&ModelFolder::blind())).unwrap_err();
    assert!(reason.contains("the same vector for two different pictures"), "{reason}");
}

#[test]
fn every_file_that_changes_vectors_changes_the_fingerprint() {
    let folder = ModelFolder::clip();
    let first = load(&folder).fingerprint();
    assert_eq!(load(&ModelFolder::clip()).fingerprint(), first);
    let mut tokenizer = byte_pair_tokenizer();
    tokenizer["normalizer"] = json!({"type": "Lowercase"});
    let mut seen = vec![first];
    for folder in [
        ModelFolder::clip_with(OPPOSITE_COLORS),
        ModelFolder::clip().with_json("tokenizer.json", &tokenizer),
        ModelFolder::clip().with_json("config.json", &json!({"model_type": "other"})),
        ModelFolder::clip().without("preprocessor_config.json"),
    ] {
        let fingerprint = load(&folder).fingerprint();
        assert!(!seen.contains(&fingerprint));
        seen.push(fingerprint);
    }
}

#[test]
fn models_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Encoder>();
}
