//! The names by which sidecars are recognized before they are opened.

use std::path::Path;

use crate::ingest::scan::METADATA_PARQUET;

pub(crate) const METADATA_JSONL: &str = "metadata.jsonl";
pub(crate) const METADATA_CSV: &str = "metadata.csv";
/// The metadata in the archive of an export.
pub(crate) const METADATA_JSON: &str = "metadata.json";
pub(crate) const CVAT_XML: &str = "annotations.xml";
/// Files with the class names for YOLO boxes, in the order in which they are tried.
pub(crate) const CLASS_NAME_FILES: [&str; 7] = [
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
/// The usual folder of COCO files that are not in the root.
const COCO_FOLDER: &str = "annotations";

/// The extensions of sidecars in lower case.
const SIDECAR_EXTENSIONS: [&str; 13] = [
    "cls", "csv", "json", "jsonl", "labels", "names", "parquet", "tsv", "txt", "xml", "xmp",
    "yaml", "yml",
];

/// Whether a file has the name of a sidecar. Rows of tables cannot describe such a file as a media file.
pub(crate) fn may_be_sidecar(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|end| SIDECAR_EXTENSIONS.contains(&&*end.to_ascii_lowercase()))
}

/// Whether a file of this name describes many images, or names the classes of many.
pub(crate) fn describes_many(path: &Path) -> bool {
    is_named(path, &[METADATA_JSONL, METADATA_PARQUET, METADATA_CSV, METADATA_JSON])
        || is_named(path, &CLASS_NAME_FILES)
}

pub(crate) fn may_be_coco(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && (folder.is_none_or(|folder| folder.eq_ignore_ascii_case(COCO_FOLDER))
            || is_named(path, &[ROBOFLOW_COCO]))
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

fn is_named(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| name == *known))
}
