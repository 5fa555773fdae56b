//! Pictures in all formats, made by other programs: indexed, with thumbnails like their sources, and exported as they
//! are. AVIF, HEIC, raw files of cameras and animations in a folder are at the end.
//!
//! Files of missing programs are not checked; `-- --nocapture` names them.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use image::{ImageFormat, Rgb, RgbImage, imageops};
use serde_json::{Value, json};
use tessera_media::ingest::video::sample_animation;
use tessera_picture::PictureFormat;
use tessera_service::DeploymentSettings;
use tessera_store::{Row, params, query};
use tessera_testing::camera_raw::camera_raw_files;

use crate::{
    described::{found, vql},
    export::{archive, content, metadata},
    support::{Place, Service, encoded, picture},
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

const AVIF: &[u8] = include_bytes!("../../../picture/tests/picture/heif/chart.avif");
const HEIC: &[u8] = include_bytes!("../../../picture/tests/picture/heif/chart.heic");

#[tokio::test]
async fn pictures_are_indexed_with_ffmpeg_and_named_without() {
    let files = [("a.avif", AVIF.to_vec()), ("b.heic", HEIC.to_vec()), ("c.png", picture(1))];
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    if !PictureFormat::Avif.is_decodable() {
        let reasons: Vec<_> = skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        let expected = ["AVIF", "HEIC"].map(|name| {
            format!(
                "{name} is decoded by ffmpeg, which was not found: install it, or convert the file"
            )
        });
        assert_eq!(reasons, expected);
        return;
    }
    assert!(
        skipped.is_empty(),
        "{:?}",
        skipped.iter().map(|file| &file.reason).collect::<Vec<_>>()
    );
    let mut originals = Vec::new();
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let get = async |uri: &str| {
                let response = service.client.get(preview[uri].as_str().unwrap()).send().await;
                response.unwrap().bytes().await.unwrap()
            };
            assert!(image::load_from_memory(&get("media_thumb_uri").await).is_ok());
            originals.push(get("media_uri").await.to_vec());
        }
    }
    assert_eq!(originals.len(), 3);
    for (name, bytes) in files {
        assert!(originals.contains(&bytes), "{name}: the original is the file itself");
    }
}

/// Red at the left and blue at the right, so red is above when it is turned to the right.
fn preview(width: u32, height: u32) -> Vec<u8> {
    let color = |x| if x < width / 2 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    encoded(&RgbImage::from_fn(width, height, |x, _| color(x)), ImageFormat::Jpeg)
}

#[tokio::test]
async fn raw_files_are_indexed_with_thumbnails_of_their_previews() {
    let files = camera_raw_files(&preview(96, 64), &preview(24, 16));
    let names: Vec<String> = files.iter().map(|(extension, _)| format!("a.{extension}")).collect();
    let contents =
        names.iter().map(String::as_str).zip(files.iter().map(|(_, bytes)| bytes.clone()));
    let place = Place::new(&contents.collect::<Vec<_>>());
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    assert!(service.deployment.skipped_files(service.dataset).unwrap().is_empty());
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["n_images"], json!(files.len()));
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let get = async |uri: &str| {
                let response = service.client.get(preview[uri].as_str().unwrap()).send().await;
                response.unwrap().bytes().await.unwrap()
            };
            let thumbnail = image::load_from_memory(&get("media_thumb_uri").await).unwrap();
            let thumbnail = thumbnail.into_rgb8();
            assert_eq!(thumbnail.dimensions(), (64, 96), "upright");
            assert!(thumbnail.get_pixel(9, 9)[0] > 150 && thumbnail.get_pixel(9, 86)[2] > 150);
            // The original is the file itself.
            let original = get("media_uri").await;
            assert!(files.iter().any(|(_, bytes)| *bytes == original));
        }
    }
    let labeled = vql(&json!([{"labels": {"op": "one_of", "value": ["camera:NIKON D90"]}}]));
    assert_eq!(found(&service, &labeled).await, ["a.nef".to_owned()].into());
}

/// By Pillow: a red frame for a second, a green one for three, and a dark one for two.
const THREE: [(&str, &[u8]); 3] = [
    ("three.gif", include_bytes!("animations/three.gif")),
    ("three.png", include_bytes!("animations/three.png")),
    ("three.webp", include_bytes!("animations/three.webp")),
];
/// A picture.
const ONE: &[u8] = include_bytes!("animations/one.gif");
/// 300 frames of two seconds, black and white in turn.
const LONG: &[u8] = include_bytes!("animations/long.gif");

fn times(bytes: &[u8]) -> Option<Vec<f64>> {
    let frames = sample_animation(bytes, &|| false)?;
    Some(frames.iter().map(|frame| frame.seconds).collect())
}

#[test]
fn a_frame_is_sampled_when_the_scene_has_changed() {
    for (name, bytes) in THREE {
        assert_eq!(times(bytes), Some(vec![0.0, 4.0]), "{name}");
        assert_eq!(times(&bytes[..40]), None, "{name}");
    }
    assert_eq!(times(ONE), None);
    assert_eq!(times(b"GIF89a"), None);
    assert_eq!(sample_animation(LONG, &|| true), None);
}

#[test]
fn long_animations_are_sampled_evenly() {
    let times = times(LONG).unwrap();
    assert!((50..=100).contains(&times.len()), "{times:?}");
    assert!(times[0] == 0.0 && times[times.len() - 1] > 580.0, "{times:?}");
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|&gap| (2.0..=24.0).contains(&gap)), "{gaps:?}");
}

#[tokio::test]
async fn animations_are_videos_and_pictures_stay_pictures() {
    let mut files: Vec<(&str, Vec<u8>)> =
        THREE.iter().map(|(name, bytes)| (*name, bytes.to_vec())).collect();
    files.push(("one.gif", ONE.to_vec()));
    let boxes = THREE.map(|(name, _)| format!("{name},a,0,0,1,1\n")).concat();
    let header = "file_name,label,xmin,ymin,xmax,ymax\n";
    files.push(("boxes.csv", format!("{header}{boxes}").into_bytes()));
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let record = service.record().await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(1), &json!(3)));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert!(
        matches!(&*skipped, [only] if format!("{only:?}").contains("boxes of a video")),
        "{skipped:?}"
    );
    let filter = json!([{"format": {"op": "is", "value": "gif"}}]);
    let gifs = found(&service, &vql(&filter)).await;
    assert!(gifs.contains("one.gif") && gifs.contains("three_000001.jpg"), "{gifs:?}");
    assert!(gifs.len() < 6, "frames of other animations: {gifs:?}");
    let mut frames: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let Some(time) = preview["frame_timestamp"].as_f64() else { continue };
            let name = preview["original_uri"].as_str().unwrap().to_owned();
            let link = preview["video_uri"].as_str().unwrap();
            let video = service.client.get(link).send().await.unwrap().bytes().await.unwrap();
            assert!(files.contains(&(&*name, video.to_vec())), "{name} is served as it is");
            frames.entry(name).or_default().push(time);
        }
    }
    for times in frames.values_mut() {
        times.sort_by(f64::total_cmp);
    }
    let expected = THREE.map(|(name, _)| (name.to_owned(), vec![0.0, 4.0]));
    assert_eq!(frames, expected.into());
}
