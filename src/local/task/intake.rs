//! Takes the files of a source into the store: walks its folder, extracts what is new, forgets what is
//! gone, and gives every media the words of the sidecars beside it.

use std::{collections::BTreeSet, fs, path::Path};

use super::{End, Workshop, describe::describe, extract::extract};
use crate::local::{
    ingest::{
        Folder, compare, sidecar,
        stage::{ARCHIVE, private},
        unpack::{ArchiveKind, Limits, Unfinished, unpack},
        walk,
    },
    store::{intake, operation::Arrival, source::Source},
};

/// Brings the files of a batch into its folder, if they are not there. What could not be brought is named
/// among the skipped files.
///
/// # Errors
/// Stopped, or they cannot be had.
pub fn arrive(shop: &Workshop, source: &Source, arrival: &Arrival) -> Result<(), End> {
    match arrival {
        Arrival::There => Ok(()),
        Arrival::Packed(extension) => unpack_beside(shop, source, extension),
        Arrival::Stored => Err(End::Failed("not yet".to_owned())),
    }
}

/// Unpacks the archive beside a folder into it, and removes the archive.
fn unpack_beside(shop: &Workshop, source: &Source, extension: &str) -> Result<(), End> {
    let broken = || End::Failed("the uploaded archive is gone from the data folder".to_owned());
    let archive = source.folder.parent().ok_or_else(broken)?.join(ARCHIVE);
    if !archive.exists() {
        // It was unpacked before a kill.
        return Ok(());
    }
    let kind = ArchiveKind::of(&format!("archive{extension}")).ok_or_else(broken)?;
    // What a kill left half-unpacked is begun again.
    fs::remove_dir_all(&source.folder).and_then(|()| private(&source.folder))?;
    let unpacked = unpack(&archive, kind, &source.folder, Limits::default(), shop.stop);
    let unpacked = unpacked.map_err(|unfinished| match unfinished {
        Unfinished::Stopped => End::Stopped,
        Unfinished::Disk(cause) => {
            End::Failed(format!("the archive could not be unpacked ({})", cause.kind()))
        }
    })?;
    shop.store.write(|tx| {
        for (name, reason) in &unpacked.skipped {
            intake::skip(tx, source.row, Path::new(name.as_str()), None, reason)?;
        }
        if let Some(damage) = unpacked.damage {
            intake::skip(tx, source.row, Path::new("the archive"), None, damage)?;
        }
        Ok(())
    })?;
    fs::remove_file(&archive)?;
    Ok(())
}

/// Brings the store in line with the folder of a source.
///
/// # Errors
/// Stopped, the folder cannot be opened, or the store failed; what was written stays.
pub fn take_in(shop: &Workshop, source: &Source) -> Result<(), End> {
    let store = shop.store;
    let folder = Folder::open(&source.folder).map_err(|cause| {
        let kind = cause.kind();
        End::Failed(format!("its folder cannot be opened ({kind}); put it back and open it again"))
    })?;
    let survey = walk(&source.folder);
    let mut changes = compare(&survey, store.read(|c| intake::known(c, source.row))?);
    store.write(|tx| {
        intake::forget_passed_over(tx, source.row)?;
        for (path, reason) in &survey.passed_over {
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
