//! Fuzzes pictures of every format that we decode.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tessera_picture::{
    EmbeddedMetadata,
    decode::{decode, is_rotated, size},
};
use tessera_testing::camera_raw::camera_raw_files;

use super::{fuzz, mutation::mutated};

fn picture() -> RgbImage {
    RgbImage::from_fn(40, 28, |x, y| {
        let [x, y] = [x, y].map(|side| u8::try_from(side * 6).expect("less than 256"));
        Rgb([x, y, x ^ y])
    })
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("an encoder");
    bytes.into_inner()
}

fn rasters() -> Vec<Vec<u8>> {
    let formats = [ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp];
    formats.map(|format| encoded(&picture().into(), format)).to_vec()
}

fn rarer_rasters() -> Vec<Vec<u8>> {
    let formats = [ImageFormat::Tiff, ImageFormat::Qoi, ImageFormat::Pnm];
    let mut rasters = formats.map(|format| encoded(&picture().into(), format)).to_vec();
    let opaque = DynamicImage::from(picture()).into_rgba8();
    rasters.push(encoded(&opaque.into(), ImageFormat::Ico));
    let light = DynamicImage::from(DynamicImage::from(picture()).into_rgb32f());
    rasters.extend([ImageFormat::Hdr, ImageFormat::OpenExr].map(|format| encoded(&light, format)));
    rasters
}

/// A lossy gradient of 40x30 pixels, and a lossless picture of one color.
const JPEG_XL: [&[u8]; 2] = [
    &[
        0xff, 0x0a, 0xe8, 0x30, 0x90, 0x50, 0xb9, 0xb7, 0x8a, 0x20, 0x00, 0x12, 0x88, 0x02, 0x00,
        0x40, 0x02, 0x5d, 0xe5, 0x12, 0x00, 0x00, 0x15, 0x2a, 0xa3, 0x8c, 0x1b, 0xbc, 0x9c, 0xeb,
        0xf9, 0xf2, 0x43, 0x87, 0xc5, 0xb4, 0x8d, 0xeb, 0x0c, 0x6d, 0xb5, 0x6d, 0x61, 0x49, 0xa2,
        0xc8, 0x38, 0x36, 0x49, 0x27, 0x70, 0x48, 0x12, 0x6b, 0x10, 0x34, 0xb9, 0xdb, 0x2f, 0x68,
        0x84, 0x09, 0x8d, 0x94, 0x0a, 0xf3, 0xc3, 0xf0, 0xb6, 0x27, 0xea, 0x1c, 0x9d, 0x3b, 0x4e,
        0x95, 0x90, 0x3e, 0x84, 0x68, 0x77, 0x7e, 0xca, 0xa9, 0x6d, 0x5e, 0xd9, 0xcb, 0x83, 0x94,
        0xe1, 0xd2, 0xb2, 0xc1, 0xed, 0x7d, 0x85, 0x86, 0xc3, 0x22, 0xc4, 0x94, 0x5a, 0x09, 0xc1,
        0x08, 0x00, 0x80, 0x0a, 0x29, 0x90, 0xe5, 0xfa, 0xa4, 0x46, 0xc6, 0xbb, 0x8b, 0x31, 0xf2,
        0x62, 0x8c, 0x31, 0xde, 0x59, 0x6c, 0x02, 0x00, 0x7a, 0xbb, 0x02, 0x57, 0x00, 0x2b, 0xc6,
        0x35, 0x42, 0xff, 0x55, 0x87, 0x42, 0x0f, 0x98, 0x60, 0xef, 0x30, 0x66, 0xef, 0x13, 0xe1,
        0x99, 0xf3, 0xa9, 0xef, 0x47, 0x6c, 0xfe, 0x35, 0x38, 0x10, 0x58,
    ],
    &[
        0xff, 0x0a, 0x30, 0x30, 0x10, 0x50, 0xb9, 0xb7, 0x8a, 0x20, 0x08, 0x02, 0x01, 0x00, 0x5c,
        0x00, 0x4b, 0x18, 0x8b, 0x15, 0xc2, 0x49, 0x41, 0x5e, 0x20, 0x02, 0x80, 0x90, 0xa7, 0x1a,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ],
];

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
        with_scan_per_component(),
        for_printing(ColorType::Cmyk, false),
        for_printing(ColorType::CmykAsYcck, true),
    ]
}

fn with_scan_per_component() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 95);
    encoder.set_sampling_factor(SamplingFactor::R_4_4_0);
    encoder.set_optimized_huffman_tables(true);
    encoder.encode(picture().as_raw(), 40, 28, ColorType::Rgb).expect("an encoder");
    bytes
}

fn for_printing(colors: ColorType, is_progressive: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 80);
    encoder.set_progressive(is_progressive);
    encoder.add_icc_profile(&[0; 200]).expect("a short segment");
    let inks = [picture().into_raw(), vec![9; 40 * 28]].concat();
    encoder.encode(&inks, 40, 28, colors).expect("an encoder");
    bytes
}

/// Exif with the orientation 6, which is a rotation by a quarter.
const EXIF_ROTATED: [u8; 32] =
    *b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";

/// Decodes or refuses a picture. Our readers must not panic. A panic inside a library becomes an
/// error, which this function checks for.
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

#[test]
fn damaged_pictures_of_rarer_formats_are_decoded_or_refused() {
    let tokens = &[
        "II*\0",
        "MM\0*",
        "qoif",
        "P7\nWIDTH 4\n",
        "#?RADIANCE\n",
        "channels\0chlist\0",
        "dataWindow",
    ];
    fuzz(500, &mutated(rarer_rasters(), tokens), |input| decodes_or_refuses(&input.0));
}

#[test]
fn damaged_jpeg_xl_pictures_are_decoded_or_refused() {
    let pictures = JPEG_XL.map(<[u8]>::to_vec).to_vec();
    fuzz(500, &mutated(pictures, &["jxlc", "jxlp"]), |input| decodes_or_refuses(&input.0));
}

#[test]
fn damaged_raw_files_of_cameras_are_decoded_or_refused() {
    let small = encoded(&RgbImage::new(2, 2).into(), ImageFormat::Jpeg);
    let large = encoded(&picture().into(), ImageFormat::Jpeg);
    let files = camera_raw_files(&large, &small).into_iter().map(|(_, bytes)| bytes).collect();
    let tokens = &["II*\0", "MM\0*", "IIRO", "OLYMPUS\0II", "PRVW", "trak", "stco", "uuid"];
    fuzz(2_000, &mutated(files, tokens), |input| {
        decodes_or_refuses(&input.0);
        let _ = EmbeddedMetadata::read(&input.0);
    });
}
