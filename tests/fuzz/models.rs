//! Fuzzes the files of a model: its ONNX file, its configuration with the class names, its preparation of pictures, and
//! its tokenizer.

use std::fs;

use tessera_encoder::Encoder;
use tessera_testing::tiny_model::ModelFolder;

use super::{fuzz, mutation::mutated};

/// Loads a model with a damaged file. A model that cannot be used is refused with what to do.
fn damage(folder: &ModelFolder, file: &str, tokens: &'static [&'static str]) {
    let path = folder.path().join(file);
    let whole = fs::read(&path).expect("a model has this file");
    let write = |bytes: &[u8]| fs::write(&path, bytes).expect("the folder can be written");
    fuzz(300, &mutated(vec![whole.clone()], tokens), |input| {
        write(&input.0);
        if let Err(refused) = Encoder::load(folder.path()) {
            assert!(refused.to_string().contains("; "), "{refused} says nothing to do");
        }
    });
    write(&whole);
    assert!(Encoder::load(folder.path()).is_ok(), "the undamaged model can be used");
}

#[test]
fn damaged_networks_are_refused_or_run() {
    let tokens =
        &["Conv", "Gemm", "pixel_values", "\u{0}\u{0}\u{0}\u{0}\u{40}", "\u{7f}\u{7f}\u{7f}"];
    damage(&ModelFolder::clip(), "onnx/vision_model.onnx", tokens);
    damage(&ModelFolder::clip(), "onnx/text_model.onnx", tokens);
}

#[test]
fn damaged_settings_of_models_are_refused_or_read() {
    let tokens = &["-1", "1e400", "null", "[]", "{}", "18446744073709551616", "\"a\""];
    damage(&ModelFolder::clip(), "config.json", tokens);
    damage(&ModelFolder::clip(), "preprocessor_config.json", tokens);
    damage(&ModelFolder::clip(), "tokenizer.json", tokens);
    damage(&ModelFolder::classifier(), "config.json", tokens);
}
