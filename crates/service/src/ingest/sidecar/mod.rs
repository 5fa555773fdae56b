//! What people already have beside their pictures: captions, labels, tags and boxes of objects, in
//! the forms in which image datasets keep them. One file here for each form.
//!
//! Sidecars come from anywhere: their sizes and texts are bounded, every row is judged alone, and
//! what is wrong is named by file. Nothing is opened outside the folder.

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
#[cfg(test)]
mod test_support;
mod text_file;
mod voc;
mod yolo;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

pub use self::{
    description::{BoundingBox, LabeledBox, MediaDescription},
    metadata_jsonl::FILE_NAME as SIDECAR,
};
use self::{file_index::FileIndex, sidecar_reader::SidecarReader};
use super::{FolderScan, SandboxedDir};

/// What the sidecars of a folder tell. All paths are relative to the folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SidecarData {
    /// What is told of each media. A file named by a row may turn out to be no media.
    pub descriptions: BTreeMap<PathBuf, MediaDescription>,
    /// The files that were used as sidecars, faulty ones among them: no media were expected there.
    pub sidecars: BTreeSet<PathBuf>,
    /// What is wrong with a sidecar: the first place and how many more. The rest of it counts.
    pub problems: BTreeMap<PathBuf, String>,
}

/// Reads the sidecars of a folder in which `survey` saw the files.
///
/// Several may tell of one picture. For captions, labels and objects each, the first that tells any
/// wins, in the order below; tags are united.
#[must_use]
pub fn read(folder: &SandboxedDir, survey: &FolderScan) -> SidecarData {
    let mut reader = SidecarReader::new(folder, FileIndex::new(survey));
    metadata_jsonl::read(&mut reader);
    metadata_csv::read(&mut reader);
    coco::read(&mut reader);
    voc::read(&mut reader);
    text_file::read(&mut reader);
    folder_name::read(&mut reader);
    reader.data
}

/// Whether a file, by its name alone, may be a sidecar: if it changes, the sidecars are to be read
/// anew.
#[must_use]
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
