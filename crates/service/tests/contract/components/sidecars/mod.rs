//! Sidecars in a folder on disk, and tests that concern all formats together.

use std::{
    fs,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use tempfile::TempDir;
use tessera_model::Annotation;

use tessera_media::ingest::{
    FolderPatterns, SandboxedDir, scan_folder,
    sidecar::{BoundingBox, SidecarData, read},
};

mod coco;
mod cvat;
mod descriptions;
mod export_document;
mod file_names;
mod kitti;
mod labelme;
mod metadata_csv;
mod metadata_jsonl;
mod metadata_parquet;
mod objects;
mod open_images;
mod photo_files;
mod stated_size;
mod text_file;
mod voc;
mod webdataset;
mod yolo;

/// A temporary folder with empty media files and sidecars.
pub struct TestFolder(TempDir);

impl TestFolder {
    pub fn with_media(media: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for path in media {
            folder.write(path, "");
        }
        folder
    }

    /// The absolute path of a file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read_sidecars(&self) -> SidecarData {
        let folder = SandboxedDir::open(self.0.path()).unwrap();
        read(&folder, &scan_folder(&folder, &FolderPatterns::default()).unwrap())
    }

    /// The descriptions of its media files, formatted by [`describe`].
    pub fn descriptions(&self) -> Vec<String> {
        let reading = self.read_sidecars();
        let rows = reading.descriptions.iter().map(|(path, description)| {
            let objects: Vec<_> = description.objects.iter().map(|o| o.label.as_str()).collect();
            describe(
                path.to_str().unwrap(),
                description.caption.as_deref().unwrap_or(""),
                &description.labels.join(" "),
                &description.tags.join(" "),
                &objects.join(" "),
            )
        });
        rows.collect()
    }

    /// The boxes of the objects in a media file.
    pub fn boxes(&self, path: &str) -> Vec<BoundingBox> {
        let reading = self.read_sidecars();
        let objects = &reading.descriptions[Path::new(path)].objects;
        objects.iter().map(|object| object.bounding_box).collect()
    }

    /// The outlines of the objects of a file.
    pub fn polygons(&self, media: &str) -> Vec<Vec<Vec<f64>>> {
        let objects = &self.read_sidecars().descriptions[Path::new(media)].objects;
        objects.iter().map(|object| object.annotation.polygons.clone()).collect()
    }

    pub fn annotations(&self, media: &str) -> Vec<Annotation> {
        let objects = &self.read_sidecars().descriptions[Path::new(media)].objects;
        objects.iter().map(|object| object.annotation.clone()).collect()
    }

    /// The problem of a sidecar.
    pub fn problem_of(&self, path: &str) -> String {
        self.read_sidecars().problems[Path::new(path)].clone()
    }
}

/// A box in pixels.
pub fn pixels(x: f64, y: f64, width: f64, height: f64) -> BoundingBox {
    BoundingBox::Pixels { x, y, width, height }
}

/// Returns left, top, width and height of a box in pixels, with two decimals.
pub fn rounded(bounding_box: &BoundingBox) -> [f64; 4] {
    let BoundingBox::Pixels { x, y, width, height } = *bounding_box else { return [0.0; 4] };
    [x, y, width, height].map(|side| (side * 100.0).round() / 100.0)
}

/// Formats a description.
pub fn describe(path: &str, caption: &str, labels: &str, tags: &str, objects: &str) -> String {
    format!("{path}: caption ({caption}), labels ({labels}), tags ({tags}), objects ({objects})")
}

#[test]
fn formats_take_precedence_and_complete_each_other() {
    let folder = TestFolder::with_media(&["cat/1.jpg", "cat/2.jpg", "cat/3.jpg", "cat/4.jpg"]);
    let coco = |objects: bool| {
        let images: Vec<_> =
            (1..4).map(|n| format!(r#"{{"id": {n}, "file_name": "{n}.jpg"}}"#)).collect();
        let rows: Vec<_> = (1..4)
            .map(|n| {
                if objects {
                    format!(r#"{{"image_id": {n}, "category_id": 1, "bbox": [1, 1, 2, 2]}}"#)
                } else {
                    format!(r#"{{"image_id": {n}, "caption": "coco"}}"#)
                }
            })
            .collect();
        let (images, rows) = (images.join(","), rows.join(","));
        format!(
            r#"{{"images": [{images}], "annotations": [{rows}], "categories": [{{"id": 1, "name": "coco"}}]}}"#
        )
    };
    let jsonl = r#"{"file_name": "cat/1.jpg", "caption": "jsonl", "tags": ["x"],
        "objects": [{"label": "jsonl", "bbox": [0, 0, 1, 1]}]}"#;
    let table = "file_name,caption,labels,tags\n\
        cat/1.jpg,csv,csv,y|x\ncat/2.jpg,csv,,z\n";
    let xml = "<annotation><object><name>voc</name><bndbox><xmin>1</xmin><ymin>1</ymin>\
        <xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>";
    folder.write("metadata.jsonl", jsonl.replace('\n', " "));
    folder.write("metadata.csv", table);
    folder.write("captions.json", coco(false));
    folder.write("instances.json", coco(true));
    for n in 1..5 {
        folder.write(&format!("cat/{n}.xml"), xml);
        folder.write(&format!("cat/{n}.txt"), "text");
    }
    let expected = [
        describe("cat/1.jpg", "jsonl", "csv", "x y", "jsonl"),
        describe("cat/2.jpg", "csv", "cat", "z", "coco"),
        describe("cat/3.jpg", "coco", "cat", "", "coco"),
        describe("cat/4.jpg", "text", "cat", "", "voc"),
    ];
    assert_eq!(folder.descriptions(), expected);
    // Files of single pictures are not compared.
    let problems: Vec<_> = folder.read_sidecars().problems.into_values().collect();
    let from = |file| format!("what it says about 1 picture differs from {file}, and is not used");
    let both = [from("metadata.csv"), from("metadata.jsonl")].join("; ");
    assert_eq!(problems, [both, from("metadata.jsonl"), from("metadata.jsonl")]);
}

#[test]
fn files_of_one_format_extend_each_other() {
    let folder = TestFolder::with_media(&["images/a.jpg", "images/b.jpg", "images/c.jpg"]);
    let coco = |annotations: &str, class: &str| {
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "a.jpg", "width": 32, "height": 24}}],
            "annotations": [{annotations}], "categories": [{{"id": 1, "name": "{class}"}}]}}"#
        )
    };
    let man = r#"{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}"#;
    let joints = man.replace('}', r#", "keypoints": [2, 3, 2]}"#);
    folder.write("cars.json", coco(&man.replace("[1,", "[2,"), "car"));
    folder.write("instances.json", coco(man, "man"));
    folder.write("person_keypoints.json", coco(&joints, "man"));
    folder.write("small.json", coco(man, "dog").replace("32", "16"));
    let voc = |name: &str| {
        format!(
            "<annotation><object><name>{name}</name><bndbox><xmin>1</xmin><ymin>1</ymin>\
             <xmax>2</xmax><ymax>2</ymax></bndbox></object></annotation>"
        )
    };
    folder.write("cars/b.xml", voc("car"));
    folder.write("people/b.xml", voc("man"));
    folder.write(
        "images/metadata.csv",
        "file_name,label,caption\nc.jpg,cat,one\nc.jpg,dog,two\n./c.jpg,cat,one\n",
    );
    folder.write("images/metadata.jsonl", r#"{"file_name": "c.jpg", "label": "cat"}"#);
    let expected = [
        describe("images/a.jpg", "", "", "", "car man"),
        describe("images/b.jpg", "", "", "", "car man"),
        describe("images/c.jpg", "one two", "cat", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let keypoints: Vec<_> =
        folder.annotations("images/a.jpg").into_iter().map(|it| it.keypoints).collect();
    assert_eq!(keypoints, [vec![], vec![2.0, 3.0, 2.0]]);
    let why = "what it says about 1 picture differs from cars.json, and is not used";
    assert_eq!(folder.problem_of("small.json"), why);
    let why = "what it says about 1 picture differs from images/metadata.jsonl, and is not used";
    assert_eq!(folder.problem_of("images/metadata.csv"), why);
}

#[test]
fn rows_of_frames_in_an_export_do_not_extend_each_other() {
    let folder = TestFolder::with_media(&["clip.mp4"]);
    let row = |frame: &str, label: &str| {
        format!(
            r#"{{"media_id": "{frame}", "file_name": "clip.mp4/{frame}.jpg", "label": "{label}"}}"#
        )
    };
    folder.write("metadata.jsonl", format!("{}\n{}\n", row("1", "cat"), row("2", "dog")));
    assert_eq!(folder.descriptions(), [describe("clip.mp4", "", "cat", "", "")]);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn rows_cannot_describe_sidecars() {
    let is_described = |path: &str| {
        let folder = TestFolder::with_media(&[path]);
        let row = format!(
            r#"{{"images": [{{"id": 1, "file_name": "{path}"}}],
                "annotations": [{{"image_id": 1, "caption": "x"}}]}}"#
        );
        folder.write("annotations/rows.json", row);
        folder.read_sidecars().descriptions.contains_key(Path::new(path))
    };
    for path in [
        "metadata.jsonl",
        "a/b.txt",
        "a.xml",
        "any.json",
        "data.yaml",
        "obj.names",
        "b.CLS",
        "a.tsv",
    ] {
        assert!(!is_described(path), "{path}");
    }
    for path in ["a.jpg", "txt", "a.md"] {
        assert!(is_described(path), "{path}");
    }
}

/// Tokens of all formats.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\r\n",
    " ",
    "\"",
    "'",
    "#",
    "- ",
    "0",
    "1",
    "-1",
    "0.5",
    "1e400",
    "null",
    "\"file_name\":",
    "\"a.jpg\"",
    "\"objects\":",
    "\"bbox\":",
    "\"label\":",
    "\"categories\":",
    "\"images\":",
    "\"annotations\":",
    "\"id\":",
    "\"image_id\":",
    "\"shapes\":[",
    "\"points\":[[1,2],[3,4]]",
    "NaN",
    "-Infinity",
    "<annotations>",
    "<image name='a.jpg' width='9'>",
    "{\"media_items\":[",
    "\"file_path\":",
    "\"metadata_items\":",
    "names:",
    "&a ",
    "*a",
    "\nImageID,LabelName,XMin,XMax,YMin,YMax\n",
    "\na,/m/1,0,1,0,1\n",
    "file_name,labels,objects\n",
    "a.jpg,",
    "<annotation>",
    "<object>",
    "<name>x</name>",
    "<bndbox>",
    "<xmin>1</xmin>",
    "</bndbox>",
    "</object>",
    "</annotation>",
    "<!DOCTYPE a [",
    "\u{feff}",
    "\\",
    "..",
    "/",
];

/// Random sequences of tokens, so that parsers get past the first byte.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(FRAGMENTS).prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn parsers_accept_any_bytes(bytes in pieces()) {
        let folder = TestFolder::with_media(&["a.jpg", "images/b.jpg"]);
        let sidecars = [
            "metadata.jsonl", "metadata.csv", "metadata.parquet", "coco.json", "a.xml", "a.txt", "labels/b.txt",
            "data.yaml", "classes.txt", "a.json", "a.cls", "x-annotations-bbox.csv",
            "class-descriptions.csv", "images/metadata.json",
        ];
        for sidecar in sidecars {
            folder.write(sidecar, &bytes);
        }
        let reading = folder.read_sidecars();
        for (path, problem) in &reading.problems {
            prop_assert!(sidecars.iter().any(|sidecar| path == Path::new(sidecar)));
            prop_assert!(problem.chars().count() < 1_000 && !problem.contains('\n'), "{}", problem);
        }
        for path in reading.descriptions.keys() {
            prop_assert!(["a.jpg", "images/b.jpg"].iter().any(|media| path == Path::new(media)));
        }
    }
}
