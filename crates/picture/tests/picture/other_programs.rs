//! Pictures of other programs, compared with what these programs show. Programs that are missing are named, and their
//! files not checked. `cargo test -p tessera-picture --test picture other_programs -- --nocapture` prints the table of
//! `docs/pictures.md`.

use std::{fs, path::Path, process::Command};

use image::{Rgb, RgbImage};
use tessera_picture::{PictureFormat, decode::decode};

use crate::colors::mean_difference;

/// The mean color difference (CIE 76) that is not visible side by side.
const MAX_MEAN_DIFFERENCE: f64 = 2.0;
const IMAGEMAGICK: &str =
    "convert $IN -background '#808080' -flatten -colorspace sRGB -depth 8 out.png";
const WITH_PROFILE: &str =
    "convert $IN -profile $ICC/srgb.icc -background '#808080' -flatten -depth 8 out.png";

/// A file, how it is made of `in.png`, and how its program shows it as `out.png`.
type Sample = (&'static str, &'static str, &'static str);

const SAMPLES: [Sample; 41] = [
    ("baseline.jpg", "convert in.png -quality 90 $OUT", IMAGEMAGICK),
    ("progressive.jpg", "convert in.png -interlace JPEG $OUT", IMAGEMAGICK),
    ("gray.jpg", "convert in.png -colorspace gray $OUT", IMAGEMAGICK),
    ("eight_bits.png", "convert in.png $OUT", IMAGEMAGICK),
    (
        "sixteen_bits_alpha.png",
        "convert in.png -alpha set -channel A -evaluate set 60% -depth 16 PNG64:$OUT",
        IMAGEMAGICK,
    ),
    ("palette.png", "convert in.png -colors 32 PNG8:$OUT", IMAGEMAGICK),
    ("lossy.webp", "cwebp -quiet -q 80 in.png -o $OUT", "dwebp -quiet $IN -o out.png"),
    ("lossless.webp", "cwebp -quiet -lossless in.png -o $OUT", "dwebp -quiet $IN -o out.png"),
    ("picture.gif", "convert in.png $OUT", IMAGEMAGICK),
    ("picture.bmp", "convert in.png $OUT", IMAGEMAGICK),
    ("plain.tif", "convert in.png -compress none $OUT", IMAGEMAGICK),
    (
        "lzw_predictor.tif",
        "convert in.png -compress lzw -define tiff:predictor=2 $OUT",
        IMAGEMAGICK,
    ),
    (
        "tiled_big_endian.tif",
        "convert in.png -define tiff:tile-geometry=64x64 -define tiff:endian=msb $OUT",
        IMAGEMAGICK,
    ),
    ("big.tif", "convert in.png TIFF64:$OUT", IMAGEMAGICK),
    ("planes.tif", "convert in.png -interlace plane $OUT", IMAGEMAGICK),
    ("palette.tif", "convert in.png -colors 12 -type palette $OUT", IMAGEMAGICK),
    ("fax.tif", "convert in.png -monochrome -compress group4 $OUT", IMAGEMAGICK),
    ("gray_four_bits.tif", "convert in.png -colorspace gray -depth 4 $OUT", IMAGEMAGICK),
    (
        "gray_alpha.tif",
        "convert in.png -colorspace gray -alpha set -channel A -evaluate set 60% $OUT",
        IMAGEMAGICK,
    ),
    ("gray_32_bits.tif", "convert in.png -colorspace gray -depth 32 $OUT", IMAGEMAGICK),
    ("ycbcr_jpeg.tif", "convert in.png -colorspace YCbCr -compress jpeg $OUT", IMAGEMAGICK),
    ("picture.jxl", "cjxl --quiet in.png $OUT", "djxl --quiet $IN out.png"),
    ("lossless.jxl", "cjxl --quiet -d 0 in.png $OUT", "djxl --quiet $IN out.png"),
    ("picture.avif", "avifenc -s 9 in.png $OUT", "avifdec $IN out.png"),
    ("picture.heic", "heif-enc in.png -o $OUT", "heif-convert $IN out.png"),
    ("picture.qoi", "ffmpeg -v quiet -y -i in.png $OUT", "ffmpeg -v quiet -y -i $IN out.png"),
    ("picture.ppm", "convert in.png $OUT", IMAGEMAGICK),
    ("picture.pam", "convert in.png -alpha set -channel A -evaluate set 60% $OUT", IMAGEMAGICK),
    ("picture.pbm", "convert in.png -monochrome $OUT", IMAGEMAGICK),
    (
        "picture.ico",
        "convert in.png -resize 64x64! $OUT",
        "convert $IN -background '#808080' -flatten out.png",
    ),
    ("picture.exr", "convert in.png $OUT", IMAGEMAGICK),
    ("picture.hdr", "convert in.png $OUT", IMAGEMAGICK),
    (
        "cmyk_profile.jpg",
        "convert in.png -profile $ICC/srgb.icc -profile $ICC/default_cmyk.icc -quality 95 $OUT",
        WITH_PROFILE,
    ),
    (
        "cmyk_profile.tif",
        "convert in.png -profile $ICC/srgb.icc -profile $ICC/default_cmyk.icc $OUT",
        WITH_PROFILE,
    ),
    (
        "prophoto_16_bits.tif",
        "convert in.png -depth 16 -profile $ICC/srgb.icc -profile $ICC/rommrgb.icc $OUT",
        WITH_PROFILE,
    ),
    (
        "display_p3.avif",
        "avifenc -s 9 --cicp 12/13/6 in.png $OUT",
        "avifdec $IN p3.png && ffmpeg -v quiet -y -i p3.png -vf format=gbrp,$P3_TO_SRGB,format=rgb24 out.png",
    ),
    (
        "alpha.avif",
        "convert in.png $ALPHA PNG32:alpha.png && avifenc -s 9 alpha.png $OUT",
        "avifdec $IN alpha.png && convert alpha.png -background '#808080' -flatten out.png",
    ),
    (
        "alpha.heic",
        "convert in.png $ALPHA PNG32:alpha.png && heif-enc alpha.png -o $OUT",
        "heif-convert $IN alpha.png && convert alpha.png -background '#808080' -flatten out.png",
    ),
    (
        "adobe_rgb_alpha.png",
        "convert in.png -profile $ICC/srgb.icc -profile $ICC/a98.icc $ALPHA PNG32:$OUT",
        WITH_PROFILE,
    ),
    (
        "adobe_rgb_alpha_16_bits.png",
        "convert in.png -depth 16 -profile $ICC/srgb.icc -profile $ICC/a98.icc $ALPHA PNG64:$OUT",
        WITH_PROFILE,
    ),
    (
        "adobe_rgb_16_bits.png",
        "convert in.png -depth 16 -profile $ICC/srgb.icc -profile $ICC/a98.icc PNG48:$OUT",
        WITH_PROFILE,
    ),
];

/// Makes a picture translucent.
const ALPHA: &str = "-alpha set -channel A -evaluate set 60% +channel";
/// Converts colors of Display P3.
const P3_TO_SRGB: &str =
    "zscale=pin=smpte432:tin=iec61966-2-1:min=gbr:p=bt709:t=iec61966-2-1:m=gbr";
/// Profiles of Ghostscript, which many programs bring.
const PROFILES: &str = "/usr/share/color/icc/ghostscript";

#[expect(clippy::print_stdout, reason = "the table, and what is not checked")]
#[test]
fn are_shown_as_by_these_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    source().save(folder.path().join("in.png")).expect("written");
    let mut checked = 0;
    for (name, make, show) in SAMPLES {
        let program = |command: &str| command.split(' ').next().unwrap_or_default().to_owned();
        let format = Path::new(name).extension().unwrap_or_default();
        let needs_ffmpeg = ["avif", "heic"].iter().any(|other| format == *other);
        let mut missing: Vec<String> =
            [program(make), program(show)].into_iter().filter(|name| !is_installed(name)).collect();
        if needs_ffmpeg && !PictureFormat::Avif.is_decodable() {
            missing.push("ffmpeg".to_owned());
        }
        if make.contains("$ICC") && !Path::new(PROFILES).is_dir() {
            missing.push(PROFILES.to_owned());
        }
        if let Some(missing) = missing.first() {
            println!("NOT CHECKED: {name}, because {missing} is missing");
            continue;
        }
        run(folder.path(), name, make);
        let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
        // ImageMagick writes a PNG with this name if its package for OpenEXR is missing.
        let is_exr = || PictureFormat::detect(&read(name)) == Some(PictureFormat::OpenExr);
        if format == "exr" && !is_exr() {
            println!("NOT CHECKED: {name}, because {} does not write OpenEXR", program(make));
            continue;
        }
        run(folder.path(), name, show);
        let found = decode(&read(name), u32::MAX).expect(name).pixels;
        let expected = decode(&read("out.png"), u32::MAX).expect(name).pixels;
        assert_eq!(found.dimensions(), expected.dimensions(), "{name}");
        let difference = mean_difference(&found, &expected);
        println!("| `{name}` | {} | {difference:.2} |", program(make));
        assert!(difference < MAX_MEAN_DIFFERENCE, "{name}: {difference}");
        checked += 1;
    }
    println!("{checked} of {} files were checked", SAMPLES.len());
}

fn is_installed(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

fn run(folder: &Path, name: &str, command: &str) {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .envs([("IN", name), ("OUT", name), ("ICC", PROFILES)])
        .envs([("ALPHA", ALPHA), ("P3_TO_SRGB", P3_TO_SRGB)])
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {command}: {errors}");
}

/// Colors of all hues, light and dark, with an edge.
fn source() -> RgbImage {
    RgbImage::from_fn(240, 160, |x, y| {
        let [across, down] = [x * 255 / 240, y * 255 / 160];
        let blue = if x > 120 { 255 - across } else { down / 2 };
        Rgb([across, down, blue].map(|sample| u8::try_from(sample).expect("at most 255")))
    })
}
