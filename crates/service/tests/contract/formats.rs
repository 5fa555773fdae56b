//! Pictures in all formats, made by other programs: indexed, with thumbnails like their sources, and exported as they
//! are.
//!
//! Files of missing programs are not checked; `-- --nocapture` names them.

use std::{fs, path::Path, process::Command};

use image::{ImageFormat, Rgb, RgbImage, imageops};
use serde_json::Value;
use tessera_picture::PictureFormat;
use tessera_service::DeploymentSettings;
use tessera_store::{Row, params, query};

use crate::{
    export::{archive, content, metadata},
    support::{Place, Service},
};

/// Files, and how programs make them of `in.png`.
const FILES: [(&str, &str); 19] = [
    ("a.jpg", "convert in.png -quality 90 a.jpg"),
    ("b.png", "convert in.png b.png"),
    ("c.webp", "cwebp -quiet -q 90 in.png -o c.webp"),
    ("d.gif", "convert in.png d.gif"),
    ("e.bmp", "convert in.png e.bmp"),
    ("f.tif", "convert in.png -compress lzw f.tif"),
    ("g.jxl", "cjxl --quiet in.png g.jxl"),
    ("h.avif", "avifenc -s 9 in.png h.avif"),
    ("i.heic", "heif-enc in.png -o i.heic"),
    ("j.qoi", "ffmpeg -v error -i in.png j.qoi"),
    ("k.ppm", "convert in.png k.ppm"),
    ("l.pam", "convert in.png l.pam"),
    ("m.ico", "convert in.png m.ico"),
    ("n.exr", "convert in.png -colorspace RGB n.exr"),
    ("o.hdr", "convert in.png -colorspace RGB o.hdr"),
    ("p.gif", "convert in.png in.png -delay 50 p.gif"),
    (
        "q.webp",
        "ffmpeg -v error -framerate 1 -loop 1 -i in.png -vf eq=brightness=0.03*n:eval=frame -frames:v 2 -loop 0 q.webp",
    ),
    (
        "r.png",
        "ffmpeg -v error -framerate 1 -loop 1 -i in.png -vf eq=brightness=0.03*n:eval=frame -frames:v 2 -f apng r.png",
    ),
    ("s.mp4", "ffmpeg -v error -loop 1 -i in.png -t 2 -pix_fmt yuv420p s.mp4"),
];
const MOTION: [&str; 4] = ["p.gif", "q.webp", "r.png", "s.mp4"];
/// Mean difference of a channel, of 255: more than strong compression, less than another color.
const MAX_DIFFERENCE: f64 = 12.0;

/// Bars of colors, with an edge.
fn source() -> RgbImage {
    RgbImage::from_fn(192, 128, |x, y| match (x / 48, y / 64) {
        (0, _) => Rgb([200, 40, 40]),
        (1, 0) => Rgb([40, 160, 60]),
        (1, _) => Rgb([230, 220, 90]),
        (2, _) => Rgb([50, 70, 190]),
        _ => Rgb([120, 120, 120]),
    })
}

/// The files that programs of this machine make.
#[expect(clippy::print_stdout, reason = "says what is not checked")]
fn made_files(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    source().save(folder.join("in.png")).unwrap();
    let mut files = Vec::new();
    for (name, command) in FILES {
        let program = command.split(' ').next().unwrap();
        let is_installed = |program: &str| {
            let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
            found.is_ok_and(|output| output.status.success())
        };
        let needs_ffmpeg = ["avif", "heic", "mp4"].iter().any(|other| name.ends_with(other));
        let is_decodable = !needs_ffmpeg || PictureFormat::Avif.is_decodable();
        if !is_installed(program) || !is_decodable {
            println!("NOT CHECKED: {name}, because {program} or its decoder is missing");
            continue;
        }
        let made = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{command}: {}", String::from_utf8_lossy(&made.stderr));
        let bytes = fs::read(folder.join(name)).unwrap();
        // ImageMagick writes a PNG with this name if its package for OpenEXR is missing.
        if name.ends_with("exr") && PictureFormat::detect(&bytes) != Some(PictureFormat::OpenExr) {
            println!("NOT CHECKED: {name}, because {program} does not write OpenEXR");
            continue;
        }
        files.push((name, bytes));
    }
    files
}

#[expect(clippy::cast_precision_loss, reason = "a count of samples")]
fn mean_difference(thumbnail: &RgbImage) -> f64 {
    let (width, height) = thumbnail.dimensions();
    let expected = imageops::thumbnail(&source(), width, height);
    let samples = thumbnail.as_raw().iter().zip(expected.as_raw());
    let sum: u64 = samples.map(|(found, expected)| u64::from(found.abs_diff(*expected))).sum();
    sum as f64 / thumbnail.as_raw().len() as f64
}

#[tokio::test]
async fn files_of_other_programs_are_indexed_and_exported_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let files = made_files(folder.path());
    if files.is_empty() {
        return;
    }
    let settings =
        DeploymentSettings { ffmpeg: Some("ffmpeg".into()), ..DeploymentSettings::default() };
    let service = Service::at_with(Place::new(&files), settings).await;
    assert_eq!(service.deployment.skipped_files(service.dataset).unwrap(), []);
    let query = "file_name=all.zip&export_format=json&include_images=true";
    let (_, mut archive) = archive(&service, query).await;
    let items = metadata(&mut archive)["media_items"].clone();
    let sql = "SELECT path, jpeg FROM thumbnail JOIN media ON media.row = thumbnail.media";
    let read = |row: &Row| Ok((row.get::<Vec<u8>>(0)?, row.get::<Vec<u8>>(1)?));
    let thumbnails: Vec<(Vec<u8>, Vec<u8>)> =
        query::all(&service.place.database(), sql, params![], read).unwrap();
    assert!(thumbnails.len() >= files.len());
    for (path, jpeg) in thumbnails {
        let path = String::from_utf8(path).unwrap();
        let thumbnail = image::load_from_memory_with_format(&jpeg, ImageFormat::Jpeg).unwrap();
        let difference = mean_difference(&thumbnail.into_rgb8());
        assert!(difference < MAX_DIFFERENCE, "{path}: {difference}");
    }
    // The frames of animations and videos are exported as pictures.
    for (name, bytes) in files.iter().filter(|(name, _)| !MOTION.contains(name)) {
        let of_file = |item: &&Value| item["file_name"] == *name;
        let item = items.as_array().unwrap().iter().find(of_file).expect(name);
        let image = format!("images/{}", item["image_filename"].as_str().unwrap());
        let exported = content(&mut archive, &image);
        assert!(exported == *bytes, "{name} is not exported as it is");
    }
    for (name, _) in &files {
        let is_of_file =
            |item: &Value| item["file_path"].as_str().is_some_and(|path| path.starts_with(name));
        assert!(items.as_array().unwrap().iter().any(is_of_file), "{name} is not in {items}");
    }
}
