//! Loading and running the kinds of models.

use half::f16;
use image::{Rgb, RgbImage};
use serde_json::json;
use tessera_encoder::{Encoder, ModelKind, SelfTest};
use tessera_testing::tiny_model::{
    COLORS, DIMENSION, ModelFolder, OPPOSITE_COLORS, OWN_COLORS, byte_pair_tokenizer, image_model,
    preprocessor,
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
