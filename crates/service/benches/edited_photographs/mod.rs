//! Edits photographs, so that benches can look for the edits: light edits, heavy edits that hardly any descriptor
//! survives, and rotations.

use std::{fs, io::Cursor, path::Path};

use image::{
    Rgb, RgbImage,
    codecs::jpeg::JpegEncoder,
    imageops::{self, FilterType},
};

/// The number of edits of each kind.
pub const EDITS: usize = 5;
/// The angle of a rotated edit, in degrees.
const TURN: f32 = 8.0;

pub type Edits = fn(&RgbImage) -> [Vec<u8>; EDITS];

/// Each kind of edits, with a description of what it does to a photograph.
pub const EDIT_KINDS: [(&str, Edits); 3] = [
    ("light edits (half size, JPEG q25, 5 % crop, mirror, brightness 1.35)", light_edits),
    ("heavy edits (turned 8 degrees, 30 % off a corner, gray, banner, blur)", heavy_edits),
    ("turned (90, 180, 270 degrees, mirrored crop, mirrored and turned)", turned_edits),
];

/// Reads the photographs of a folder, in the order of their names. Other files are skipped.
pub fn photographs(folder: &Path) -> Vec<RgbImage> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort_unstable();
    let decoded = |path| Some(image::load_from_memory(&fs::read(path).unwrap()).ok()?.to_rgb8());
    paths.iter().filter_map(decoded).collect()
}

/// Returns files with half the size, strong compression, no border, mirrored, and brighter.
fn light_edits(photograph: &RgbImage) -> [Vec<u8>; EDITS] {
    let (width, height) = photograph.dimensions();
    let half = imageops::resize(photograph, width / 2, height / 2, FilterType::Triangle);
    let (left, top) = (width / 20, height / 20);
    let inner = imageops::crop_imm(photograph, left, top, width - 2 * left, height - 2 * top);
    let brighter = |x, y| {
        let pixel = photograph.get_pixel(x, y);
        Rgb(pixel.0.map(|channel| (f32::from(channel) * 1.35).min(255.0) as u8))
    };
    [
        jpeg(&half, 90),
        jpeg(photograph, 25),
        jpeg(&inner.to_image(), 90),
        jpeg(&imageops::flip_horizontal(photograph), 90),
        jpeg(&RgbImage::from_fn(width, height, brighter), 90),
    ]
}

/// Returns files rotated by [`TURN`], with 30 % cut off at a corner, gray, with a banner, and blurred by 3 pixels in
/// 500.
fn heavy_edits(photograph: &RgbImage) -> [Vec<u8>; EDITS] {
    let (width, height) = photograph.dimensions();
    let corner = imageops::crop_imm(photograph, 0, 0, width * 84 / 100, height * 84 / 100);
    let gray = |x, y| {
        let [red, green, blue] = photograph.get_pixel(x, y).0.map(u32::from);
        Rgb([((77 * red + 150 * green + 29 * blue) >> 8) as u8; 3])
    };
    let sigma = 3.0 * width.max(height) as f32 / 500.0;
    [
        jpeg(&turned(photograph), 90),
        jpeg(&corner.to_image(), 90),
        jpeg(&RgbImage::from_fn(width, height, gray), 90),
        jpeg(&with_banner(photograph), 90),
        jpeg(&imageops::blur(photograph, sigma), 90),
    ]
}

/// Returns files rotated by one to three quarter turns, mirrored with 30 % cut off at a corner, and mirrored and
/// rotated by a quarter turn.
fn turned_edits(photograph: &RgbImage) -> [Vec<u8>; EDITS] {
    let (width, height) = photograph.dimensions();
    let corner = imageops::crop_imm(photograph, 0, 0, width * 84 / 100, height * 84 / 100);
    let turned = [
        imageops::rotate90(photograph),
        imageops::rotate180(photograph),
        imageops::rotate270(photograph),
        imageops::flip_horizontal(&corner.to_image()),
        imageops::rotate90(&imageops::flip_horizontal(photograph)),
    ];
    turned.map(|edited| jpeg(&edited, 90))
}

/// Rotates the photograph about its center. Pixels from outside the photograph are gray.
fn turned(photograph: &RgbImage) -> RgbImage {
    let (width, height) = photograph.dimensions();
    let (sine, cosine) = TURN.to_radians().sin_cos();
    let center = (width as f32 / 2.0, height as f32 / 2.0);
    RgbImage::from_fn(width, height, |x, y| {
        let (dx, dy) = (x as f32 + 0.5 - center.0, y as f32 + 0.5 - center.1);
        let at = (center.0 + cosine * dx + sine * dy, center.1 - sine * dx + cosine * dy);
        let at = (at.0 / width as f32, at.1 / height as f32);
        imageops::sample_bilinear(photograph, at.0, at.1).unwrap_or(Rgb([128; 3]))
    })
}

/// Adds a white band with black bars across the lower part. It is the same on every photograph.
fn with_banner(photograph: &RgbImage) -> RgbImage {
    let (width, height) = photograph.dimensions();
    RgbImage::from_fn(width, height, |x, y| {
        let (across, down) = (x * 100 / width, y * 100 / height);
        match (down, across) {
            (70..85, _) if (74..81).contains(&down) && across % 6 < 3 => Rgb([0; 3]),
            (70..85, _) => Rgb([255; 3]),
            _ => *photograph.get_pixel(x, y),
        }
    })
}

pub fn jpeg(pixels: &RgbImage, quality: u8) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    JpegEncoder::new_with_quality(&mut file, quality).encode_image(pixels).unwrap();
    file.into_inner()
}
