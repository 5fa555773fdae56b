//! Raw files of cameras are shown by their largest JPEG, upright.

use image::{Rgb, RgbImage};
use tessera_picture::{
    EmbeddedMetadata, PictureFormat, RawFormat,
    decode::{decode, is_rotated, size},
    to_common_jpeg,
};
use tessera_testing::camera_raw::camera_raw_files;

use crate::decode::encoded;

const FORMATS: [RawFormat; 10] = [
    RawFormat::Dng,
    RawFormat::Cr2,
    RawFormat::Cr3,
    RawFormat::Nef,
    RawFormat::Arw,
    RawFormat::Orf,
    RawFormat::Rw2,
    RawFormat::Pef,
    RawFormat::Raf,
    RawFormat::TiffEp,
];

/// Red at the left and blue at the right, so red is above when it is turned to the right.
fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let color = |x| if x < width / 2 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    encoded(RgbImage::from_fn(width, height, |x, _| color(x)), image::ImageFormat::Jpeg)
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    camera_raw_files(&jpeg(96, 64), &jpeg(24, 16))
}

#[test]
fn each_is_recognized_and_its_largest_preview_is_shown_upright() {
    for ((extension, bytes), format) in files().into_iter().zip(FORMATS) {
        let found = PictureFormat::detect(&bytes).expect("a format");
        assert_eq!(found, PictureFormat::Raw(format));
        assert_eq!(found.extension(), extension);
        assert!(is_rotated(&bytes).expect("a header"), "{extension}");
        assert_eq!(size(&bytes).expect("a header"), (64, 96), "{extension}");
        // Of the whole size, and at a reduced size.
        for side in [64, 8] {
            let decoded = decode(&bytes, side).expect("decoded");
            assert_eq!(decoded.original, (64, 96), "{extension}");
            let pixels = decoded.pixels;
            let [above, below] = [0, pixels.height() - 1].map(|y| pixels.get_pixel(2, y).0);
            assert!(above[0] > 150 && below[2] > 150, "{extension}: {above:?} {below:?}");
        }
        let sent = to_common_jpeg(&bytes).expect("decoded").expect("a JPEG");
        assert_eq!(PictureFormat::detect(&sent), Some(PictureFormat::Jpeg));
        assert_eq!(size(&sent).expect("a header"), (64, 96));
    }
}

#[test]
fn the_first_bytes_are_enough_where_they_differ_from_tiff() {
    for (extension, bytes) in files() {
        let found = PictureFormat::detect(&bytes[..PictureFormat::SIGNATURE_LENGTH]);
        let is_tiff = ["dng", "nef", "arw", "pef", "tif"].contains(&extension);
        assert_eq!(found == Some(PictureFormat::Tiff), is_tiff, "{extension}: {found:?}");
        assert!(found.is_some());
    }
}

#[test]
fn a_tiff_of_a_camera_stays_a_tiff() {
    let tiff = encoded(RgbImage::new(4, 4), image::ImageFormat::Tiff);
    assert_eq!(PictureFormat::detect(&tiff), Some(PictureFormat::Tiff));
    // Without the colors of the sensor, which are in a field of the file.
    let (_, mut bytes) = files().swap_remove(3);
    let mosaic =
        bytes.windows(8).position(|part| part == [1, 6, 0, 3, 0, 0, 0, 1]).expect("a field");
    bytes[mosaic + 8..mosaic + 10].copy_from_slice(&[0, 2]);
    assert_eq!(PictureFormat::detect(&bytes), Some(PictureFormat::Tiff));
}

#[test]
fn a_file_without_a_preview_is_refused_with_a_way_out() {
    for (extension, bytes) in camera_raw_files(b"no JPEG", b"none") {
        let error = decode(&bytes, 8).expect_err("no picture").0;
        let name = PictureFormat::detect(&bytes).expect("a format").name();
        let expected =
            format!("a {name} without a JPEG preview: convert it to JPEG with a raw converter");
        assert_eq!(error, expected, "{extension}");
    }
}

#[test]
fn directories_that_link_to_each_other_are_read_once() {
    let (_, mut bytes) = files().swap_remove(0);
    let first = bytes[4..8].to_vec();
    // The next directory of the first one is itself.
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&first);
    assert_eq!(decode(&bytes, 8).expect("decoded").original, (64, 96));
}

#[test]
fn metadata_is_that_of_the_raw_file() {
    for (extension, bytes) in files() {
        let exif = EmbeddedMetadata::read(&bytes).exif.expect("fields");
        match extension {
            "raf" | "cr3" => assert!(exif.len() < 100, "{extension}: {}", exif.len()),
            _ => assert_eq!(*exif, bytes, "{extension}"),
        }
    }
}
