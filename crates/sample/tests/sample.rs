//! The sample dataset: its plan, its pictures, and its folder.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use image::RgbImage;
use serde_json::Value;

use tessera_model::Region;
use tessera_sample::{LabeledBox, PlantedIssue, SceneKind, plan, render, write};

#[test]
fn a_plan_has_the_requested_size_and_distinct_files() {
    for images in [0, 1, 5, 15, 16, 59, 60, 240, 1000] {
        let samples = plan(images, 9);
        let files: HashSet<_> = samples.iter().map(|p| &p.file).collect();
        assert_eq!((samples.len(), files.len()), (images, images));
    }
}

#[test]
fn a_plan_is_reproducible() {
    assert_eq!(plan(50, 2), plan(50, 2));
    assert_ne!(plan(50, 2), plan(50, 3));
}

#[test]
fn every_kind_is_included_and_every_issue_is_planted_twice() {
    for images in [60, 61, 100, 240, 1000] {
        let samples = plan(images, 4);
        let kinds: HashSet<SceneKind> = samples.iter().map(|p| p.kind).collect();
        assert_eq!(kinds.len(), SceneKind::ALL.len());
        for name in ["near-duplicate", "blurred", "dark", "bright"] {
            let count = samples
                .iter()
                .filter(|p| p.planted.as_ref().is_some_and(|planted| planted.name() == name))
                .count();
            assert!(count >= 2 && count <= images / 20, "{images}: {count} {name}");
        }
    }
}

#[test]
fn originals_of_near_duplicates_have_no_issue() {
    let samples = plan(240, 6);
    let mut originals = HashSet::new();
    for sample in &samples {
        if let Some(PlantedIssue::NearDuplicate { original, .. }) = sample.planted {
            assert_eq!(samples[original].planted, None);
            originals.insert(original);
        }
    }
    assert!(originals.len() >= 2);
}

#[test]
fn an_image_is_reproducible_and_unique() {
    let samples = plan(SceneKind::ALL.len(), 3);
    let mut unique = HashSet::new();
    for sample in &samples {
        let image = render(sample);
        assert_eq!(image.dimensions(), (sample.width, sample.height));
        assert!(unique.insert(image.into_raw()), "{}", sample.file.display());
    }
    assert!(render(&samples[0]) == render(&plan(SceneKind::ALL.len(), 3)[0]));
    assert!(render(&samples[0]) != render(&plan(SceneKind::ALL.len(), 4)[0]));
}

#[test]
fn no_image_is_flat_or_empty() {
    for sample in plan(SceneKind::ALL.len(), 8) {
        let image = render(&sample);
        let shades: HashSet<[u8; 3]> = image.pixels().map(|p| p.0.map(|v| v / 16)).collect();
        let black = image.pixels().filter(|p| p.0 == [0; 3]).count();
        assert!(shades.len() > 20, "{}: {}", sample.file.display(), shades.len());
        assert!(black * 2 < image.pixels().len(), "{}", sample.file.display());
    }
}

#[test]
fn annotations_are_inside_the_image_and_in_the_caption() {
    let samples = plan(600, 1);
    for sample in &samples {
        let name = sample.file.display();
        let caption = &sample.caption;
        assert!(caption.to_lowercase().contains(sample.kind.label()), "{name}: {caption}");
        assert_eq!(sample.labels[0], sample.kind.label());
        for LabeledBox { label, region: r } in &sample.objects {
            let inside = Region::new(r.x, r.y, r.width, r.height).is_some();
            assert!(inside, "{name}: {label} {r:?}");
            assert!(sample.labels.contains(label), "{name}: {label}");
        }
    }
    let captions: HashSet<&str> = samples.iter().map(|p| p.caption.as_str()).collect();
    assert!(captions.len() * 10 > samples.len() * 8, "{} of {}", captions.len(), samples.len());
}

#[test]
fn planted_issues_are_visible() {
    let brightness = |image: &RgbImage| {
        let sum: u64 = image.as_raw().iter().map(|v| u64::from(*v)).sum();
        sum / image.as_raw().len() as u64
    };
    let samples = plan(60, 5);
    let planted = |wanted: PlantedIssue| {
        let found = samples.iter().find(|p| p.planted == Some(wanted));
        render(found.expect("planted"))
    };
    assert!(brightness(&planted(PlantedIssue::Dark)) < 48);
    assert!(brightness(&planted(PlantedIssue::Bright)) > 170);
    for copy in &samples {
        if let Some(PlantedIssue::NearDuplicate { original, .. }) = copy.planted {
            assert_eq!(render(copy).dimensions(), (copy.width, copy.height));
            assert_eq!(copy.caption, samples[original].caption);
        }
    }
}

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

    let begun = tempfile::tempdir().expect("folder");
    fs::write(begun.path().join(".new-1"), b"{")
        .expect("the unfinished marker of a killed process");
    write(begun.path(), 6, 1, |_, _| {}).expect("completed");
    assert_eq!(files(begun.path()).len(), 6 + 2 + 1);
    fs::remove_dir_all(begun.path().join(first[0].file.parent().expect("scene"))).expect("removed");
    write(begun.path(), 6, 1, |_, _| {}).expect("the marker comes before the folders");
    write(begun.path(), 6, 2, |_, _| {}).expect("another dataset");
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
