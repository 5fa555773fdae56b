//! What a person is told before media are sent.

use std::path::PathBuf;

use glob::Pattern;

use super::{chosen::choose, packed};
use tessera_model::{
    Failure, FailureKind, MediaSource, Preflight, SafeText,
    ingest::{LocalFile, StorageKind},
    vql::Invalid,
};

/// Inspects a source, as far as this machine can see it. Reads names and headers; waits for
/// the disk.
///
/// # Errors
/// [`FailureKind::Local`]: it could not be sent at all.
pub fn preflight(source: &MediaSource) -> Result<Preflight, Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (_, mut found) = choose(paths, None);
            if found.images + found.videos == 0 {
                found.warnings.push(SafeText::detail("no readable media among these"));
            }
            Ok(found)
        }
        MediaSource::Archive(path) => {
            let packed = packed::look(path).map_err(|reason| {
                let sentence = format!("{}: {reason}", path.display());
                Failure::new(FailureKind::Local, sentence).remedy("Choose another archive")
            })?;
            Ok(Preflight {
                images: packed.images,
                videos: packed.videos,
                others: packed.others,
                bytes: packed.file.stamp.bytes,
                warnings: packed.warnings,
                ..Preflight::default()
            })
        }
        MediaSource::Storage(uri) => {
            storage(uri).map_err(|invalid| Failure::new(FailureKind::Local, invalid.to_string()))
        }
        MediaSource::ServerPath(_) => {
            Ok(warning("the path is looked up by the pipeline, so it cannot be checked from here"))
        }
    }
}

fn warning(words: &str) -> Preflight {
    Preflight { warnings: vec![SafeText::detail(words)], ..Preflight::default() }
}

/// The files in and below `paths` that can be sent, in the order they are sent in, and what a look at
/// all of them has found. Of folders, only what matches `glob`. Waits for the disk.
#[must_use]
pub fn files_to_send(paths: &[PathBuf], glob: Option<&Pattern>) -> (Vec<LocalFile>, Preflight) {
    let (chosen, found) = choose(paths, glob);
    let files =
        chosen.into_iter().map(|file| LocalFile { path: file.path, bytes: file.stamp.bytes });
    (files.collect(), found)
}

fn storage(uri: &str) -> Result<Preflight, Invalid> {
    Ok(match StorageKind::of(uri)? {
        StorageKind::Folder => warning("everything in this storage folder is added"),
        StorageKind::Manifest => warning("a manifest: what it lists is added"),
        StorageKind::Object => warning(
            "neither a folder nor a manifest (.csv, .parquet, .txt): the service may refuse it",
        ),
    })
}
