//! Pictures: every format we decode, damaged.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tessera_picture::decode::{decode, is_rotated, size};

use super::{fuzz, mutation::mutated};

fn picture() -> RgbImage {
    RgbImage::from_fn(40, 28, |x, y| {
        let [x, y] = [x, y].map(|side| u8::try_from(side * 6).expect("less than 256"));
        Rgb([x, y, x ^ y])
    })
}

fn rasters() -> Vec<Vec<u8>> {
    let formats = [ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp];
    formats
        .map(|format| {
            let mut bytes = Cursor::new(Vec::new());
            picture().write_to(&mut bytes, format).expect("an encoder");
            bytes.into_inner()
        })
        .to_vec()
}

fn jpegs() -> Vec<Vec<u8>> {
    let encode = |sampling: SamplingFactor, progressive: bool, restart: Option<u16>| {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, 80);
        encoder.set_sampling_factor(sampling);
        encoder.set_progressive(progressive);
        if let Some(interval) = restart {
            encoder.set_restart_interval(interval);
        }
        encoder.add_app_segment(1, EXIF_ROTATED.to_vec()).expect("a short segment");
        encoder.encode(picture().as_raw(), 40, 28, ColorType::Rgb).expect("an encoder");
        bytes
    };
    vec![
        encode(SamplingFactor::R_4_4_4, false, None),
        encode(SamplingFactor::R_4_2_0, false, Some(2)),
        encode(SamplingFactor::R_4_2_2, true, None),
        encode(SamplingFactor::R_4_1_1, true, Some(1)),
    ]
}

/// An orientation of 6: rotated by a quarter.
const EXIF_ROTATED: [u8; 32] =
    *b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";

/// Our reader must not panic; a panic inside a library becomes an error, which is checked for here.
fn decodes_or_refuses(bytes: &[u8]) {
    let _ = (is_rotated(bytes), size(bytes));
    for min_side in [1, 8, 4_000] {
        match decode(bytes, min_side) {
            Ok(decoded) => assert!(decoded.pixels.width() > 0 && decoded.pixels.height() > 0),
            Err(error) => assert!(!error.to_string().contains("the decoder failed"), "{error}"),
        }
    }
}

#[test]
fn damaged_jpegs_are_decoded_or_refused() {
    let tokens = &["\u{0}", "Exif\0\0", "JFIF\0", "Adobe"];
    fuzz(1_000, &mutated(jpegs(), tokens), |input| decodes_or_refuses(&input.0));
}

#[test]
fn other_damaged_pictures_are_decoded_or_refused() {
    let tokens = &["IHDR", "IDAT", "iCCP", "tRNS", "RIFF", "WEBPVP8X", "GIF89a", "NETSCAPE2.0"];
    fuzz(500, &mutated(rasters(), tokens), |input| decodes_or_refuses(&input.0));
}
