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

/// The file with captions, labels and boxes.
const SIDECAR: &str = "metadata.jsonl";

const MARK: &str = ".tessera-sample.json";
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
    let found = match fs::read_to_string(&path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if found.is_none() && fs::read_dir(directory)?.next().is_some() {
        let sentence = format!(
            "{} holds other files; choose an empty folder for the sample dataset",
            directory.display()
        );
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, sentence));
    }
    for kind in Kind::ALL {
        fs::create_dir_all(directory.join(kind.theme()))?;
    }
    if found.as_ref() == Some(&mark) {
        return Ok(());
    }
    if found.is_some() {
        clear(directory)?;
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
        .encode(&image, size(image.width())?, size(image.height())?, jpeg_encoder::ColorType::Rgb)
        .map_err(io::Error::other)?;
    Ok(bytes)
}

/// One line of JSON an image, as image-folder datasets have it; boxes are x, y, width and height
/// in fractions of the picture.
fn sidecar(paintings: &[Painting]) -> String {
    paintings
        .iter()
        .fold(String::new(), |lines, painting| lines + &row(painting).to_string() + "\n")
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

    use super::*;

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

    fn bytes(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        files(directory).into_iter().map(|(path, (bytes, _))| (path, bytes)).collect()
    }

    #[test]
    fn a_finished_folder_is_left_alone_and_an_interrupted_one_completed() {
        let room = tempfile::tempdir().expect("room");
        let first = write(room.path(), 6, 1, |_, _| {}).expect("written");
        let whole = files(room.path());
        assert_eq!(whole.len(), 6 + 2, "pictures, sidecar and mark");

        assert_eq!(write(room.path(), 6, 1, |_, _| {}).expect("again"), first);
        assert!(files(room.path()) == whole, "nothing is written twice");

        fs::remove_file(room.path().join(&first[2].file)).expect("removed");
        fs::write(room.path().join(&first[4].file), b"").expect("emptied");
        fs::remove_file(room.path().join(SIDECAR)).expect("removed");
        let heard = std::sync::Mutex::new(Vec::new());
        write(room.path(), 6, 1, |done, of| {
            heard.lock().expect("lock").push((done, of));
        })
        .expect("completed");
        let after: BTreeMap<_, _> =
            whole.into_iter().map(|(path, (bytes, _))| (path, bytes)).collect();
        assert!(bytes(room.path()) == after, "the same bytes as before");
        let mut heard = heard.into_inner().expect("lock");
        heard.sort_unstable();
        assert_eq!(heard, [(4, 6), (5, 6), (6, 6)]);
    }

    #[test]
    fn another_dataset_replaces_the_pictures_but_nothing_else() {
        let room = tempfile::tempdir().expect("room");
        write(room.path(), 5, 1, |_, _| {}).expect("first");
        let note = room.path().join("water").join("holiday.jpg");
        fs::create_dir_all(room.path().join("water")).expect("folder");
        fs::write(&note, b"mine").expect("note");
        let second = write(room.path(), 2, 2, |_, _| {}).expect("second");
        assert_eq!(files(room.path()).len(), 2 + 2 + 1);
        assert_eq!(fs::read(note).expect("kept"), b"mine");
        assert!(second.iter().all(|p| stands(&room.path().join(&p.file))));
    }

    #[test]
    fn a_folder_with_other_files_is_refused() {
        let room = tempfile::tempdir().expect("room");
        fs::write(room.path().join("thesis.txt"), b"precious").expect("file");
        let error = write(room.path(), 2, 1, |_, _| {}).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains("choose an empty folder"));
        assert_eq!(files(room.path()).len(), 1);
    }

    #[test]
    fn the_sidecar_has_one_line_of_facts_an_image() {
        let paintings = plan(120, 3);
        let text = sidecar(&paintings);
        assert_eq!(text.lines().count(), 120);
        for (line, painting) in text.lines().zip(&paintings) {
            let row: Value = serde_json::from_str(line).expect("json");
            assert_eq!(row["caption"], painting.caption.as_str());
            assert_eq!(Path::new(row["file_name"].as_str().expect("name")), painting.file);
            assert_eq!(row["objects"].as_array().expect("objects").len(), painting.objects.len());
            for object in row["objects"].as_array().expect("objects") {
                let at = |i: usize| object["bbox"][i].as_f64().expect("number");
                let inside = tessera_model::Region::new(at(0), at(1), at(2), at(3));
                assert!(inside.is_some(), "{line}");
            }
        }
    }
}
