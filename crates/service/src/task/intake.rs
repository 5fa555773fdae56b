//! Takes the files of a source into the store: walks its folder, extracts what is new, forgets what is
//! gone, and gives every media the words of the sidecars beside it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{End, Workshop, arrive::Missing, describe::describe, extract::extract};
use crate::{
    ingest::{Folder, compare, sidecar, walk},
    store::{
        intake,
        source::{self as sources, Source},
    },
};

/// Brings the store in line with the folder of a source. What is `missing` from it is named among the
/// skipped files.
///
/// # Errors
/// Stopped, the folder cannot be opened, or the store failed; what was written stays.
pub fn take_in(shop: &Workshop, source: &Source, missing: &Missing) -> Result<(), End> {
    let store = shop.store;
    let folder = Folder::open(&source.folder).map_err(|cause| {
        let kind = cause.kind();
        End::Failed(format!("its folder cannot be opened ({kind}); put it back and open it again"))
    })?;
    let mut survey = walk(&source.folder);
    // A folder around other sources of the dataset: their files are theirs.
    let inside: Vec<PathBuf> = store
        .read(|c| sources::all(c, source.dataset))?
        .iter()
        .filter(|other| other.row != source.row)
        .filter_map(|other| other.folder.strip_prefix(&source.folder).ok().map(Path::to_owned))
        .collect();
    survey.files.retain(|found| !inside.iter().any(|folder| found.path.starts_with(folder)));
    let mut changes = compare(&survey, store.read(|c| intake::known(c, source.row))?);
    store.write(|tx| {
        intake::forget_passed_over(tx, source.row)?;
        for (path, reason) in &survey.passed_over {
            intake::skip(tx, source.row, path, None, reason)?;
        }
        for (path, reason) in missing {
            intake::skip(tx, source.row, path, None, reason)?;
        }
        changes.vanished.iter().try_for_each(|path| intake::remove(tx, source.row, path))
    })?;
    let reading = sidecar::read(&folder, &survey);
    let told: BTreeSet<_> = reading.sidecars.iter().chain(reading.problems.keys()).collect();
    changes.fresh.retain(|(found, _)| !told.contains(&found.path));
    extract(shop, source, &folder, &changes.fresh, survey.files.len())?;
    describe(shop, source, &folder, &survey, &reading)
}
