//! Checks media before they are sent.

use std::path::PathBuf;

use glob::Pattern;

use super::{
    archive_check,
    local_files::{UploadFile, collect_files},
};
use tessera_model::{
    Failure, MediaSource, Preflight, SafeText,
    ingest::{LocalFile, StorageKind},
};

/// Checks a source as far as this machine can see it. Reads names and headers; blocks on the disk.
pub fn preflight(source: &MediaSource) -> Result<Preflight, Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (_, mut preflight) = collect_files(paths, None);
            if preflight.is_empty() {
                preflight.warnings.push(SafeText::detail("no readable media found"));
            }
            Ok(preflight)
        }
        MediaSource::Archive(path) => match archive_check::check_archive(path) {
            Ok(check) => Ok(check.preflight),
            Err(reason) => Err(Failure::local(format!("{}: {reason}", path.display()))
                .with_remedy("Choose another archive")),
        },
        MediaSource::Storage(uri) => match StorageKind::parse(uri) {
            Ok(StorageKind::Folder) => {
                Ok(with_warning("everything in this storage folder is added"))
            }
            Ok(StorageKind::Manifest) => Ok(with_warning("a manifest: all listed files are added")),
            Ok(StorageKind::Object) => Ok(with_warning(
                "neither a folder nor a manifest (.csv, .parquet, .txt): the service may refuse it",
            )),
            Err(invalid) => Err(Failure::local(invalid.to_string())),
        },
        MediaSource::ServerPath(_) => {
            Ok(with_warning("the pipeline resolves the path, so it cannot be checked locally"))
        }
    }
}

fn with_warning(warning: &str) -> Preflight {
    Preflight { warnings: vec![SafeText::detail(warning)], ..Preflight::default() }
}

/// In sending order. Inside folders, only files that match `glob` count. Blocks on the disk.
pub fn files_to_send(paths: &[PathBuf], glob: Option<&Pattern>) -> (Vec<LocalFile>, Preflight) {
    let (files, preflight) = collect_files(paths, glob);
    let to_local = |file: UploadFile| LocalFile { path: file.path, bytes: file.fingerprint.bytes };
    (files.into_iter().map(to_local).collect(), preflight)
}
