//! What people already have beside their pictures: captions, labels, tags and boxes of objects, in
//! the forms in which image datasets keep them. One file here for each form.
//!
//! Sidecars come from anywhere: their sizes and texts are bounded, every row is judged alone, and
//! what is wrong is named by file. Nothing is opened outside the folder.

mod caption_or_boxes;
mod class_names;
mod coco;
mod description;
mod faults;
mod files;
mod folder_name;
mod json;
#[cfg(test)]
mod lab;
mod metadata_csv;
mod metadata_jsonl;
mod objects;
mod reader;
mod voc;
mod yolo;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

pub use self::{
    description::{Boxed, Description, Extent},
    metadata_jsonl::NAME as SIDECAR,
};
use self::{files::Files, reader::Reader};
use super::{Folder, Survey};

/// What the sidecars of a folder tell. All paths are relative to the folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What is told of each media. A file named by a row may turn out to be no media.
    pub descriptions: BTreeMap<PathBuf, Description>,
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
pub fn read(folder: &Folder, survey: &Survey) -> Reading {
    let mut reader = Reader::new(folder, Files::new(survey));
    metadata_jsonl::read(&mut reader);
    metadata_csv::read(&mut reader);
    coco::read(&mut reader);
    voc::read(&mut reader);
    caption_or_boxes::read(&mut reader);
    folder_name::read(&mut reader);
    reader.reading
}

/// Whether a file, by its name alone, may be a sidecar: if it changes, the sidecars are to be read
/// anew.
#[must_use]
pub fn is_candidate(path: &Path) -> bool {
    let named = |name: &str| path.file_name().is_some_and(|found| found == name);
    let ends = |end: &str| path.extension().is_some_and(|found| found == end);
    named(metadata_jsonl::NAME)
        || named(metadata_csv::NAME)
        || ends("txt")
        || ends("xml")
        || coco::is_candidate(path)
        || class_names::is_candidate(path)
}
