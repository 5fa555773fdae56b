//! Reads sidecars in the common dataset formats. Sidecars are files next to images with captions, labels, tags and
//! object boxes. `read` lists the formats in the order of their precedence; a new format needs a module here and a line
//! there.
//!
//! Sidecars are untrusted. Sizes and texts are bounded, every row is validated on its own, problems are reported per
//! file, and nothing outside the folder is opened.

mod coco;
mod cvat;
mod description;
mod diagnostics;
mod export_document;
mod file_index;
mod image_annotations;
mod metadata_row;
mod metadata_tables;
mod open_images;
mod own_columns;
mod sidecar_names;
mod sidecar_reader;
mod text_file;
mod yolo;

pub(crate) use description::push_caption;
pub use description::{BoundingBox, LabeledBox, MediaDescription, push_name};
pub use sidecar_reader::SidecarData;

use std::{ffi::OsStr, path::Path};

pub(crate) use file_index::parallel_path;
pub(crate) use sidecar_names::describes_many;

use super::{FolderScan, OriginalFiles, is_parquet};
use file_index::FileIndex;
use image_annotations::{ANNOTATION_FOLDERS, read_json, read_voc};
use metadata_tables::{read_csv, read_image_tables, read_jsonl, read_parquet};
use sidecar_reader::SidecarReader;
use text_file::{ClassNames, LABEL_FOLDERS, read_class_files};

/// The folders, parallel to the image folder, with a sidecar for each image, and the extension of these sidecars.
pub(crate) const PARALLEL_SIDECARS: [(&str, &str); 4] = [
    (LABEL_FOLDERS[0], "txt"),
    (LABEL_FOLDERS[1], "txt"),
    (ANNOTATION_FOLDERS[0], "xml"),
    (ANNOTATION_FOLDERS[1], "xml"),
];

/// Reads all sidecars of a folder. If several sidecars describe the same file, the first one in the order below wins,
/// separately for caption, labels and objects. Tags are merged.
pub fn read(folder: &dyn OriginalFiles, scan: &FolderScan) -> SidecarData {
    let mut reader = SidecarReader::new(folder, FileIndex::new(scan));
    let mut names = ClassNames::default();
    read_jsonl(&mut reader);
    read_parquet(&mut reader);
    export_document::read(&mut reader);
    read_image_tables(&mut reader);
    read_csv(&mut reader);
    coco::read(&mut reader);
    cvat::read(&mut reader);
    open_images::read(&mut reader);
    read_json(&mut reader);
    read_voc(&mut reader);
    text_file::read(&mut reader, &mut names);
    read_class_files(&mut reader, &mut names);
    label_by_folder(&mut reader);
    reader.data
}

/// Names that say nothing about the media, in lower case and without trailing digits (`train2017`).
const GENERIC_NAMES: &str = "all annotation annotations data dataset datasets dcim default dev \
    files frames image images img imgs input jpeg jpegimages jpegs jpg label labels media \
    obj_train_data output photo photos pics picture pictures png pngs raw test testing train \
    training uploads val valid validation video videos";

fn label_by_folder(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let labeled = reader.data.descriptions.get(media).is_some_and(|d| !d.labels.is_empty());
        if let Some(label) = label_from_folder(media).filter(|_| !labeled) {
            let mut description = MediaDescription::default();
            push_name(&mut description.labels, label);
            reader.add_description(media, description);
        }
    }
}

fn label_from_folder(media: &Path) -> Option<&str> {
    let folder = media.parent()?;
    // The images in a Parquet file count as files of the folder that contains the Parquet file.
    let folder = if is_parquet(folder) { folder.parent()? } else { folder };
    let name = folder.file_name().and_then(OsStr::to_str)?;
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    let generic = word.is_empty()
        || GENERIC_NAMES.split(' ').any(|generic| generic.eq_ignore_ascii_case(word));
    (!generic).then_some(name)
}
