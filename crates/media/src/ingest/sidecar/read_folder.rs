//! Reads the sidecars of a folder, format by format.

use super::{
    SidecarData, class_file, class_names::ClassNames, coco, cvat, file_index::FileIndex,
    folder_name, json_file, metadata_csv, metadata_jsonl, metadata_parquet, open_images,
    parquet_images, sidecar_reader::SidecarReader, text_file, voc,
};
use crate::ingest::{FolderScan, OriginalFiles};

/// If several describe the same file, the first in the order below wins, separately for caption,
/// labels and objects; tags are merged.
pub fn read(folder: &dyn OriginalFiles, scan: &FolderScan) -> SidecarData {
    let mut reader = SidecarReader::new(folder, FileIndex::new(scan));
    let mut names = ClassNames::default();
    metadata_jsonl::read(&mut reader);
    metadata_parquet::read(&mut reader);
    parquet_images::read(&mut reader);
    metadata_csv::read(&mut reader);
    coco::read(&mut reader);
    cvat::read(&mut reader);
    open_images::read(&mut reader);
    json_file::read(&mut reader);
    voc::read(&mut reader);
    text_file::read(&mut reader, &mut names);
    class_file::read(&mut reader, &mut names);
    folder_name::read(&mut reader);
    reader.data
}
