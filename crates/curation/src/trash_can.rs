//! Puts files into the trash of the desktop, and takes them out again.
//!
//! The library falls back to copying a file into a trash on another disk and removing it before the copy is durable.
//! [`check_trash`] therefore refuses a file for whose disk there is no trash.

use std::{
    cmp::Reverse,
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use tessera_files::{if_exists, parent_dir};

use crate::file_operations::{FileContent, is_writable, rename_new};

/// Returns why a file cannot be put into a trash of its disk.
#[cfg(target_os = "linux")]
pub fn check_trash(path: &Path) -> Result<(), String> {
    let refused = || {
        "its disk has no trash that this user can write to; move it with `tessera media move --to DIR` instead"
            .to_owned()
    };
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
    if is_there || is_usable(&top.join(format!(".Trash-{user}"))) { Ok(()) } else { Err(refused()) }
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
    check_trash(path).map_err(io::Error::other)?;
    trash::delete(path).map_err(|error| io::Error::other(describe(error)))?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(io::Error::other("the trash did not take it")),
    }
}

fn describe(error: trash::Error) -> String {
    match error {
        trash::Error::FileSystem { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Takes a file with the given content out of the trash. The library would first create an empty file at the original
/// path, which stays there after a crash, so the file is renamed here.
#[cfg(target_os = "linux")]
pub(crate) fn restore(trashed: &Trashed, path: &Path, content: &FileContent) -> io::Result<()> {
    let missing = || io::Error::other("it is no longer in the trash");
    let candidates = trashed.0.get(path).ok_or_else(missing)?;
    for info in candidates {
        let Some(file) = file_of(info).filter(|file| content.check(file).is_ok()) else { continue };
        fs::create_dir_all(parent_dir(path))?;
        // The caller makes the folders of all files durable at the end. Until then, a power cut leaves each file at its
        // old or its new name.
        rename_new(&file, path)?;
        // Without its description, the file is no longer in the trash.
        return if_exists(fs::remove_file(info)).map(drop);
    }
    Err(io::Error::other("it is no longer in the trash, or it was changed there"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn restore(_: &Trashed, _: &Path, _: &FileContent) -> io::Result<()> {
    Err(io::Error::other(
        "put it back from the trash of the system, which no program can open here",
    ))
}

/// The descriptions in the trash, by the original paths of their files, newest first.
#[derive(Default)]
pub(crate) struct Trashed(HashMap<PathBuf, Vec<PathBuf>>);

impl Trashed {
    #[cfg(target_os = "linux")]
    pub(crate) fn list() -> io::Result<Self> {
        let mut items =
            trash::os_limited::list().map_err(|error| io::Error::other(describe(error)))?;
        items.sort_by_key(|item| Reverse(item.time_deleted));
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
