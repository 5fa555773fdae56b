//! The dataset as a folder.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde_json::Value;
use tessera_model::Region;
use tessera_sample::write;

const SIDECAR: &str = "metadata.jsonl";

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
    let second = write(folder.path(), 2, 2, |_, _| {}).expect("second");
    assert_eq!(files(folder.path()).len(), 2 + 2 + 1);
    assert_eq!(fs::read(note).expect("kept"), b"mine");
    let size = |file: &Path| fs::metadata(folder.path().join(file)).expect("image").len();
    assert!(second.iter().all(|sample| size(&sample.file) > 0));
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
    let folder = tempfile::tempdir().expect("folder");
    let samples = write(folder.path(), 120, 3, |_, _| {}).expect("written");
    let text = fs::read_to_string(folder.path().join(SIDECAR)).expect("sidecar");
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
