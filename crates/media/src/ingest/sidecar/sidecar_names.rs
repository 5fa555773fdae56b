//! The names by which sidecars are recognized before they are opened.

use std::path::Path;

use crate::ingest::scan::{METADATA_PARQUET, is_parquet};

pub(crate) const METADATA_JSONL: &str = "metadata.jsonl";
/// Tables of texts.
pub(crate) const METADATA_TABLES: [&str; 2] = ["metadata.csv", "metadata.tsv"];
/// The metadata in the archive of an export.
pub(crate) const METADATA_JSON: &str = "metadata.json";
/// The notes of an export of Label Studio, which name the classes.
pub(crate) const NOTES_JSON: &str = "notes.json";
/// Files with the class names for YOLO boxes, in the order in which they are tried.
pub(crate) const CLASS_NAME_FILES: [&str; 9] = [
    "data.yaml",
    "data.yml",
    "dataset.yaml",
    "dataset.yml",
    // Label Studio writes both, and the numbers of its labels are those in its notes.
    NOTES_JSON,
    "classes.txt",
    "labels.txt",
    "obj.names",
    "_darknet.labels",
];
/// Returns what a file with the extension of a sidecar is if no reader has used it.
pub fn unused_sidecar_text(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "json" => "JSON without annotations in a known format (COCO, LabelMe, or an export)",
        "xml" => "XML without annotations in a known format (Pascal VOC or CVAT)",
        "jsonl" if !is_named(path, &[METADATA_JSONL]) => {
            "a table in JSON, which is read only if it is called metadata.jsonl"
        }
        "jsonl" | "csv" | "tsv" => {
            "a table without a column of pictures and one of captions, labels, tags or boxes"
        }
        "yaml" | "yml" if !is_named(path, &CLASS_NAME_FILES) => {
            "YAML that names no classes that labels use, such as settings of a program"
        }
        "yaml" | "yml" | "names" | "labels" => "a list of class names that no labels use",
        "txt" if path.iter().any(|part| part == "ImageSets") => {
            "a list of the pictures in a set of Pascal VOC, which is not read"
        }
        "caption" | "txt" | "cls" | "xmp" => "a description without a picture of its name",
        _ => return None,
    })
}

/// Whether a folder above a file has a name such as `labels`, `YOLO_annotations` or `bbox`.
pub(crate) fn is_in_label_folder(sidecar: &Path) -> bool {
    let folders = sidecar.parent().into_iter().flatten();
    folders
        .map(|folder| folder.to_string_lossy().to_lowercase())
        .any(|folder| ["label", "annot", "yolo", "bbox"].iter().any(|word| folder.contains(word)))
}

/// Whether a file has the name of a sidecar. Rows of tables cannot describe such a file as a media file.
pub(crate) fn may_be_sidecar(path: &Path) -> bool {
    is_parquet(path) || unused_sidecar_text(path).is_some()
}

/// Whether a file of this name describes many images, or names the classes of many.
pub(crate) fn describes_many(path: &Path) -> bool {
    is_named(path, &[METADATA_JSONL, METADATA_PARQUET, METADATA_JSON])
        || is_named(path, &METADATA_TABLES)
        || is_named(path, &CLASS_NAME_FILES)
}

/// The tables of Open Images: boxes, labels that people checked, and names of classes. The name of a table begins with
/// a version and with the part of the images that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenImagesTable {
    Boxes,
    Labels,
    ClassNames,
}

pub(crate) fn open_images_table(path: &Path) -> Option<OpenImagesTable> {
    let name = path.file_name()?.to_str()?.strip_suffix(".csv")?;
    let contains = |word| name.contains(word);
    if name.ends_with("annotations-bbox") {
        Some(OpenImagesTable::Boxes)
    } else if contains("annotations-human-imagelabels") {
        Some(OpenImagesTable::Labels)
    } else {
        contains("class-descriptions").then_some(OpenImagesTable::ClassNames)
    }
}

/// Whether a file has one of these names, in any case of letters.
pub(crate) fn is_named(path: &Path, names: &[&str]) -> bool {
    let is = |known: &&str| path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(known));
    names.iter().any(is)
}
