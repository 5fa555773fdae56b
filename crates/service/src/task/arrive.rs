//! Brings the files of a batch into its folder: out of the uploaded archive, or from object storage. A
//! kill on the way does no harm, for what is begun again ends the same.

use std::{fs, path::PathBuf};

use super::{End, Workshop, progress::share};
use crate::{
    ingest::{
        stage::ARCHIVE,
        unpack::{ArchiveKind, Limits, Unfinished, unpack},
    },
    storage::{Fault, MOST, Storage},
    store::{operation::Arrival, source::Source},
};

/// Part of an addition that fetching makes up.
const FETCHING: f64 = 0.3;

/// What did not come, and why.
pub type Missing = Vec<(PathBuf, String)>;

/// Brings the files, if they are not there. Returns what of them could not be brought.
///
/// # Errors
/// Stopped, or none can be had.
pub fn arrive(shop: &Workshop, source: &Source, arrival: &Arrival) -> Result<Missing, End> {
    match arrival {
        Arrival::There => Ok(Missing::new()),
        Arrival::Packed(extension) => out_of_archive(shop, source, extension),
        Arrival::Stored(uri) => from_storage(shop, source, uri),
    }
}

/// Unpacks the archive beside the folder, and removes it.
fn out_of_archive(shop: &Workshop, source: &Source, extension: &str) -> Result<Missing, End> {
    let lost = || End::Failed("the uploaded archive is gone from the data folder".to_owned());
    let archive = source.folder.parent().ok_or_else(lost)?.join(ARCHIVE);
    if !archive.exists() && source.folder.exists() {
        // A kill came between the end of this and the end of the operation.
        return Ok(Missing::new());
    }
    let kind = ArchiveKind::of(&format!("{ARCHIVE}{extension}")).ok_or_else(lost)?;
    let unpacked = unpack(&archive, kind, &source.folder, Limits::default(), shop.stop);
    let unpacked = unpacked.map_err(|unfinished| match unfinished {
        Unfinished::Stopped => End::Stopped,
        Unfinished::Disk(cause) => {
            End::Failed(format!("the archive could not be unpacked ({})", cause.kind()))
        }
    })?;
    let skipped = unpacked.skipped.into_iter();
    let mut missing: Missing =
        skipped.map(|(name, why)| (PathBuf::from(name.as_str()), why.to_owned())).collect();
    let whole = PathBuf::from(format!("{ARCHIVE}{extension}"));
    if let Some(damage) = unpacked.damage {
        missing.push((whole, damage.to_owned()));
    } else if unpacked.unnamed > 0 {
        missing.push((whole, format!("{} more members were passed over", unpacked.unnamed)));
    }
    fs::remove_file(&archive)?;
    Ok(missing)
}

/// Fetches what a folder or manifest in object storage lists.
fn from_storage(shop: &Workshop, source: &Source, uri: &str) -> Result<Missing, End> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let failed = |fault: &Fault| End::Failed(format!("object storage failed: {fault}"));
    let storage = Storage::new(shop.settings.storage.clone()).map_err(|fault| failed(&fault))?;
    let listing = runtime.block_on(storage.list(uri, None, MOST));
    let listing = listing.map_err(|refusal| End::Failed(refusal.to_string()))?;
    let mut missing = Missing::new();
    let mut end = Ok(());
    let all = listing.entries.len();
    let mut done = 0;
    runtime.block_on(storage.fetch_all(&listing.entries, &source.folder, |entry, outcome| {
        done += 1;
        match outcome {
            Ok(_) => {}
            Err(Fault::Object(why)) => missing.push((entry.path(), why)),
            Err(fault) => end = Err(failed(&fault)),
        }
        end = std::mem::replace(&mut end, Ok(())).and_then(|()| shop.go_on());
        if done % 64 == 0 && end.is_ok() {
            end = shop.tell(source.dataset, FETCHING * share(done, all));
        }
        end.is_ok()
    }));
    end?;
    Ok(missing)
}
