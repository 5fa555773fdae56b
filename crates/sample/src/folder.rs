//! Writes the sample dataset as a folder of JPEG files with a `metadata.jsonl`. A marker file identifies the dataset,
//! so that a complete folder is left as it is and an interrupted one is completed.

use std::{
    fs::{self, DirEntry},
    io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use serde_json::{Value, json};

use tessera_files::{TEMPORARY_PREFIX, if_exists, write_atomically};

use super::{
    plan::plan,
    sample_image::{PlantedIssue, SampleImage, SceneKind, render},
};

/// Must be increased whenever the same plan renders to different pixels.
const GENERATOR_VERSION: u32 = 3;
const SIDECAR: &str = "metadata.jsonl";
const MARKER: &str = ".tessera-sample.json";
const JPEG_QUALITY: u8 = 88;

/// Writes a dataset of this many images into a folder, using all cores, and returns its plan.
///
/// `progress` is called with the number of finished images and the total, on any thread. Images of the same dataset
/// that already exist are kept; images of another sample dataset in the same folder are replaced.
///
/// # Errors
/// The folder contains files but no sample dataset, or the folder cannot be written.
pub fn write(
    directory: &Path,
    images: usize,
    seed: u64,
    progress: impl Fn(usize, usize) + Sync,
) -> io::Result<Vec<SampleImage>> {
    prepare(directory, images, seed)?;
    let samples = plan(images, seed);
    let missing: Vec<&SampleImage> =
        samples.iter().filter(|p| !is_complete(&directory.join(&p.file))).collect();
    let done = AtomicUsize::new(images - missing.len());
    progress(images - missing.len(), images);
    missing.into_par_iter().try_for_each(|sample| {
        write_atomically(&directory.join(&sample.file), jpeg(sample)?)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, images);
        Ok::<(), io::Error>(())
    })?;
    if !is_complete(&directory.join(SIDECAR)) {
        write_atomically(&directory.join(SIDECAR), sidecar(&samples))?;
    }
    Ok(samples)
}

fn prepare(directory: &Path, images: usize, seed: u64) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let marker =
        json!({ "painter": GENERATOR_VERSION, "seed": seed, "images": images }).to_string();
    let path = directory.join(MARKER);
    let former = if_exists(fs::read_to_string(&path))?;
    let is_other = |entry: io::Result<DirEntry>| {
        // A kill while the marker was written leaves its unfinished file.
        !entry.is_ok_and(|it| it.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX))
    };
    if former.is_none() && fs::read_dir(directory)?.any(is_other) {
        let remedy = "choose an empty folder for the sample dataset";
        let message = format!("{} contains other files; {remedy}", directory.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    if former.as_ref() != Some(&marker) {
        if former.is_some() {
            remove_generated(directory)?;
        }
        write_atomically(&path, &marker)?;
    }
    // The marker comes first, so that a folder with a part of the dataset is recognized.
    for kind in SceneKind::ALL {
        fs::create_dir_all(directory.join(kind.folder()))?;
    }
    Ok(())
}

/// Removes the images and the sidecar of another sample dataset. Other files stay.
fn remove_generated(directory: &Path) -> io::Result<()> {
    for kind in SceneKind::ALL {
        let entries = if_exists(fs::read_dir(directory.join(kind.folder())))?;
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            if is_generated(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    if_exists(fs::remove_file(directory.join(SIDECAR))).map(drop)
}

fn is_generated(name: &str) -> bool {
    let Some((stem, number)) = name.strip_suffix(".jpg").and_then(|name| name.rsplit_once('-'))
    else {
        return false;
    };
    let is_scene = SceneKind::ALL.iter().any(|kind| kind.file_stem() == stem);
    is_scene && number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a file exists with content. Such a file is complete, because `write_atomically` creates it.
fn is_complete(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

fn jpeg(sample: &SampleImage) -> io::Result<Vec<u8>> {
    tessera_picture::encode_jpeg(&render(sample), JPEG_QUALITY).map_err(io::Error::other)
}

/// Writes one JSON object per image and line, as image-folder datasets have it. Boxes are x, y, width and height in
/// fractions of the image.
fn sidecar(samples: &[SampleImage]) -> String {
    samples
        .iter()
        .fold(String::new(), |lines, sample| lines + &row(sample, samples).to_string() + "\n")
}

fn row(sample: &SampleImage, samples: &[SampleImage]) -> Value {
    let objects: Vec<Value> = sample
        .objects
        .iter()
        .map(|object| {
            let r = object.region;
            let round = |v: f64| (v * 1e4).floor() / 1e4;
            json!({
                "label": object.label,
                "bbox": [round(r.x), round(r.y), round(r.width).max(1e-4), round(r.height).max(1e-4)],
            })
        })
        .collect();
    let mut row = json!({
        "file_name": portable(&sample.file),
        "caption": sample.caption,
        "labels": sample.labels,
        "objects": objects,
        "kind": sample.kind.label(),
    });
    if let Some(issue) = sample.planted {
        row["planted"] = json!(issue.name());
        if let PlantedIssue::NearDuplicate { original, edit } = issue {
            row["near_duplicate_of"] = json!(portable(&samples[original].file));
            row["edit"] = json!(edit.name());
        }
    }
    row
}

/// Returns a path with slashes on every system.
fn portable(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
