//! Unpacks an archive that is opened like a folder, such as the ZIP file of an export. The files are unpacked below the
//! index folder, and again when the archive has changed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use uuid::Uuid;

use crate::error::LocalError;
use tessera_files::{create_private_dir, if_exists, sync_tree, write_atomically};
use tessera_media::ingest::{
    archive_readers::{
        ArchiveKind, NESTED_ARCHIVE, UnpackError, UnpackLimits, UnpackReport, unpack,
    },
    disk_quota::DiskQuota,
    file_names::{printable_path, sanitized_path},
};
use tessera_model::{FileKind, SafeText, SkippedFile, file_kind::HIDDEN};
use tessera_store::is_storage_full;

/// Describes what was unpacked, beside the folder with the files. No such folder has a hidden name.
const RECORD_FILE: &str = ".unpacked.json";

#[derive(Deserialize, Serialize)]
struct UnpackedRecord {
    /// Size and time of the archive.
    version: (u64, u64),
    /// The members that were skipped, each with the reason.
    skipped: Vec<(String, String)>,
}

/// Returns the folder with the files of an archive, which are unpacked below `opened` first, unless they are there.
/// Returns `None` if the path is not the path of an archive.
pub(crate) fn folder_of_archive(
    opened: &Path,
    archive: &Path,
    disk: &DiskQuota,
) -> Result<Option<PathBuf>, LocalError> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let kind = ArchiveKind::from_name(&name).filter(|_| archive.is_file());
    let Some(kind) = kind else { return Ok(None) };
    let path = printable_path(archive);
    let refused = |reason: String| {
        let remedy = "check the file, or unpack it and give the folder";
        LocalError::Unusable(format!("the archive {path} cannot be unpacked: {reason}; {remedy}"))
    };
    let prepare = || {
        let archive = archive.canonicalize()?;
        let metadata = archive.metadata()?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified = u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX);
        let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, archive.as_os_str().as_encoded_bytes());
        Ok::<_, io::Error>((opened.join(id.to_string()), (metadata.len(), modified)))
    };
    let (place, version) = prepare().map_err(|cause| refused(cause.to_string()))?;
    // The dataset is named like the folder. The name of an archive may be no safe name of a folder, as in `...zip`.
    let folder = place.join(sanitized_path(&name[..name.len() - kind.as_str().len()]));
    if folder.is_dir() && read_record(&place).is_some_and(|record| record.version == version) {
        return Ok(Some(folder));
    }
    let unpacked = || -> Result<(), UnpackError> {
        create_private_dir(&place).map_err(UnpackError::Io)?;
        // Another process may unpack the same archive, so each has a folder of its own.
        let part = TempDir::new_in(&place).map_err(UnpackError::Io)?;
        let files = part.path().join("files");
        let limits = UnpackLimits { disk: disk.clone(), ..UnpackLimits::default() };
        let report = unpack(archive, kind, &files, limits, &AtomicBool::new(false))?;
        if let Some(reason) = unusable_reason(&report) {
            return Err(UnpackError::Io(io::Error::other(reason)));
        }
        let skipped = report.skipped.iter();
        let skipped = skipped.map(|(name, reason)| (name.to_string(), (*reason).to_owned()));
        let record = UnpackedRecord { version, skipped: skipped.collect() };
        publish(&files, &folder, &place, &record).map_err(UnpackError::Io)
    };
    unpacked().map_err(|error| match error {
        UnpackError::Cancelled => refused("it was cancelled".to_owned()),
        UnpackError::Io(cause) if is_storage_full(&cause) => LocalError::Failed(format!(
            "the disk of the index folder has no space for the files of the archive {path}; free space, or unpack \
             it on another disk and give the folder"
        )),
        UnpackError::Io(cause) => refused(cause.to_string()),
    })?;
    Ok(Some(folder))
}

/// Returns why the files of an archive are no dataset: the archive or one of its shards was not read to its end, or
/// nothing was unpacked.
fn unusable_reason(report: &UnpackReport) -> Option<String> {
    let named = |(name, reason): &(SafeText, &str)| format!("{name}: {reason}");
    let is_unread_shard = |(name, reason): &&(SafeText, &str)| {
        FileKind::from_name(name.as_str()) == FileKind::Archive
            && ![HIDDEN, NESTED_ARCHIVE].contains(reason)
    };
    let unread_shard = || report.skipped.iter().find(is_unread_shard).map(named);
    let nothing = || match report.skipped.as_slice() {
        _ if report.files > 0 => None,
        [] => Some("it contains no files".to_owned()),
        [first] => Some(format!("it contains only {}", named(first))),
        [first, ..] => {
            let count = report.skipped.len() + report.unreported;
            Some(format!(
                "none of the {count} files in it can be unpacked, such as {}",
                named(first)
            ))
        }
    };
    report.damage_reason.map(str::to_owned).or_else(unread_shard).or_else(nothing)
}

/// Gives unpacked files their place. If the process ends meanwhile, the next start unpacks the archive again.
fn publish(files: &Path, folder: &Path, place: &Path, record: &UnpackedRecord) -> io::Result<()> {
    sync_tree(files)?;
    let record_file = place.join(RECORD_FILE);
    if_exists(fs::remove_file(&record_file))?;
    if_exists(fs::remove_dir_all(folder))?;
    fs::rename(files, folder)?;
    write_atomically(&record_file, serde_json::to_vec(record)?)
}

fn read_record(place: &Path) -> Option<UnpackedRecord> {
    serde_json::from_slice(&fs::read(place.join(RECORD_FILE)).ok()?).ok()
}

/// Returns the folder of an archive below `opened`, if files of an archive were unpacked to `folder`.
fn place_of<'a>(opened: &Path, folder: &'a Path) -> Option<&'a Path> {
    folder.parent().filter(|place| place.parent() == Some(opened))
}

/// Removes the files that were unpacked to `folder`. The archive stays. Files that cannot be removed are removed by
/// [`remove_unused`] at a later start.
pub(crate) fn remove_unpacked(opened: &Path, folder: &Path) {
    if let Some(place) = place_of(opened, folder) {
        // Without the record, what remains after a failure does not count as unpacked.
        let _ = fs::remove_file(place.join(RECORD_FILE)).and_then(|()| fs::remove_dir_all(place));
    }
}

/// Removes unpacked files that belong to none of the folders of datasets. No other process may use the index folder.
pub(crate) fn remove_unused(opened: &Path, folders: &[PathBuf]) {
    let places = fs::read_dir(opened).into_iter().flatten().flatten().map(|entry| entry.path());
    for place in places {
        if !folders.iter().any(|folder| folder.starts_with(&place)) {
            let _ = fs::remove_dir_all(place);
        }
    }
}

/// Returns the members that were skipped when an archive was unpacked to `folder`. Other folders have none.
pub(crate) fn skipped_members(opened: &Path, folder: &Path) -> Vec<SkippedFile> {
    let skipped = place_of(opened, folder)
        .and_then(read_record)
        .map(|record| record.skipped)
        .unwrap_or_default();
    let skipped = skipped.iter().map(|(name, reason)| SkippedFile {
        file: SafeText::file_name(name),
        reason: SafeText::detail(reason),
        kind: FileKind::from_name(name),
        is_excluded: false,
    });
    skipped.collect()
}
