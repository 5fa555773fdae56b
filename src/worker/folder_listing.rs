//! Lists local folders for path completion, sorted and limited.

use std::{fs, io, path::Path};

use tessera_model::{Failure, FolderEntry, FolderListing, SafeText};

pub(super) fn list_folder(path: &Path) -> Result<FolderListing, Failure> {
    let to_failure =
        |error: io::Error| Failure::local(format!("cannot list {}: {error}", path.display()));
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(to_failure)? {
        entries.extend(read_entry(&entry.map_err(to_failure)?));
    }
    entries.sort_by_cached_key(|entry| (entry.name.as_str().to_lowercase(), entry.name.clone()));
    let omitted = entries.len().saturating_sub(FolderListing::MAX_ENTRIES);
    entries.truncate(FolderListing::MAX_ENTRIES);
    Ok(FolderListing { path: path.to_owned(), entries, omitted })
}

/// Returns `None` for anything but files and folders, and for broken links.
fn read_entry(entry: &fs::DirEntry) -> Option<FolderEntry> {
    let metadata = fs::metadata(entry.path()).ok()?;
    (metadata.is_file() || metadata.is_dir()).then(|| FolderEntry {
        name: SafeText::file_name(&entry.file_name().to_string_lossy()),
        file_name: entry.file_name(),
        is_folder: metadata.is_dir(),
        bytes: metadata.len(),
    })
}
