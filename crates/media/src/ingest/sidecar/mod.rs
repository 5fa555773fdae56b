//! Reads sidecars in the common dataset formats. Sidecars are files next to images with captions, labels, tags and
//! object boxes. `read` lists the formats in the order of their precedence; a new format needs a module here and a line
//! there.
//!
//! Sidecars are untrusted. Sizes and texts are bounded, every row is validated on its own, problems are reported per
//! file, and nothing outside the folder is opened.

mod annotation_files;
mod bounding_box;
mod box_columns;
mod class_names;
mod coco;
mod csv_table;
mod cvat;
mod description;
mod diagnostics;
mod export_document;
mod extra_columns;
mod file_index;
mod folder_labels;
mod labelme;
mod mask_reader;
mod metadata_row;
mod metadata_tables;
mod observed_files;
mod open_images;
mod photo_files;
mod prelude;
mod row_findings;
mod sidecar_names;
mod sidecar_reader;
mod stated_size;
mod streamed_json;
mod text_file;
mod voc;
mod yolo;

pub use bounding_box::BoundingBox;
pub use class_names::may_name_classes;
pub(crate) use description::push_caption;
pub use description::{LabeledBox, MediaDescription, push_name};
pub use file_index::FileIndex;
pub use sidecar_names::unused_sidecar_text;
pub use sidecar_reader::SidecarData;
pub use stated_size::{StatedSize, leave_out_boxes_of_videos, place_boxes};

pub(crate) use annotation_files::may_describe_sample;
pub(crate) use csv_table::csv_names;
pub(crate) use extra_columns::{file_column, name_file_column};
pub(crate) use file_index::{has_media, has_sample_part, parallel_folder};
pub(crate) use photo_files::TakeoutNames;
pub(crate) use sidecar_names::describes_many;

use super::{FolderScan, OriginalFiles};
use annotation_files::{read_json, read_xml};
use class_names::ClassNames;
use csv_table::{read_csv, read_text_tables};
use metadata_tables::{read_image_tables, read_jsonl, read_parquet};
use observed_files::ObservedFiles;
use photo_files::{read_takeout, read_xmp};
use sidecar_reader::SidecarReader;
use text_file::{LABEL_FOLDERS, read_class_files};
use voc::ANNOTATION_FOLDERS;

/// The folders, parallel to the image folder, with a sidecar for each image.
pub(crate) const PARALLEL_FOLDERS: [&str; 4] =
    [LABEL_FOLDERS[0], LABEL_FOLDERS[1], ANNOTATION_FOLDERS[0], ANNOTATION_FOLDERS[1]];

/// Reads all sidecars of a folder. If several sidecars describe the same file, the first one in the order below wins,
/// separately for caption, labels and objects. Tags are merged.
pub fn read(folder: &dyn OriginalFiles, scan: &FolderScan) -> SidecarData {
    let files = ObservedFiles::new(folder);
    let mut reader = SidecarReader::new(&files, FileIndex::new(scan, &files));
    let mut names = ClassNames::new(&reader.files);
    read_jsonl(&mut reader);
    read_parquet(&mut reader);
    export_document::read(&mut reader);
    read_image_tables(&mut reader);
    read_csv(&mut reader);
    read_takeout(&mut reader);
    read_json(&mut reader);
    read_xml(&mut reader);
    open_images::read(&mut reader);
    text_file::read(&mut reader, &mut names);
    read_class_files(&mut reader, &mut names);
    // The texts of single pictures are read before, so that only the others are opened again.
    read_text_tables(&mut reader);
    read_xmp(&mut reader);
    folder_labels::read(&mut reader);
    let mut data = reader.finish();
    files.note_errors(&mut data);
    data
}
