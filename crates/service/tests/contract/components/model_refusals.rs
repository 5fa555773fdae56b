//! Model folders that cannot be used are refused by file and reason.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tessera_encoder::Encoder;
use tessera_testing::tiny_model::{
    ModelFolder, OWN_COLORS, byte_pair_tokenizer, image_model, masked_text_model, unigram_tokenizer,
};

const GIT_POINTER: &str =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

fn refused(folder: &ModelFolder) -> String {
    let Err(cause) = Encoder::load(folder.path()) else { return String::new() };
    let text = cause.to_string();
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    assert!(text.contains(name), "{text} names no file");
    assert!(text.contains("; "), "{text} has no advice");
    text
}

#[test]
fn a_text_longer_than_the_limit_is_not_padded() {
    let config = json!({"model_type": "siglip",
        "text_config": {"max_position_embeddings": 1_000_000_000_u64}});
    let error = refused(&ModelFolder::siglip().with_json("config.json", &config));
    assert!(error.contains("takes 1000000000 tokens; the limit is 2048"), "{error}");
}

#[test]
fn each_unusable_file_is_named_with_what_to_do() {
    let vision = "onnx/vision_model.onnx";
    let text = "onnx/text_model.onnx";
    let classes = |names: Value| {
        ModelFolder::classifier().with_json("config.json", &json!({"id2label": names}))
    };
    let clip = ModelFolder::clip;
    for (folder, words) in [
        (ModelFolder::empty(), "has neither onnx/vision_model.onnx nor onnx/model.onnx"),
        (clip().with(vision, "text"), "is not a usable ONNX model"),
        (
            clip().with(vision, GIT_POINTER),
            "is a Git LFS pointer instead of the file; run: git lfs pull",
        ),
        (
            clip().with("tokenizer.json", GIT_POINTER),
            "is a Git LFS pointer instead of the file; run: git lfs pull",
        ),
        (clip().with(vision, masked_text_model()), "takes no picture"),
        (clip().with(text, image_model("image_embeds", OWN_COLORS)), "takes no tokens"),
        (clip().without("tokenizer.json"), "tokenizer.json is missing"),
        (clip().with("tokenizer.json", "{}"), "is not a usable tokenizer"),
        (clip().with("config.json", "{"), "config.json is not JSON"),
        (clip().with("preprocessor_config.json", "[]"), "is not a JSON object"),
        (clip().with("processor_config.json", "[]"), "processor_config.json is not a JSON object"),
        (clip().with("open_clip_config.json", "1"), "open_clip_config.json is not a JSON object"),
        (
            clip().with_json("preprocessor_config.json", &json!({"size": 9})),
            "takes pictures of 8x8",
        ),
        (classes(json!({"0": "one"})), "scores 3 classes, and id2label in config.json names 1"),
        (classes(json!({"a": "one"})), "without a name for each number"),
        (
            clip()
                .with("onnx/vision_model.onnx", image_model("image_embeds", OWN_COLORS))
                .with("onnx/text_model.onnx", image_model("image_embeds", OWN_COLORS)),
            "takes no tokens",
        ),
    ] {
        let found = refused(&folder);
        assert!(found.contains(words), "{found:?} does not contain {words}");
    }
    let two = ModelFolder::empty().with("onnx/one.onnx", "").with("onnx/other.onnx", "");
    assert!(refused(&two).contains("has neither"));
    let missing = Encoder::load(&ModelFolder::empty().path().join("none")).unwrap_err();
    assert!(missing.to_string().contains("does not exist; check the path"), "{missing}");
    let file = clip();
    let file = Encoder::load(&file.path().join("config.json")).unwrap_err();
    assert!(file.to_string().contains("is a file; give the folder"), "{file}");
}

#[test]
fn weights_are_found_under_any_name() {
    let vectors = |name: &str| {
        let folder = ModelFolder::external(name, OWN_COLORS, None);
        let model = Encoder::load(folder.path()).unwrap();
        let picture = image::RgbImage::from_pixel(8, 8, image::Rgb([200, 40, 9]));
        model.encode_image(&picture).unwrap().vector
    };
    let expected = vectors("colors.data");
    let long = format!("{}.bin", "w".repeat(200));
    for name in ["colors.bin", "my weights", "model.onnx_data", "w/deep", &long] {
        assert_eq!(vectors(name), expected, "{name}");
    }
    let short = ModelFolder::external("w.bin", OWN_COLORS, None);
    assert!(refused(&short).contains("its weights w.bin need a longer name"));
}

#[test]
fn a_tokenizer_of_a_larger_model_is_refused() {
    let mut larger = byte_pair_tokenizer();
    larger["model"]["vocab"]["larger"] = json!(999);
    let found = refused(&ModelFolder::clip().with_json("tokenizer.json", &larger));
    assert!(found.contains("has tokens up to 999"), "{found}");
    let mut small = unigram_tokenizer();
    small["model"]["vocab"] = json!([]);
    assert!(!refused(&ModelFolder::siglip().with_json("tokenizer.json", &small)).is_empty());
}

#[test]
fn damaged_models_are_refused_or_change_the_fingerprint() {
    let folder = ModelFolder::clip();
    let path = folder.path().join("onnx/vision_model.onnx");
    let whole = fs::read(&path).unwrap();
    let first = Encoder::load(folder.path()).unwrap().fingerprint();
    for offset in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[offset] ^= 0x11;
        for bytes in [&whole[..offset], &flipped] {
            fs::write(&path, bytes).unwrap();
            // Not every byte of the model affects the result.
            if let Ok(other) = Encoder::load(folder.path()) {
                assert_ne!(other.fingerprint(), first);
            }
        }
    }
}

#[test]
fn a_model_that_takes_too_long_is_refused() {
    let folder = ModelFolder::clip();
    let refused = Encoder::load_within(folder.path(), Duration::ZERO).unwrap_err().to_string();
    assert!(refused.contains("took longer than 0 s to load and to run once; use a"), "{refused}");
}
