//! Shared state of the sidecar formats: the file index, bounded reading, and the result.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufReader, Read as _, Take},
    path::{Path, PathBuf},
};

use tessera_parquet::Source;

use super::{
    description::MediaDescription, diagnostics::SidecarDiagnostics, file_index::FileIndex,
};
use crate::ingest::{
    OriginalFiles, SourceFile,
    parquet_images::{ReadFailure, parquet_source},
};

/// Size limit of a sidecar that describes many images, in bytes.
pub const MAX_SHARED_SIDECAR_BYTES: u64 = 64 << 20;
/// Size limit of a sidecar of one image, and of a list of class names, in bytes.
pub const MAX_PER_IMAGE_SIDECAR_BYTES: u64 = 1 << 20;

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

pub struct SidecarReader<'a> {
    folder: &'a dyn OriginalFiles,
    pub files: FileIndex<'a>,
    pub data: SidecarData,
}

impl<'a> SidecarReader<'a> {
    pub fn new(folder: &'a dyn OriginalFiles, files: FileIndex<'a>) -> Self {
        Self { folder, files, data: SidecarData::default() }
    }

    /// Strips a byte order mark. A file that is unreadable or larger than `limit` is a problem.
    pub fn read_bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
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

    /// Opens a file that is read in parts. One that is unreadable or larger than `limit` is a problem.
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

    /// Opens a Parquet file, which is read in parts without a limit on its size. One that is unreadable is a problem.
    pub fn open_parquet(&mut self, path: &Path) -> Option<Source> {
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

    /// Adds what a sidecar says about a media file; earlier sidecars take precedence.
    pub fn add_description(&mut self, media: &Path, description: MediaDescription) {
        if description == MediaDescription::default() {
            return;
        }
        self.data.descriptions.entry(media.to_owned()).or_default().merge_missing(description);
    }

    pub fn mark_used(&mut self, path: &Path) {
        self.data.sidecars.insert(path.to_owned());
    }

    /// Records a problem of a sidecar; only the first one is kept.
    pub fn report_problem(&mut self, path: &Path, why: String) {
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
