//! The sample dataset as a folder: JPEG files, a `metadata.jsonl` beside them, and a small mark
//! that says which dataset it is, so that a finished folder is left alone and an interrupted one
//! is completed.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Kind, PAINTER_VERSION, Painting, Planted, paint, plan};

const MARK: &str = ".tessera-sample.json";
const SIDECAR: &str = "metadata.jsonl";
const QUALITY: u8 = 88;

/// Paints the dataset of this many images into a folder, on all cores, and tells what it painted.
///
/// `progress` hears how many of how many images stand, from any thread. Files that already stand
/// are not painted again; pictures of another sample dataset in the same folder are replaced.
///
/// # Errors
/// The folder holds other files but no sample dataset, or cannot be written.
pub fn write(
    directory: &Path,
    images: usize,
    seed: u64,
    progress: impl Fn(usize, usize) + Sync,
) -> io::Result<Vec<Painting>> {
    claim(directory, images, seed)?;
    let paintings = plan(images, seed);
    let missing: Vec<&Painting> =
        paintings.iter().filter(|p| !stands(&directory.join(&p.file))).collect();
    let done = AtomicUsize::new(images - missing.len());
    progress(images - missing.len(), images);
    missing.into_par_iter().try_for_each(|painting| {
        put(&directory.join(&painting.file), &jpeg(painting)?)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, images);
        Ok::<(), io::Error>(())
    })?;
    if !stands(&directory.join(SIDECAR)) {
        put(&directory.join(SIDECAR), sidecar(&paintings).as_bytes())?;
    }
    Ok(paintings)
}

/// Makes the folder and its sub-folders, and marks it as the home of this dataset.
fn claim(directory: &Path, images: usize, seed: u64) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mark = json!({ "painter": PAINTER_VERSION, "seed": seed, "images": images }).to_string();
    let path = directory.join(MARK);
    match fs::read_to_string(&path) {
        Ok(found) if found == mark => {}
        Ok(_) => clear(directory)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::read_dir(directory)?.next().is_some() {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!(
                        "{} holds other files; choose an empty folder for the sample dataset",
                        directory.display()
                    ),
                ));
            }
        }
        Err(error) => return Err(error),
    }
    for kind in Kind::ALL {
        fs::create_dir_all(directory.join(kind.theme()))?;
    }
    put(&path, mark.as_bytes())
}

/// Removes what an earlier painting of another dataset left: only files named as ours.
fn clear(directory: &Path) -> io::Result<()> {
    for kind in Kind::ALL {
        let folder = directory.join(kind.theme());
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            if is_ours(*kind, &entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    match fs::remove_file(directory.join(SIDECAR)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_ours(kind: Kind, name: &str) -> bool {
    name.strip_prefix(kind.stem().as_str())
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.strip_suffix(".jpg"))
        .is_some_and(|number| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// True for a file with content: files get their name only when they are whole.
fn stands(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Writes a file whole or not at all.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new().prefix(".part-").tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.persist(path)?;
    Ok(())
}

fn jpeg(painting: &Painting) -> io::Result<Vec<u8>> {
    let image = paint(painting);
    let size = |side: u32| u16::try_from(side).map_err(io::Error::other);
    let mut bytes = Vec::with_capacity(96 << 10);
    jpeg_encoder::Encoder::new(&mut bytes, QUALITY)
        .encode(
            &image,
            size(image.width())?,
            size(image.height())?,
            jpeg_encoder::ColorType::Rgb,
        )
        .map_err(io::Error::other)?;
    Ok(bytes)
}

/// One line of JSON an image, as image-folder datasets have it; boxes are x, y, width and height
/// in fractions of the picture.
fn sidecar(paintings: &[Painting]) -> String {
    paintings.iter().map(|painting| format!("{}\n", row(painting))).collect()
}

fn row(painting: &Painting) -> Value {
    let file: Vec<_> = painting.file.iter().map(|part| part.to_string_lossy()).collect();
    let objects: Vec<Value> = painting
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
        "file_name": file.join("/"),
        "caption": painting.caption,
        "labels": painting.labels,
        "objects": objects,
        "kind": painting.kind.word(),
    });
    if let Some(planted) = &painting.planted {
        row["planted"] = json!(planted.word());
        if let Planted::NearDuplicate { of, edit, .. } = planted {
            row["near_duplicate_of"] = json!(of.to_string_lossy().replace('\\', "/"));
            row["edit"] = json!(edit.words());
        }
    }
    row
}
