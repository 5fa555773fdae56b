//! The sample dataset as a folder: JPEG files and their `metadata.jsonl`. A marker file identifies the
//! dataset, so that a complete folder is left alone and an interrupted one is completed.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{PlantedIssue, SampleImage, SceneKind, plan, render};

/// Raised whenever the same plan renders to other pixels.
const GENERATOR_VERSION: u32 = 3;
const SIDECAR: &str = "metadata.jsonl";
const MARKER: &str = ".tessera-sample.json";
const JPEG_QUALITY: u8 = 88;

/// Kinds of earlier versions, whose images are replaced as well.
const FORMER_KINDS: [&str; 7] = ["sea", "mountains", "forest", "fish", "winter", "street", "field"];

/// Writes the dataset of this many images into a folder, on all cores, and returns its plan.
///
/// `progress` receives the number of images done and the total, on any thread. Images that exist
/// already are kept; those of another sample dataset in the same folder are replaced.
///
/// # Errors
/// The folder contains other files but no sample dataset, or cannot be written.
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
        write_atomically(&directory.join(&sample.file), &jpeg(sample)?)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, images);
        Ok::<(), io::Error>(())
    })?;
    if !is_complete(&directory.join(SIDECAR)) {
        write_atomically(&directory.join(SIDECAR), sidecar(&samples).as_bytes())?;
    }
    Ok(samples)
}

/// Creates the folder and its subfolders, with the marker of this dataset.
fn prepare(directory: &Path, images: usize, seed: u64) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let marker =
        json!({ "painter": GENERATOR_VERSION, "seed": seed, "images": images }).to_string();
    let path = directory.join(MARKER);
    let found = match fs::read_to_string(&path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if found.is_none() && fs::read_dir(directory)?.next().is_some() {
        let message = format!(
            "{} contains other files; choose an empty folder for the sample dataset",
            directory.display()
        );
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    for kind in SceneKind::ALL {
        fs::create_dir_all(directory.join(kind.folder()))?;
    }
    if found.as_ref() == Some(&marker) {
        return Ok(());
    }
    if found.is_some() {
        remove_generated(directory)?;
    }
    write_atomically(&path, marker.as_bytes())
}

/// Removes the images and the sidecar of another sample dataset, and no other files.
fn remove_generated(directory: &Path) -> io::Result<()> {
    for kind in SceneKind::ALL {
        for entry in fs::read_dir(directory.join(kind.folder()))? {
            let entry = entry?;
            if is_generated(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    match fs::remove_file(directory.join(SIDECAR)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_generated(name: &str) -> bool {
    let Some((stem, number)) = name.strip_suffix(".jpg").and_then(|name| name.rsplit_once('-'))
    else {
        return false;
    };
    let kind = FORMER_KINDS.contains(&stem) || SceneKind::ALL.iter().any(|k| k.file_stem() == stem);
    kind && number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit())
}

/// Files are complete as soon as they exist with content: see `write_atomically`.
fn is_complete(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
}

fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new().prefix(".part-").tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.persist(path)?;
    Ok(())
}

fn jpeg(sample: &SampleImage) -> io::Result<Vec<u8>> {
    let image = render(sample);
    let size = |side: u32| u16::try_from(side).map_err(io::Error::other);
    let mut bytes = Vec::with_capacity(96 << 10);
    jpeg_encoder::Encoder::new(&mut bytes, JPEG_QUALITY)
        .encode(&image, size(image.width())?, size(image.height())?, jpeg_encoder::ColorType::Rgb)
        .map_err(io::Error::other)?;
    Ok(bytes)
}

/// One JSON object per image and line, as in image-folder datasets; boxes are x, y, width and height
/// in fractions of the image.
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

/// A path with slashes on every system.
fn portable(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

    use super::{super::Region, *};

    fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        walkdir::WalkDir::new(directory)
            .into_iter()
            .map(|entry| entry.expect("readable").into_path())
            .filter(|path| path.is_file())
            .map(|path| {
                let changed = fs::metadata(&path).expect("metadata").modified().expect("time");
                let bytes = fs::read(&path).expect("bytes");
                (path.strip_prefix(directory).expect("inside").to_owned(), (bytes, changed))
            })
            .collect()
    }

    fn bytes(files: &BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) -> Vec<(&Path, &[u8])> {
        files.iter().map(|(path, (bytes, _))| (path.as_path(), bytes.as_slice())).collect()
    }

    #[test]
    fn a_complete_folder_is_left_alone_and_an_interrupted_one_completed() {
        let folder = tempfile::tempdir().expect("folder");
        let first = write(folder.path(), 6, 1, |_, _| {}).expect("written");
        let whole = files(folder.path());
        assert_eq!(whole.len(), 6 + 2, "images, sidecar and marker");

        assert_eq!(write(folder.path(), 6, 1, |_, _| {}).expect("again"), first);
        assert!(files(folder.path()) == whole, "no file is written again");

        fs::remove_file(folder.path().join(&first[2].file)).expect("removed");
        fs::write(folder.path().join(&first[4].file), b"").expect("emptied");
        fs::remove_file(folder.path().join(SIDECAR)).expect("removed");
        let reports = std::sync::Mutex::new(Vec::new());
        write(folder.path(), 6, 1, |done, of| {
            reports.lock().expect("lock").push((done, of));
        })
        .expect("completed");
        assert!(bytes(&files(folder.path())) == bytes(&whole), "the same bytes as before");
        let mut reports = reports.into_inner().expect("lock");
        reports.sort_unstable();
        assert_eq!(reports, [(4, 6), (5, 6), (6, 6)]);
    }

    #[test]
    fn another_dataset_replaces_the_images_but_no_other_files() {
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path(), 5, 1, |_, _| {}).expect("first");
        let note = folder.path().join("water").join("holiday.jpg");
        fs::create_dir_all(folder.path().join("water")).expect("folder");
        fs::write(&note, b"mine").expect("note");
        fs::write(folder.path().join("water/sea-0001.jpg"), b"former kind").expect("old image");
        let second = write(folder.path(), 2, 2, |_, _| {}).expect("second");
        assert_eq!(files(folder.path()).len(), 2 + 2 + 1);
        assert_eq!(fs::read(note).expect("kept"), b"mine");
        assert!(second.iter().all(|p| is_complete(&folder.path().join(&p.file))));
    }

    #[test]
    fn a_folder_with_other_files_is_refused() {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("thesis.txt"), b"precious").expect("file");
        let error = write(folder.path(), 2, 1, |_, _| {}).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("choose an empty folder"));
        assert_eq!(files(folder.path()).len(), 1);
    }

    #[test]
    fn the_sidecar_describes_each_image_in_one_line() {
        let samples = plan(120, 3);
        let text = sidecar(&samples);
        assert_eq!(text.lines().count(), 120);
        for (line, sample) in text.lines().zip(&samples) {
            let row: Value = serde_json::from_str(line).expect("json");
            assert_eq!(row["caption"], sample.caption.as_str());
            assert_eq!(Path::new(row["file_name"].as_str().expect("name")), sample.file);
            assert_eq!(row["objects"].as_array().expect("objects").len(), sample.objects.len());
            for object in row["objects"].as_array().expect("objects") {
                let at = |i: usize| object["bbox"][i].as_f64().expect("number");
                let inside = Region::new(at(0), at(1), at(2), at(3));
                assert!(inside.is_some(), "{line}");
            }
        }
    }
}
