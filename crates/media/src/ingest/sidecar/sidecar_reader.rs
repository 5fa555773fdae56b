//! Reads the files of sidecars within limits, and collects what the formats find in them. Each format gets the same
//! `SidecarReader`; start here to see what a format may do, and how problems become one sentence per file.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufReader, Read as _, Take},
    path::{Path, PathBuf},
};

use tessera_parquet::Source;

use super::{description::MediaDescription, file_index::FileIndex};
use crate::ingest::{
    OriginalFiles, SourceFile,
    parquet_images::{ReadFailure, parquet_source},
};

/// Size limit of a sidecar that describes many images, in bytes.
pub(crate) const MAX_SHARED_SIDECAR_BYTES: u64 = 64 << 20;
/// Size limit of a sidecar of one image, and of a list of class names, in bytes.
pub(crate) const MAX_PER_IMAGE_SIDECAR_BYTES: u64 = 1 << 20;

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

pub(crate) struct SidecarReader<'a> {
    folder: &'a dyn OriginalFiles,
    pub files: FileIndex<'a>,
    pub data: SidecarData,
}

impl<'a> SidecarReader<'a> {
    pub fn new(folder: &'a dyn OriginalFiles, files: FileIndex<'a>) -> Self {
        Self { folder, files, data: SidecarData::default() }
    }

    /// Reads a file without its byte order mark. A file that is unreadable or larger than `limit` is a problem.
    pub(crate) fn read_bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        let mut bytes =
            self.read_limited(path, limit).map_err(|why| self.report_problem(path, why)).ok()?;
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        Some(bytes)
    }

    /// Like [`SidecarReader::read_bytes`], for text; invalid UTF-8 is a problem.
    pub fn read_text(&mut self, path: &Path, limit: u64) -> Option<String> {
        String::from_utf8(self.read_bytes(path, limit)?)
            .map_err(|_| self.report_problem(path, "it is not UTF-8".to_owned()))
            .ok()
    }

    /// Opens a file that is read in parts. A file that is unreadable or larger than `limit` is a problem.
    pub fn open(
        &mut self,
        path: &Path,
        limit: u64,
    ) -> Option<BufReader<Take<Box<dyn SourceFile>>>> {
        let open = || {
            let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
            let length = file.length().map_err(|cause| unreadable(&cause))?;
            if length > limit {
                Err(too_large(limit))
            } else {
                Ok(BufReader::new(file.take(limit)))
            }
        };
        open().map_err(|why| self.report_problem(path, why)).ok()
    }

    /// Opens a Parquet file, which is read in parts without a limit on its size. An unreadable file is a problem.
    pub(crate) fn open_parquet(&mut self, path: &Path) -> Option<Source> {
        let open = || {
            let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
            let source = parquet_source(file, &ReadFailure::default());
            source.map_err(|cause| unreadable(&cause))
        };
        open().map_err(|why| self.report_problem(path, why)).ok()
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let file = self.folder.open_file(path).map_err(|cause| unreadable(&cause))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|cause| unreadable(&cause))?;
        if bytes.len() as u64 > limit {
            return Err(too_large(limit));
        }
        Ok(bytes)
    }

    /// Adds the description of a media file. Earlier sidecars take precedence.
    pub(crate) fn add_description(&mut self, media: &Path, description: MediaDescription) {
        if description == MediaDescription::default() {
            return;
        }
        self.data.descriptions.entry(media.to_owned()).or_default().merge_missing(description);
    }

    pub(crate) fn mark_used(&mut self, path: &Path) {
        self.data.sidecars.insert(path.to_owned());
    }

    /// Records a problem of a sidecar; only the first one is kept.
    pub(crate) fn report_problem(&mut self, path: &Path, why: String) {
        self.mark_used(path);
        self.data.problems.entry(path.to_owned()).or_insert(why);
    }

    pub fn report_problems(&mut self, path: &Path, diagnostics: SidecarDiagnostics) {
        if let Some(summary) = diagnostics.summary() {
            self.report_problem(path, summary);
        }
    }
}

fn unreadable(cause: &io::Error) -> String {
    format!("it cannot be read ({})", cause.kind())
}

fn too_large(limit: u64) -> String {
    format!("it is larger than {} MiB", limit >> 20)
}

#[derive(Debug, Default)]
pub(crate) struct SidecarDiagnostics {
    /// The word for a position, such as a line, in singular and plural.
    nouns: [&'static str; 2],
    /// The current position, from 1.
    position: usize,
    last_reported: usize,
    first_message: Option<String>,
    further_positions: usize,
}

impl SidecarDiagnostics {
    pub fn new(noun: &'static str, plural: &'static str) -> Self {
        Self { nouns: [noun, plural], ..Self::default() }
    }

    /// Moves to a position, numbered from 1.
    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub fn next_position(&mut self) {
        self.position += 1;
    }

    pub fn check(&mut self, result: Result<(), &str>) {
        if let Err(why) = result {
            self.report(why);
        }
    }

    /// Reports a problem at the current position. Each position counts once.
    pub fn report(&mut self, why: &str) {
        if self.first_message.is_none() {
            self.first_message = Some(format!("{} {}: {why}", self.nouns[0], self.position));
        } else if self.position != self.last_reported {
            self.further_positions += 1;
        }
        self.last_reported = self.position;
    }

    pub fn summary(self) -> Option<String> {
        let (first, [noun, plural]) = (self.first_message?, self.nouns);
        Some(match self.further_positions {
            0 => first,
            1 => format!("{first}; 1 more {noun}"),
            more => format!("{first}; {more} more {plural}"),
        })
    }
}
