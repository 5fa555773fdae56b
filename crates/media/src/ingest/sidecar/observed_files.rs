//! Notes which files could not be read. The readers of the formats turn an error of a file into a problem of its
//! content, so only these notes distinguish a damaged sidecar from one that the storage or the system does not give out
//! now.

use std::{
    io::{self, Error, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

use super::sidecar_reader::SidecarData;
use crate::ingest::{
    OriginalFiles, SourceFile, is_refused, is_unavailable, original_files::ObservedFile,
};

/// Opens the files of a source, and notes the errors of reading them.
pub(super) struct ObservedFiles<'a> {
    files: &'a dyn OriginalFiles,
    errors: ReadErrors,
}

/// The first errors of the files that could not be read.
type ReadErrors = Arc<Mutex<Vec<(PathBuf, ErrorKind, String)>>>;

impl<'a> ObservedFiles<'a> {
    pub fn new(files: &'a dyn OriginalFiles) -> Self {
        Self { files, errors: ReadErrors::default() }
    }

    /// Adds the errors to the data that was read.
    pub fn note_errors(&self, data: &mut SidecarData) {
        for (path, kind, reason) in self.errors.lock().drain(..) {
            if is_unavailable(&kind.into()) {
                data.failure.get_or_insert((kind, reason));
            } else {
                data.lacks_sidecars |= data.sidecars.contains(&path);
                data.unread.insert(path);
            }
        }
    }
}

/// Notes an error, unless it says something about the file.
fn note(errors: &ReadErrors, path: &Path, cause: &Error) {
    let is_absent = [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&cause.kind());
    let is_of_system = cause.raw_os_error().is_some() && !is_absent;
    if is_unavailable(cause) || is_refused(cause) || is_of_system {
        errors.lock().push((path.to_owned(), cause.kind(), cause.to_string()));
    }
}

impl OriginalFiles for ObservedFiles<'_> {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let file = self.files.open_file(relative);
        let file = file.inspect_err(|cause| note(&self.errors, relative, cause))?;
        let (path, errors) = (relative.to_owned(), self.errors.clone());
        let on_error = move |cause| {
            note(&errors, &path, &cause);
            cause
        };
        Ok(Box::new(ObservedFile { file, on_error }))
    }

    fn is_remote(&self) -> bool {
        self.files.is_remote()
    }
}
