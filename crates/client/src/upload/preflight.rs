//! Checks media before they are sent.

use std::path::PathBuf;

use glob::Pattern;

use super::{archive_check, local_files::collect_files};
use tessera_model::{
    Failure, FailureKind, MediaSource, Preflight, SafeText,
    ingest::{LocalFile, StorageKind},
    vql::InvalidField,
};

/// Checks a source as far as this machine can see it. Reads names and headers; blocks on the disk.
///
/// # Errors
/// The source cannot be sent at all.
pub fn preflight(source: &MediaSource) -> Result<Preflight, Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (_, mut found) = collect_files(paths, None);
            if found.images + found.videos == 0 {
                found.warnings.push(SafeText::detail("no readable media found"));
            }
            Ok(found)
        }
        MediaSource::Archive(path) => {
            let packed = archive_check::check_archive(path).map_err(|reason| {
                let sentence = format!("{}: {reason}", path.display());
                Failure::new(FailureKind::Local, sentence).with_remedy("Choose another archive")
            })?;
            Ok(Preflight {
                images: packed.images,
                videos: packed.videos,
                skipped: packed.others,
                bytes: packed.file.fingerprint.bytes,
                warnings: packed.warnings,
                ..Preflight::default()
            })
        }
        MediaSource::Storage(uri) => check_storage_uri(uri)
            .map_err(|invalid| Failure::new(FailureKind::Local, invalid.to_string())),
        MediaSource::ServerPath(_) => {
            Ok(with_warning("the pipeline resolves the path, so it cannot be checked locally"))
        }
    }
}

fn with_warning(words: &str) -> Preflight {
    Preflight { warnings: vec![SafeText::detail(words)], ..Preflight::default() }
}

/// Returns the files in and below `paths` that can be sent, in sending order, and the result of the
/// check. Inside folders, only files that match `glob` count. Blocks on the disk.
pub fn files_to_send(paths: &[PathBuf], glob: Option<&Pattern>) -> (Vec<LocalFile>, Preflight) {
    let (chosen, found) = collect_files(paths, glob);
    let files =
        chosen.into_iter().map(|file| LocalFile { path: file.path, bytes: file.fingerprint.bytes });
    (files.collect(), found)
}

fn check_storage_uri(uri: &str) -> Result<Preflight, InvalidField> {
    Ok(match StorageKind::parse(uri)? {
        StorageKind::Folder => with_warning("everything in this storage folder is added"),
        StorageKind::Manifest => with_warning("a manifest: all listed files are added"),
        StorageKind::Object => with_warning(
            "neither a folder nor a manifest (.csv, .parquet, .txt): the service may refuse it",
        ),
    })
}
