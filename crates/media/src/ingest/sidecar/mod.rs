//! Reads sidecars: files next to images with captions, labels, tags and object boxes, in the common dataset formats. `read`
//! lists the formats in the order of their precedence; a new format is a module here and a line there.
//!
//! Sidecars are untrusted. Sizes and texts are bounded, every row is validated on its own, problems are reported per file,
//! and nothing outside the folder is opened.

mod coco;
mod cvat;
mod description;
mod file_index;
mod folder_name;
mod image_annotations;
mod json;
mod metadata_row;
mod metadata_tables;
mod open_images;
mod sidecar_reader;
mod text_file;

pub(crate) use description::push_caption;
pub use description::{BoundingBox, LabeledBox, MediaDescription, push_name};
pub use sidecar_reader::SidecarData;

use super::{FolderScan, OriginalFiles};
use file_index::FileIndex;
use image_annotations::{read_json, read_voc};
use metadata_tables::{read_csv, read_image_tables, read_jsonl, read_parquet};
use sidecar_reader::SidecarReader;
use text_file::{ClassNames, read_class_files};

/// Reads all sidecars of a folder. If several describe the same file, the first in the order below wins, separately for
/// caption, labels and objects; tags are merged.
pub fn read(folder: &dyn OriginalFiles, scan: &FolderScan) -> SidecarData {
    let mut reader = SidecarReader::new(folder, FileIndex::new(scan));
    let mut names = ClassNames::default();
    read_jsonl(&mut reader);
    read_parquet(&mut reader);
    read_image_tables(&mut reader);
    read_csv(&mut reader);
    coco::read(&mut reader);
    cvat::read(&mut reader);
    open_images::read(&mut reader);
    read_json(&mut reader);
    read_voc(&mut reader);
    text_file::read(&mut reader, &mut names);
    read_class_files(&mut reader, &mut names);
    folder_name::read(&mut reader);
    reader.data
}
