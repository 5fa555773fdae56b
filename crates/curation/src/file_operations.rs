//! The operations on single files. Each of them creates a new name and never replaces an existing one. A file is
//! removed only when its bytes are durable at another place.

use std::{
    error::Error,
    ffi::OsString,
    fmt,
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, CWD, RenameFlags, access, renameat_with, rmdir},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use tessera_files::{
    TEMPORARY_PREFIX, create_shared_dir_durably, is_link_refused, parent_dir, private_file,
    share_blocks, sync_dir, synced,
};

use crate::{file_attributes::FileAttributes, plan::LinkKind};

/// A file has another content than the known one, which is that of the index unless the caller knows better.
#[derive(Debug)]
pub(crate) struct ContentChanged;

impl fmt::Display for ContentChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it has changed since it was indexed")
    }
}

impl Error for ContentChanged {}

/// What is known about the content of a file before an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileContent {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// The BLAKE3 hash of the file. `None` for a file that is not indexed, such as a sidecar.
    pub hash: Option<[u8; 32]>,
}

impl FileContent {
    /// Reads the size and time of a file. Links are not followed.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let modified = modified_nanos(&metadata);
        Ok(Self { size: metadata.len(), modified, hash: None })
    }

    /// Fails unless the file still has this content. The size and time decide, or the hash if the time is different.
    pub fn check(&self, path: &Path) -> io::Result<()> {
        let now = Self::of(path)?;
        let is_same_time = now.modified == self.modified;
        if now.size != self.size || !is_same_time && !self.has_hash_of(path)? {
            return Err(io::Error::other(ContentChanged));
        }
        Ok(())
    }

    /// Fails unless every byte of the file is the known one.
    pub(crate) fn check_bytes(&self, path: &Path) -> io::Result<()> {
        let now = Self::of(path)?;
        if now.size != self.size || !self.has_hash_of(path)? {
            return Err(io::Error::other("its content is not the indexed one"));
        }
        Ok(())
    }

    fn has_hash_of(&self, path: &Path) -> io::Result<bool> {
        Ok(match self.hash {
            Some(hash) => hash_of(path)? == hash,
            None => false,
        })
    }
}

pub(crate) fn hash_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().into())
}

fn modified_nanos(metadata: &fs::Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}

/// The name of an unfinished file of a step, which only this step uses.
pub(crate) fn temporary_path(target: &Path, action: &str, step: usize) -> PathBuf {
    parent_dir(target).join(format!("{TEMPORARY_PREFIX}{action}-{step}"))
}

/// Moves a file to a new name. On another disk, the file is copied, and removed when the copy is durable.
pub(crate) fn move_file(
    source: &Path,
    target: &Path,
    temporary: &Path,
    content: &FileContent,
) -> io::Result<()> {
    match rename_new(source, target) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            copy_file(CopyKind::Bytes, source, target, temporary)?;
            let removed = content.check(source).and_then(|()| remove_verified(source, target));
            removed.map_err(|error| discard_new_file(error, target, source))?;
            // The file has moved, and the end of the action makes its old folder durable in any case.
            let _ = sync_dir(parent_dir(source));
            Ok(())
        }
        renamed => renamed,
    }
}

/// Removes the original of a copy that a crash left. If the original has to stay, the copy is removed.
pub(crate) fn remove_original(source: &Path, copy: &Path, content: &FileContent) -> io::Result<()> {
    let removed = content.check(source).and_then(|()| remove_copy(source, copy));
    removed.map_err(|error| discard_new_file(error, copy, source))
}

/// Removes the new file of a step that fails with `error`, if the original has the same bytes. The returned error says
/// where a new file stays.
pub(crate) fn discard_new_file(error: io::Error, new: &Path, original: &Path) -> io::Error {
    if remove_copy(new, original).is_ok() || fs::symlink_metadata(new).is_err() {
        return error;
    }
    io::Error::new(error.kind(), format!("{error}; the new file {} stays", new.display()))
}

/// Removes a file if another file has the same bytes.
///
/// # Errors
/// `AlreadyExists` if the other file has other bytes.
pub(crate) fn remove_copy(path: &Path, other: &Path) -> io::Result<()> {
    if !is_same_file(path, other)? {
        if hash_of(path)? != hash_of(other)? {
            return Err(ErrorKind::AlreadyExists.into());
        }
        synced(File::open(other)?.sync_all())?;
        sync_dir(parent_dir(other))?;
    }
    remove_verified(path, other)
}

/// Removes a file whose bytes were found in another file. The file stays if both names lead to the same file, because a
/// folder may have become a link to the other folder or a mount of it. Moves and undos remove a file that has its own
/// bytes only here or in `exchange`.
fn remove_verified(path: &Path, other: &Path) -> io::Result<()> {
    if FileContent::of(other).is_err() || is_same_entry(path, other)? {
        let other = other.display();
        return Err(io::Error::other(format!(
            "it stays, because {other} is not another copy of it"
        )));
    }
    fs::remove_file(path)
}

/// Renames a file, and fails if the new name exists.
pub(crate) fn rename_new(source: &Path, target: &Path) -> io::Result<()> {
    let renamed = renameat_with(CWD, source, CWD, target, RenameFlags::NOREPLACE);
    let renamed = match renamed.map_err(io::Error::from) {
        Err(error) if is_link_refused(&error) && !is_about_disks(&error, source, target) => {
            link_and_remove(source, target)
        }
        renamed => renamed,
    };
    renamed.map_err(|error| explain_name(error, source, target))
}

/// Whether a rename failed because its names are on two disks, which the names in one folder never are.
fn is_about_disks(error: &io::Error, source: &Path, target: &Path) -> bool {
    error.kind() == ErrorKind::CrossesDevices && parent_dir(source) != parent_dir(target)
}

/// Says that a disk cannot hold a new name. File systems call such a name missing or an invalid argument.
fn explain_name(error: io::Error, source: &Path, target: &Path) -> io::Error {
    let is_about_name = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
        && error.get_ref().is_none()
        && fs::symlink_metadata(source).is_ok()
        && parent_dir(target).is_dir();
    if !is_about_name {
        return error;
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    io::Error::new(error.kind(), format!("the target disk cannot hold the name {name:?}"))
}

/// Renames a file on a file system whose rename would replace the target.
fn link_and_remove(source: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(source, target) {
        Err(error) if is_link_refused(&error) => return rename_to_reserved(source, target),
        linked => linked?,
    }
    let remove = || {
        if !is_same_file(source, target)? {
            return Err(io::Error::other("it was replaced by another program meanwhile"));
        }
        sync_dir(parent_dir(target))?;
        remove_verified(source, target)
    };
    remove().map_err(|error| discard_new_file(error, target, source))
}

/// Renames a file on a file system that has no hard links either. An empty file reserves the new name, so that the
/// rename replaces no other file. A crash can leave the empty file.
fn rename_to_reserved(source: &Path, target: &Path) -> io::Result<()> {
    File::create_new(target)?;
    // Another program may have written to the file meanwhile.
    let is_empty = || fs::symlink_metadata(target).is_ok_and(|metadata| metadata.len() == 0);
    if !is_empty() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let renamed = fs::rename(source, target);
    if renamed.is_err() && is_empty() {
        discard(target);
    }
    renamed
}

/// Creates a folder for files, with its parents, so that they survive a power cut after the originals have left. An
/// error names the folder, because it is not about one of the files.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    create_shared_dir_durably(folder).map_err(|error| {
        let missing = folder.ancestors().take_while(|it| fs::symlink_metadata(it).is_err()).last();
        let missing = missing.unwrap_or(folder);
        let error = explain_name(error, parent_dir(missing), missing);
        let reason = check_target_folder(folder).err();
        let reason = reason.unwrap_or_else(|| {
            format!("the folder {} cannot be created: {error}; give another one", folder.display())
        });
        io::Error::new(error.kind(), reason)
    })
}

/// Checks that no file is in the place of a folder for files, or in the place of one of its parents.
///
/// # Errors
/// Such a file exists. The text names this file.
pub fn check_target_folder(folder: &Path) -> Result<(), String> {
    match folder.ancestors().find(|existing| fs::symlink_metadata(existing).is_ok()) {
        Some(existing) if !existing.is_dir() => {
            Err(format!("{} is not a folder; give another one", existing.display()))
        }
        _ => Ok(()),
    }
}

/// Whether both names are links to one file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (fs::symlink_metadata(one)?, fs::symlink_metadata(other)?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Whether both names are one entry of one folder, which is reached in two ways.
pub(crate) fn is_same_entry(one: &Path, other: &Path) -> io::Result<bool> {
    let has_one_name = fs::symlink_metadata(one)?.nlink() < 2;
    Ok(is_same_file(one, other)? && (has_one_name || entry_of(one)? == entry_of(other)?))
}

/// Returns the device and inode of the folder of a file, and the name of the file in this folder.
pub(crate) fn entry_of(path: &Path) -> io::Result<(u64, u64, OsString)> {
    let folder = fs::metadata(parent_dir(path))?;
    Ok((folder.dev(), folder.ino(), path.file_name().unwrap_or_default().to_owned()))
}

/// Whether a file keeps its disk when it gets a new name. Folders may be missing.
pub(crate) fn is_on_disk_of(file: &Path, new_name: &Path) -> bool {
    let disk = |path: &Path| {
        let mut folders = path.ancestors().skip(1);
        folders.find_map(|folder| fs::metadata(folder).ok()).map(|metadata| metadata.dev())
    };
    disk(file) == disk(new_name)
}

/// Copies a file with its time, permissions and attributes, verifies the copy, and makes it durable.
pub(crate) fn copy_file(
    kind: CopyKind,
    source: &Path,
    target: &Path,
    temporary: &Path,
) -> io::Result<()> {
    let filled = fill_copy(source, temporary, kind);
    let published = filled.and_then(|()| rename_new(temporary, target));
    published.inspect_err(|_| discard(temporary))?;
    sync_dir(parent_dir(target)).map_err(|error| discard_new_file(error, target, source))
}

/// Creates a link to a file, or a file that shares its blocks.
pub(crate) fn link_file(
    kind: LinkKind,
    source: &Path,
    target: &Path,
    temporary: &Path,
) -> io::Result<()> {
    let linked = match kind {
        LinkKind::Hard => fs::hard_link(source, target),
        LinkKind::Symbolic => symlink(source, target),
        LinkKind::Reflink => return copy_file(CopyKind::SharedBlocks, source, target, temporary),
    };
    linked.map_err(|error| explain_name(error, source, target))?;
    sync_dir(parent_dir(target)).map_err(|error| discard_new_file(error, target, source))
}

/// Replaces a copy by a link to the kept file, so that the name of the copy exists at every moment. A file that shares
/// its blocks keeps the time and attributes of the copy.
pub(crate) fn replace_by_link(
    kind: LinkKind,
    copy: &Path,
    kept: &Path,
    temporary: &Path,
    content: &FileContent,
) -> io::Result<()> {
    content.check_bytes(copy)?;
    content.check_bytes(kept)?;
    if is_same_file(copy, kept)? {
        return Err(io::Error::other("it is a link to the kept file already"));
    }
    match kind {
        LinkKind::Hard => fs::hard_link(kept, temporary)?,
        LinkKind::Symbolic => {
            return Err(io::Error::other("a copy is not replaced by a symbolic link"));
        }
        LinkKind::Reflink => {
            let attributes = FileAttributes::of(&File::open(copy)?)?;
            let modified = FileContent::of(copy)?.modified;
            fill_file(kept, temporary, CopyKind::SharedBlocks, &attributes, modified)
                .inspect_err(|_| discard(temporary))?;
        }
    }
    exchange(copy, temporary, content)
}

/// Gives a file the name of another one, and removes the other one if its bytes are the known ones.
pub(crate) fn exchange(path: &Path, temporary: &Path, content: &FileContent) -> io::Result<()> {
    let exchanged = renameat_with(CWD, temporary, CWD, path, RenameFlags::EXCHANGE);
    exchanged.inspect_err(|_| discard(temporary)).map_err(|errno| match errno {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => io::Error::new(
            ErrorKind::Unsupported,
            "the file system cannot exchange two files at once",
        ),
        _ => errno.into(),
    })?;
    let remove = || {
        // Another program may have written to the file after it was checked.
        content.check_bytes(temporary)?;
        sync_dir(parent_dir(path))?;
        fs::remove_file(temporary)
    };
    if let Err(error) = remove() {
        // The file gets its name back.
        renameat_with(CWD, temporary, CWD, path, RenameFlags::EXCHANGE)?;
        discard(temporary);
        return Err(error);
    }
    Ok(())
}

#[derive(Clone, Copy)]
pub(crate) enum CopyKind {
    Bytes,
    SharedBlocks,
}

/// Fills a new file with the content, time and attributes of another one, and makes it durable.
pub(crate) fn fill_copy(source: &Path, temporary: &Path, kind: CopyKind) -> io::Result<()> {
    let modified = FileContent::of(source)?.modified;
    fill_file(source, temporary, kind, &FileAttributes::of(&File::open(source)?)?, modified)
}

/// Fills a new file with the content of another one, gives it attributes and a time, and makes it durable.
pub(crate) fn fill_file(
    source: &Path,
    temporary: &Path,
    kind: CopyKind,
    attributes: &FileAttributes,
    modified: i64,
) -> io::Result<()> {
    let before = FileContent::of(source)?;
    let mut from = File::open(source)?;
    // The original may be closed to other users, and its permissions come after its bytes.
    let mut to = private_file().read(true).create_new(true).open(temporary)?;
    match kind {
        CopyKind::Bytes => drop(io::copy(&mut from, &mut to)?),
        CopyKind::SharedBlocks => share_blocks(&to, &from)?,
    }
    attributes.give_to(&to, modified);
    synced(to.sync_all())?;
    if hash_of(temporary)? != hash_of(source)? || FileContent::of(source)? != before {
        return Err(io::Error::other("it changed while it was copied"));
    }
    Ok(())
}

/// Whether this user can create and remove files in a folder.
pub(crate) fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK).is_ok()
}

/// Fails if this user cannot remove a file from its folder.
pub(crate) fn check_removable(file: &Path) -> Result<(), String> {
    if !is_writable(parent_dir(file)) {
        return Err("this user cannot change the folder that it is in".to_owned());
    }
    // A file is never removed like a folder. Linux refuses this as not permitted if the file cannot be removed at all.
    if rmdir(file) == Err(Errno::PERM) {
        return Err("this user cannot remove it, because it is immutable or append-only, or another user's file in a \
                    folder with the sticky bit"
            .to_owned());
    }
    Ok(())
}

/// Removes an unfinished file of this program.
pub(crate) fn discard(temporary: &Path) {
    // A file that cannot be removed is removed when the action is resumed or undone.
    let _ = fs::remove_file(temporary);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_name_that_the_target_disk_cannot_hold_is_named() {
        let [source, target] = ["/proc/version", "/proc/a:b\n.png"].map(Path::new);
        let refused = rename_new(source, target).unwrap_err();
        assert_eq!(refused.to_string(), r#"the target disk cannot hold the name "a:b\n.png""#);
        let explained = |kind: ErrorKind, source: &str, target: &str| {
            explain_name(kind.into(), source.as_ref(), target.as_ref()).get_ref().is_some()
        };
        assert!(explained(ErrorKind::InvalidInput, "/proc", "/proc/a:b"));
        assert!(!explained(ErrorKind::NotFound, "/proc/missing", "/proc/a:b"));
        assert!(!explained(ErrorKind::NotFound, "/proc", "/proc/missing/a:b"));
        assert!(!explained(ErrorKind::StorageFull, "/proc", "/proc/a:b"));
    }

    #[test]
    fn a_copy_is_private_until_it_gets_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let [file, new] = ["file", "new"].map(|name| folder.path().join(name));
        fs::write(&file, "bytes").unwrap();
        fill_file(&file, &new, CopyKind::Bytes, &FileAttributes::default(), 0).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_new_file_is_discarded_only_while_the_original_has_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let [file, new] = ["file", "new"].map(|name| folder.path().join(name));
        let failed = || discard_new_file(ErrorKind::PermissionDenied.into(), &new, &file);
        for path in [&file, &new] {
            fs::write(path, "bytes").unwrap();
        }
        assert!(failed().get_ref().is_none() && !new.exists());
        assert!(failed().get_ref().is_none(), "nothing stays");
        symlink(&file, &new).unwrap();
        assert!(failed().get_ref().is_none() && fs::symlink_metadata(&new).is_err());
        fs::write(&new, "other").unwrap();
        let stays = format!("permission denied; the new file {} stays", new.display());
        assert_eq!(failed().to_string(), stays);
        fs::remove_file(&file).unwrap();
        assert_eq!(failed().to_string(), stays);
        assert_eq!(fs::read(&new).unwrap(), b"other");
    }

    #[test]
    fn a_rename_without_links_replaces_only_the_file_that_reserves_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let [file, new, other] = ["file", "new", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "bytes").unwrap();
        fs::write(&other, "of somebody else").unwrap();
        let refused = rename_to_reserved(&file, &other).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        rename_to_reserved(&file, &new).unwrap();
        assert_eq!(fs::read(&new).unwrap(), b"bytes");
        assert!(!file.exists());
        assert!(rename_to_reserved(&file, &folder.path().join("free")).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"of somebody else");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no reserved name is left");
    }
}
