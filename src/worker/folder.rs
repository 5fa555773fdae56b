//! Folders of this machine: what is in one, sorted and bounded, for completing a path.

use std::{fs, io, path::Path};

use tessera_model::{Failure, FailureKind, Folder, FolderEntry, SafeText};

/// Lists the files and folders in `path`, by name without regard to case.
///
/// # Errors
/// [`FailureKind::Local`]: it is no folder, or may not be read.
pub(super) fn list(path: &Path) -> Result<Folder, Failure> {
    let broken = |error: io::Error| {
        let sentence = format!("{} cannot be listed: {error}", path.display());
        Failure::new(FailureKind::Local, sentence)
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(broken)? {
        entries.extend(read(&entry.map_err(broken)?));
    }
    entries.sort_by_cached_key(|entry| (entry.name.as_str().to_lowercase(), entry.name.clone()));
    let left_off = entries.len().saturating_sub(Folder::MOST);
    entries.truncate(Folder::MOST);
    Ok(Folder { path: path.to_owned(), entries, left_off })
}

/// `None` for what is neither file nor folder, and for a link that leads nowhere.
fn read(entry: &fs::DirEntry) -> Option<FolderEntry> {
    let metadata = fs::metadata(entry.path()).ok()?;
    (metadata.is_file() || metadata.is_dir()).then(|| FolderEntry {
        name: SafeText::file(&entry.file_name().to_string_lossy()),
        file_name: entry.file_name(),
        is_folder: metadata.is_dir(),
        bytes: metadata.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t01_names_are_listed_in_order_and_printable() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.png", "A.jpg", "c\u{1b}[2J"] {
            fs::write(folder.path().join(name), "123").unwrap();
        }
        fs::create_dir(folder.path().join("Z")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("gone")).unwrap();
        let listed = list(folder.path()).unwrap();
        let names: Vec<_> = listed.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["A.jpg", "b.png", "c␛[2J", "Z"]);
        assert_eq!((listed.entries[0].bytes, listed.entries[3].is_folder), (3, true));
        let failure = list(&folder.path().join("b.png")).unwrap_err();
        assert!(failure.to_string().contains("b.png cannot be listed"), "{failure}");
    }
}
