//! The public items of the crate: decoding, fitting and encoding of pictures.

#![expect(clippy::expect_used, reason = "a failed setup fails the test")]

mod camera_raw;
mod colors;
mod crop;
mod decode;
mod fit;
mod formats;
mod heif;
mod jpeg;
mod jpeg_layouts;
mod jpeg_writer;
mod libraries;
mod other_programs;
mod sixel;
mod thumbnail;
mod tiff;

use image::RgbImage;
use tessera_picture::{Canvas, Protocol};

/// Twenty pixels wide and high.
const CANVAS: Canvas =
    Canvas { columns: 20, rows: 10, cell: (10, 20), protocol: Protocol::HalfBlock };

fn png(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("encoded");
    bytes.into_inner()
}
