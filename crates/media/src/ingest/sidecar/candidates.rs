//! Which files may be sidecars, by their names.

use std::path::Path;

pub(super) use crate::ingest::scan::METADATA_PARQUET;

pub(super) const METADATA_JSONL: &str = "metadata.jsonl";
pub(super) const METADATA_CSV: &str = "metadata.csv";
pub(super) const CVAT_XML: &str = "annotations.xml";
/// Files with class names for YOLO boxes, in the order to look for them.
pub(super) const CLASS_NAME_FILES: [&str; 7] = [
    "data.yaml",
    "data.yml",
    "dataset.yaml",
    "dataset.yml",
    "classes.txt",
    "obj.names",
    "_darknet.labels",
];
/// The COCO file in every folder of a Roboflow export.
const ROBOFLOW_COCO: &str = "_annotations.coco.json";
/// The usual folder of COCO files, if not the root.
const COCO_FOLDER: &str = "annotations";

/// Whether a file may be a sidecar, so that no row can describe it as a media file.
pub(super) fn is_candidate(path: &Path) -> bool {
    let ends = |end: &str| path.extension().is_some_and(|extension| extension == end);
    is_named(path, &[METADATA_JSONL, METADATA_PARQUET, METADATA_CSV])
        || is_named(path, &CLASS_NAME_FILES)
        || ends("txt")
        || ends("xml")
        || ends("cls")
        || open_images_table(path).is_some()
        || may_be_coco(path)
}

pub(super) fn may_be_coco(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && (folder.is_none_or(|folder| folder.eq_ignore_ascii_case(COCO_FOLDER))
            || is_named(path, &[ROBOFLOW_COCO]))
}

/// The tables of Open Images: boxes, labels that people checked, and the names of classes. Their names
/// begin with a version and a part of the images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenImagesTable {
    Boxes,
    Labels,
    ClassNames,
}

pub(super) fn open_images_table(path: &Path) -> Option<OpenImagesTable> {
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

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
}
