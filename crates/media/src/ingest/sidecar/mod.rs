//! Sidecars: captions, labels, tags and object boxes in files next to images, in the common dataset
//! formats; one module per format.
//!
//! Sidecars are untrusted: sizes and texts are bounded, every row is validated on its own, and
//! problems are reported per file. Nothing outside the folder is opened.

mod candidates;
mod class_file;
mod class_names;
mod coco;
mod coco_mask;
mod cvat;
mod cvat_shapes;
mod cvat_tracks;
mod description;
mod diagnostics;
mod file_index;
mod folder_name;
mod json;
mod json_file;
mod kitti;
mod labelme;
mod metadata_csv;
mod metadata_jsonl;
mod metadata_parquet;
mod objects;
mod open_images;
mod parquet_images;
mod read_folder;
mod sidecar_reader;
mod sidecar_row;
mod text_file;
mod voc;
mod yolo;

pub use description::{BoundingBox, LabeledBox, MediaDescription, push_caption, push_name};
pub use read_folder::read;
pub use sidecar_reader::SidecarData;
