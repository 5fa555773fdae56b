//! Indexes a folder: scans it, extracts new files, removes missing ones, and applies sidecars.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    TaskContext,
    apply_sidecars::apply_sidecars,
    extract_media::{extract_media, percent},
    fetch_batch::MissingFiles,
    several_processes::extract_in_ranges,
};
use crate::{
    originals::{FOLDER_MISSING, is_missing, storage_location},
    task_error::TaskError,
};
use tessera_media::ingest::{diff, sidecar};
use tessera_store::{
    indexed_files::{self, FileWithoutMedia},
    source::{self as sources, SourceFolder},
};

/// Updates the store to match a folder. The files in `missing` are listed among the skipped files.
pub fn index_source(
    context: &TaskContext,
    indexing_task: i64,
    source: &SourceFolder,
    missing: &MissingFiles,
) -> Result<(), TaskError> {
    let store = &context.store;
    let folder = &*context.open_source(source)?;
    let mut scan =
        context.originals.scan(&source.folder, &source.patterns).map_err(TaskError::Failed)?;
    // Other sources inside this folder keep their own files.
    let inside: Vec<PathBuf> = store
        .read(|c| sources::all(c, source.dataset))?
        .iter()
        .filter(|other| other.row != source.row)
        .filter_map(|other| other.folder.strip_prefix(&source.folder).ok().map(Path::to_owned))
        .collect();
    scan.files.retain(|found| !inside.iter().any(|folder| found.path.starts_with(folder)));
    let known = store.read(|c| indexed_files::known_files(c, source.row))?;
    if source.is_dataset_folder
        && !known.is_empty()
        && storage_location(&source.folder).is_none()
        && is_missing(&source.folder)
    {
        // A disk that is not connected must not empty the index.
        return Err(TaskError::Failed(FOLDER_MISSING.to_owned()));
    }
    let mut changes = diff(&scan, known);
    context.write(|tx| {
        indexed_files::clear_skipped_unopened(tx, source.row)?;
        // A file that was indexed before may be skipped now, so its rows are removed first.
        let removed = changes.removed.iter().map(PathBuf::as_path);
        indexed_files::remove_files(tx, source.row, removed)?;
        let skipped = scan.skipped.iter().map(|(path, reason)| (path, &**reason));
        // If a file has several reasons, the last one counts.
        let skipped: BTreeMap<_, _> =
            skipped.chain(missing.iter().map(|(path, reason)| (path, &**reason))).collect();
        let skipped =
            skipped.iter().map(|(path, reason)| FileWithoutMedia { path, stat: None, reason });
        indexed_files::mark_skipped(tx, source.row, skipped)
    })?;
    let reading = sidecar::read(folder, &scan);
    let described: BTreeSet<_> = reading.sidecars.iter().chain(reading.problems.keys()).collect();
    changes.added_or_modified.retain(|(found, _)| !described.contains(&found.path));
    let (files, all) = (&changes.added_or_modified, scan.files.len());
    if store.is_on_server() {
        extract_in_ranges(context, indexing_task, source, files, all)?;
    } else {
        let mut done = all - files.len();
        extract_media(context, source, folder, files, |_, extracted| {
            done += extracted.len();
            Ok(percent(done, all))
        })?;
    }
    apply_sidecars(context, source, folder, &scan, reading)
}
