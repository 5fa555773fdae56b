//! Puts files into the trash of the desktop, and takes them out again.
//!
//! The library falls back to copying a file into a trash on another disk and removing it before the copy is durable.
//! [`check_trash`] therefore refuses a file for whose disk there is no trash.

#[cfg(any(not(target_os = "linux"), test))]
use std::os::unix::fs::DirEntryExt as _;
#[cfg(not(target_os = "linux"))]
use std::os::unix::fs::MetadataExt as _;
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, parent_dir};

#[cfg(target_os = "linux")]
use crate::file_operations::is_writable;
use crate::{
    Step,
    file_operations::{check_removable, create_folder, rename_new},
};

/// What the trash appends to the name of a file for the name of its description.
#[cfg(target_os = "linux")]
const DESCRIPTION_EXTENSION: &str = ".trashinfo";
/// The longest name of a file on the file systems of Linux, in bytes.
#[cfg(target_os = "linux")]
const MAX_NAME: usize = 255;

/// Returns why a file cannot be put into a trash of its disk.
#[cfg(target_os = "linux")]
pub fn check_trash(path: &Path) -> Result<(), String> {
    let refused =
        |reason: &str| Err(format!("{reason}; move it with `tessera media move --to DIR` instead"));
    let name = path.file_name().unwrap_or_default();
    if name.len() + DESCRIPTION_EXTENSION.len() > MAX_NAME {
        return refused("its name is too long for the trash, which appends 10 bytes to it");
    }
    let folder = parent_dir(path);
    let Some(disk) = disk_of(folder) else { return Err("its folder is missing".to_owned()) };
    let is_on_disk = |folder: &Path| disk_of(folder) == Some(disk);
    let is_usable = |folder: &Path| {
        let existing = folder.ancestors().find(|folder| folder.exists());
        existing.is_some_and(|existing| is_on_disk(existing) && is_writable(existing))
    };
    if home_trash().is_some_and(|trash| is_usable(&trash)) {
        return Ok(());
    }
    let top = folder.ancestors().take_while(|folder| is_on_disk(folder)).last().unwrap_or(folder);
    let user = rustix::process::getuid().as_raw();
    let shared = top.join(".Trash").join(user.to_string());
    let is_there = shared.is_dir() && is_usable(&shared);
    if is_there || is_usable(&top.join(format!(".Trash-{user}"))) {
        return Ok(());
    }
    refused("its disk has no trash that this user can write to")
}

#[cfg(not(target_os = "linux"))]
pub fn check_trash(_: &Path) -> Result<(), String> {
    Ok(())
}

/// Returns what is equal for two folders between which a file can be renamed: the device, and the mount, because a disk
/// can be mounted twice.
#[cfg(target_os = "linux")]
fn disk_of(folder: &Path) -> Option<(u32, u32, u64)> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

    let found = statx(CWD, folder, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    Some((found.stx_dev_major, found.stx_dev_minor, found.stx_mnt_id))
}

#[cfg(target_os = "linux")]
fn home_trash() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
    Some(data.join("Trash"))
}

/// Puts a file into the trash.
pub(crate) fn put(path: &Path) -> io::Result<()> {
    // The library leaves an empty file in the trash if the file cannot be removed from its folder.
    check_removable(path).and_then(|()| check_trash(path)).map_err(io::Error::other)?;
    trash::delete(path).map_err(|error| io::Error::other(describe(error)))?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(io::Error::other("the trash did not take it")),
    }
}

fn describe(error: trash::Error) -> String {
    match error {
        #[cfg(target_os = "linux")]
        trash::Error::FileSystem { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Takes a file with the given content out of the trash. The library would first create an empty file at the original
/// path, which stays there after a crash, so the file is renamed here.
#[cfg(target_os = "linux")]
pub(crate) fn restore(trashed: &Trashed, step: &Step) -> io::Result<()> {
    let Step { source: path, content, .. } = step;
    let candidates = trashed.0.get(path).ok_or_else(not_in_trash)?;
    for info in candidates {
        let Some(file) = file_of(info).filter(|file| content.check(file).is_ok()) else { continue };
        create_folder(parent_dir(path))?;
        // The caller makes the folders of all files durable at the end. Until then, a power cut leaves each file at its
        // old or its new name.
        rename_new(&file, path)?;
        // Without its description, the file is no longer in the trash.
        return if_exists(fs::remove_file(info)).map(drop);
    }
    Err(not_in_trash())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn restore(_: &Trashed, step: &Step) -> io::Result<()> {
    take_from(&trash_folders(&step.source), step)
}

fn not_in_trash() -> io::Error {
    io::Error::other("the file is no longer in the trash, or it was changed there")
}

/// Returns the folders of the trash to which a rename from a path leads: the one of the user, and the one of the volume.
#[cfg(not(target_os = "linux"))]
fn trash_folders(path: &Path) -> Vec<PathBuf> {
    let device = |folder: &Path| fs::metadata(folder).ok().map(|metadata| metadata.dev());
    let Some(folder) = path.ancestors().skip(1).find(|folder| folder.exists()) else {
        return Vec::new();
    };
    let is_on_volume = |other: &Path| device(other) == device(folder);
    let volume = folder.ancestors().take_while(|it| is_on_volume(it)).last().unwrap_or(folder);
    let user = rustix::process::getuid().as_raw().to_string();
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".Trash"));
    let of_volume = volume.join(".Trashes").join(user);
    home.filter(|home| is_on_volume(home)).into_iter().chain([of_volume]).collect()
}

/// Takes the file that has the inode of a step out of a trash that keeps no original names.
#[cfg(any(not(target_os = "linux"), test))]
fn take_from(folders: &[PathBuf], step: &Step) -> io::Result<()> {
    for folder in folders {
        let Some(files) = if_exists(fs::read_dir(folder)).map_err(cannot_list)? else { continue };
        for file in files {
            let file = file?;
            let is_trashed = Some(file.ino()) == step.inode;
            if is_trashed && step.content.check(&file.path()).is_ok() {
                create_folder(parent_dir(&step.source))?;
                return rename_new(&file.path(), &step.source);
            }
        }
    }
    Err(not_in_trash())
}

/// macOS protects the trash from programs of a terminal that the user has not allowed to read it.
#[cfg(any(not(target_os = "linux"), test))]
fn cannot_list(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return error;
    }
    io::Error::other(
        "the trash cannot be listed; put the file back with Put Back in Finder, or allow the terminal Full Disk Access in \
         System Settings, Privacy & Security, and undo again",
    )
}

/// The descriptions in the trash, by the original paths of their files, newest first.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "other systems keep no descriptions, so the list is empty")
)]
#[derive(Default)]
pub(crate) struct Trashed(HashMap<PathBuf, Vec<PathBuf>>);

impl Trashed {
    #[cfg(target_os = "linux")]
    pub(crate) fn list() -> io::Result<Self> {
        let mut items =
            trash::os_limited::list().map_err(|error| io::Error::other(describe(error)))?;
        items.sort_by_key(|item| std::cmp::Reverse(item.time_deleted));
        let mut trashed = Self::default();
        for item in items {
            trashed.0.entry(item.original_path()).or_default().push(item.id.into());
        }
        Ok(trashed)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn list() -> io::Result<Self> {
        Ok(Self::default())
    }
}

/// Returns the file that a description in the trash is about, as the specification of the trash names it.
#[cfg(target_os = "linux")]
fn file_of(info: &Path) -> Option<PathBuf> {
    Some(info.parent()?.parent()?.join("files").join(info.file_stem()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileContent, Operation};

    /// Returns a step for a file that is in a pretend trash now, under a name of the trash.
    fn trashed(root: &Path, name: &str) -> Step {
        let (source, trash) = (root.join("pics").join(name), root.join(".Trash"));
        fs::create_dir_all(parent_dir(&source)).unwrap();
        fs::create_dir_all(&trash).unwrap();
        fs::write(&source, name).unwrap();
        let content = FileContent::of(&source).unwrap();
        let step = Step::new(Operation::Trash, source, PathBuf::new(), content).for_journal();
        fs::rename(&step.source, trash.join(format!("{name} 12.30.15"))).unwrap();
        step
    }

    #[test]
    fn a_file_is_found_in_the_trash_by_its_inode_and_moved_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let [a, b] = ["a.jpg", "b.jpg"].map(|name| trashed(root, name));
        fs::remove_dir(root.join("pics")).unwrap();
        let folders = [root.join("missing"), root.join(".Trash")];
        take_from(&folders, &b).unwrap();
        assert_eq!(fs::read(&b.source).unwrap(), b"b.jpg");
        assert!(!a.source.exists() && !root.join(".Trash/b.jpg 12.30.15").exists());

        fs::write(&a.source, "another file").unwrap();
        let error = take_from(&folders, &a).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&a.source).unwrap(), b"another file");
        fs::remove_file(&a.source).unwrap();
        fs::write(root.join(".Trash/a.jpg 12.30.15"), "changed there").unwrap();
        let error = take_from(&folders, &a).unwrap_err();
        assert!(error.to_string().contains("no longer in the trash"), "{error}");
    }

    #[test]
    fn a_trash_that_cannot_be_listed_is_named_with_what_to_do() {
        let error = cannot_list(io::ErrorKind::PermissionDenied.into()).to_string();
        assert!(error.contains("Put Back") && error.contains("Full Disk Access"), "{error}");
        assert_eq!(
            cannot_list(io::ErrorKind::NotADirectory.into()).kind(),
            io::ErrorKind::NotADirectory
        );
    }
}
