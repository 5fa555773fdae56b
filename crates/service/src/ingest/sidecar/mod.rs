//! Sidecars: captions, labels, tags and object boxes in files next to images, in the common dataset
//! formats; one module per format.
//!
//! Sidecars are untrusted: sizes and texts are bounded, every row is validated on its own, and
//! problems are reported per file. Nothing outside the folder is opened.

mod class_names;
mod coco;
mod description;
mod diagnostics;
mod file_index;
mod folder_name;
mod json;
mod metadata_csv;
mod metadata_jsonl;
mod objects;
mod sidecar_reader;
mod text_file;
mod voc;
mod yolo;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

pub use self::description::{BoundingBox, LabeledBox, MediaDescription};
use self::{file_index::FileIndex, sidecar_reader::SidecarReader};
use super::{FolderScan, SandboxedDir};

/// The content of all sidecars of a folder. All paths are relative to the folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarData {
    /// Descriptions by file. A file named by a row may turn out not to be a media file.
    pub descriptions: BTreeMap<PathBuf, MediaDescription>,
    /// The files used as sidecars, including faulty ones: they are not media files.
    pub sidecars: BTreeSet<PathBuf>,
    /// The problem of each faulty sidecar; its valid rows are used.
    pub problems: BTreeMap<PathBuf, String>,
}

/// Reads the sidecars among the scanned files of a folder.
///
/// If several describe the same file, the first in the order below wins, separately for caption,
/// labels and objects; tags are merged.
pub fn read(folder: &SandboxedDir, scan: &FolderScan) -> SidecarData {
    let mut reader = SidecarReader::new(folder, FileIndex::new(scan));
    metadata_jsonl::read(&mut reader);
    metadata_csv::read(&mut reader);
    coco::read(&mut reader);
    voc::read(&mut reader);
    text_file::read(&mut reader);
    folder_name::read(&mut reader);
    reader.data
}

/// Whether a file may be a sidecar, by its name: if it changes, all sidecars are read again.
pub fn is_candidate(path: &Path) -> bool {
    let named = |name: &str| path.file_name().is_some_and(|found| found == name);
    let ends = |end: &str| path.extension().is_some_and(|found| found == end);
    named(metadata_jsonl::FILE_NAME)
        || named(metadata_csv::FILE_NAME)
        || ends("txt")
        || ends("xml")
        || coco::is_candidate(path)
        || class_names::is_candidate(path)
}
