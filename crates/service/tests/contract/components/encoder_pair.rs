//! Loading and running a pair of encoders.

use std::{
    fs,
    path::{Path, PathBuf},
};

use half::f16;
use image::{Rgb, RgbImage};
use tessera_service::text::encoders::{Encoders, LoadError};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(name)
}

fn load(image: &str, text: &str, tokenizer: &str) -> Result<Encoders, LoadError> {
    Encoders::load(&file(image), &file(text), &file(tokenizer))
}

fn refused(image: &str, text: &str, tokenizer: &str) -> String {
    load(image, text, tokenizer).unwrap_err().to_string()
}

fn distance(a: &[f16], b: &[f16]) -> f32 {
    1.0 - a.iter().zip(b).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
}

const COLORS: [(&str, [u8; 3]); 3] =
    [("red", [250, 10, 10]), ("green", [10, 250, 10]), ("blue", [10, 10, 250])];

#[test]
fn a_text_is_nearest_the_picture_that_shows_it() {
    for (text, tokenizer) in [("clip-text.onnx", "clip.json"), ("bert-text.onnx", "bert.json")] {
        let pair = load("image.onnx", text, tokenizer).unwrap();
        assert_eq!((pair.dimension(), pair.input_side()), (4, 8));
        for (name, color) in COLORS {
            for words in [name.to_uppercase(), format!("a {name} picture, indeed")] {
                let text = pair.embed_text(&words).unwrap();
                for (other, shown) in COLORS {
                    let picture = RgbImage::from_pixel(60, 40, Rgb(shown));
                    let away = distance(&text, &pair.embed_image(&picture).unwrap());
                    assert_eq!(away < 0.2, shown == color, "{words} is {away} from {other}");
                }
            }
        }
    }
}

#[test]
fn texts_and_images_of_any_shape_are_encoded() {
    let pair = load("image.onnx", "clip-text.onnx", "clip.json").unwrap();
    for text in ["", "\u{0}\n", "ｒｅｄ 红色 🟥", &"red ".repeat(9_000)] {
        assert_eq!(pair.embed_text(text).unwrap().len(), 4, "{text:.20}");
    }
    let red = pair.embed_image(&RgbImage::from_pixel(9, 9, Rgb([250, 10, 10]))).unwrap();
    for (width, height) in [(1, 1), (1, 30_000), (30_000, 1), (7, 700)] {
        let picture = RgbImage::from_pixel(width, height, Rgb([250, 10, 10]));
        assert!(distance(&pair.embed_image(&picture).unwrap(), &red) < 0.01);
    }
}

#[test]
fn mismatched_files_are_rejected_with_file_name_and_advice() {
    for (files, says) in [
        (["none.onnx", "clip-text.onnx", "clip.json"], "image encoder"),
        (["image.onnx", "none.onnx", "clip.json"], "cannot be read"),
        (["make.py", "clip-text.onnx", "clip.json"], "is not a usable ONNX model"),
        (["clip-text.onnx", "clip-text.onnx", "clip.json"], "takes no picture"),
        (["image.onnx", "image.onnx", "clip.json"], "takes no tokens"),
        (["image.onnx", "clip-text.onnx", "make.py"], "is not a usable tokenizer"),
        (["image.onnx", "clip-text.onnx", "image.onnx"], "tokenizer"),
        (["image.onnx", "bert-text.onnx", "clip.json"], "the tokenizer that belongs to it"),
        (["image.onnx", "wide-text.onnx", "bert.json"], "gives 4 numbers and the text"),
    ] {
        let said = refused(files[0], files[1], files[2]);
        assert!(said.contains(says), "{files:?} says {said}");
        assert!(said.contains("tests/encoders"), "{said} names no file");
        assert!(said.contains("; "), "{said} has no advice");
    }
}

#[test]
fn a_tokenizer_of_a_larger_model_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let larger = folder.path().join("larger.json");
    let bert = fs::read_to_string(file("bert.json")).unwrap();
    fs::write(&larger, bert.replacen('{', r#"{"added_tokens":[{"id":99,"content":"x"}],"#, 1))
        .unwrap();
    let refused = Encoders::load(&file("image.onnx"), &file("bert-text.onnx"), &larger).err();
    let said = refused.expect("refused").to_string();
    assert!(said.contains("has tokens up to 99"), "{said}");
}

#[test]
fn damaged_files_are_rejected_or_change_the_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.onnx");
    let try_with = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        Encoders::load(&damaged, &file("bert-text.onnx"), &file("bert.json"))
    };
    let whole = fs::read(file("image.onnx")).unwrap();
    let pair = try_with(&whole).unwrap();
    let original = load("image.onnx", "bert-text.onnx", "bert.json").unwrap();
    assert_eq!(pair.fingerprint(), original.fingerprint());
    assert!(try_with(&whole[..whole.len() / 2]).is_err());
    assert!(try_with(&[]).is_err());
    for offset in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[offset] ^= 0x11;
        for bytes in [&whole[..offset], &flipped] {
            // Not every byte of the model affects the result.
            if let Ok(other) = try_with(bytes) {
                assert_ne!(other.fingerprint(), pair.fingerprint());
            }
        }
    }
}

#[test]
fn encoders_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Encoders>();
}
