//! The part file of a download, and checks and errors of the local disk. The part file is in the folder of the target,
//! and is renamed only after it was verified and synced.
//!
//! The name of a part file contains the identifier of the export, so that the part file of one export is never
//! continued with the bytes of another.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempPath;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _, BufWriter, SeekFrom};

use tessera_model::{ExportTaskId, Failure};

/// The size of the write buffer. After a crash, at most this much is downloaded again.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFile {
    /// The file stays, and nothing is downloaded.
    Keep,
    /// The verified download replaces the file, if it is a regular file.
    Replace,
}

/// A part file that is open and locked.
pub(super) struct PartFile {
    target: PathBuf,
    existing: ExistingFile,
    path: PathBuf,
    file: BufWriter<tokio::fs::File>,
    pub bytes_written: u64,
}

impl PartFile {
    pub(super) async fn open(
        target: &Path,
        existing: ExistingFile,
        task: ExportTaskId,
    ) -> Result<Self, Failure> {
        check_target(target, existing)?;
        let Some(name) = target.file_name() else {
            return Err(local_failure(target, "not a file name"));
        };
        let mut part = name.to_owned();
        part.push(format!(".{}.part", task.short()));
        let path = target.with_file_name(part);
        let file = open_locked(&path)?;
        // Another program may have finished the download while this one waited for the lock.
        check_target(target, existing)?;
        let mut file =
            BufWriter::with_capacity(WRITE_BUFFER_BYTES, tokio::fs::File::from_std(file));
        let end = file.seek(SeekFrom::End(0)).await;
        let bytes_written = end.map_err(|error| disk_failure(&path, &error))?;
        Ok(Self { target: target.to_owned(), existing, path, file, bytes_written })
    }

    pub(super) fn check_room(&self, missing: u64) -> Result<(), Failure> {
        check_room(&self.path, missing)
    }

    pub(super) async fn append(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(chunk).await;
        written.map_err(|error| disk_failure(&self.path, &error))?;
        self.bytes_written += chunk.len() as u64;
        Ok(())
    }

    pub(super) async fn restart(&mut self) -> Result<(), Failure> {
        let emptied = async {
            self.file.flush().await?;
            self.file.get_ref().set_len(0).await?;
            self.file.rewind().await
        };
        emptied.await.map_err(|error| disk_failure(&self.path, &error))?;
        self.bytes_written = 0;
        Ok(())
    }

    /// Writes everything to disk, and returns a second handle for the verification.
    pub(super) async fn sync(&mut self) -> Result<File, Failure> {
        let synced = async {
            self.file.flush().await?;
            tessera_files::synced(self.file.get_ref().sync_all().await)?;
            self.file.get_ref().try_clone().await
        };
        let file = synced.await.map_err(|error| disk_failure(&self.path, &error))?;
        Ok(file.into_std().await)
    }

    /// Renames the part file to its target, unless the target exists and is kept.
    pub(super) fn publish(self) -> Result<(PathBuf, u64), Failure> {
        check_target(&self.target, self.existing)?;
        let renamed = match self.existing {
            ExistingFile::Keep => TempPath::try_from_path(&self.path)
                .and_then(|part| tessera_files::publish_new(part, &self.target)),
            ExistingFile::Replace => fs::rename(&self.path, &self.target),
        };
        renamed.map_err(|error| disk_failure(&self.target, &error))?;
        let folder = tessera_files::parent_dir(&self.target);
        tessera_files::sync_dir(folder).map_err(|error| disk_failure(folder, &error))?;
        Ok((self.target, self.bytes_written))
    }

    pub(super) fn discard(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| disk_failure(&self.path, &error))
    }
}

/// Checks that an archive can be saved in a folder.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !folder.is_dir() {
        let reason = if folder.exists() { "not a folder" } else { "the folder does not exist" };
        let failure = local_failure(folder, reason);
        return Err(failure.with_remedy("Create the folder first, or choose another one"));
    }
    // Permissions say nothing about quotas and the disks of other machines, so a file without a name is created.
    tempfile::tempfile_in(folder).map(drop).map_err(|error| disk_failure(folder, &error))
}

/// Checks that an archive can be extracted into a folder, which is created if it is missing.
pub fn check_extraction_folder(folder: &Path) -> Result<(), Failure> {
    let mut existing = folder.ancestors();
    existing
        .find(|folder| folder.exists())
        .map_or_else(|| check_folder(Path::new("")), check_folder)
}

/// Checks that an archive can be saved at a path. This is called before the export starts.
pub fn check_target(target: &Path, existing: ExistingFile) -> Result<(), Failure> {
    if target.as_os_str() == "-" {
        return Err(local_failure(target, "this cannot be written to standard output")
            .with_remedy("Give the name of a file"));
    }
    check_folder(target.parent().unwrap_or(Path::new("")))?;
    match fs::symlink_metadata(target) {
        Ok(known) if existing == ExistingFile::Replace && known.is_file() => Ok(()),
        Ok(_) if existing == ExistingFile::Replace => {
            Err(local_failure(target, "not a regular file, so it is not replaced")
                .with_remedy("Choose another name"))
        }
        Ok(_) => Err(local_failure(target, "already exists and is not overwritten")
            .with_remedy("Choose another name, or move the old file away")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk_failure(target, &error)),
    }
}

fn open_locked(path: &Path) -> Result<File, Failure> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(
            local_failure(path, "exists and is not a regular file").with_remedy("Move it away")
        );
    }
    let locked =
        tessera_files::open_shared_locked(path).map_err(|error| disk_failure(path, &error))?;
    let busy = || {
        local_failure(path, "another program is downloading this archive")
            .with_remedy("Wait until it has finished")
    };
    let file = locked.ok_or_else(busy)?;
    // Another program may have renamed this file between the opening and the locking.
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(opened)) if named.ino() == opened.ino() => Ok(file),
        _ => Err(busy()),
    }
}

/// The disk space that a download leaves free.
const MIN_FREE_BYTES: u64 = 64 << 20;
const FREE_SPACE_REMEDY: &str = "Free some space and try again; a download resumes";

pub(super) fn local_failure(path: &Path, reason: &str) -> Failure {
    Failure::local(format!("{}: {reason}", path.display()))
}

pub(super) fn disk_failure(path: &Path, error: &io::Error) -> Failure {
    let failure = local_failure(path, &error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.with_remedy(FREE_SPACE_REMEDY)
        }
        io::ErrorKind::NotFound => {
            failure.with_remedy("Create the folder first, or choose another one")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.with_remedy("Choose a folder you may write to")
        }
        io::ErrorKind::AlreadyExists => failure.with_remedy("Choose another name"),
        _ => failure,
    }
}

/// Checks that the disk of `path` has room for `missing` more bytes and a reserve. A disk that does not report its
/// space may have room.
pub(super) fn check_room(path: &Path, missing: u64) -> Result<(), Failure> {
    let needed = missing.saturating_add(missing / 20).saturating_add(MIN_FREE_BYTES);
    let free = tessera_files::free_space(path).filter(|free| missing > 0 && *free < needed);
    let Some(free) = free else { return Ok(()) };
    let reason = too_little_room(needed, free);
    Err(local_failure(path, &reason).with_remedy(FREE_SPACE_REMEDY))
}

/// Describes a full disk. The numbers are rounded away from each other, so that they differ.
fn too_little_room(needed: u64, free: u64) -> String {
    let (needed, free) = (needed.div_ceil(1 << 20), free >> 20);
    format!("{needed} MiB are needed, with a reserve, but only {free} MiB are free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::SafeText;

    #[test]
    fn a_disk_with_too_little_room_shows_different_numbers() {
        let expected = "2 MiB are needed, with a reserve, but only 1 MiB are free";
        assert_eq!(too_little_room((1 << 20) + 2, (1 << 20) + 1), expected);
    }

    #[test]
    fn a_disk_that_does_not_report_its_space_may_have_room() {
        let folder = tempfile::tempdir().unwrap();
        check_room(folder.path(), 0).unwrap();
        assert!(check_room(folder.path(), u64::MAX).is_err());
        // The file system of processes has no blocks.
        check_room(Path::new("/proc"), u64::MAX).unwrap();
    }

    #[test]
    fn each_error_of_a_disk_says_what_to_do() {
        let path = Path::new("x.zip");
        for (kind, remedy) in [
            (io::ErrorKind::StorageFull, FREE_SPACE_REMEDY),
            (io::ErrorKind::QuotaExceeded, FREE_SPACE_REMEDY),
            (io::ErrorKind::FileTooLarge, FREE_SPACE_REMEDY),
            (io::ErrorKind::NotFound, "Create the folder first, or choose another one"),
            (io::ErrorKind::PermissionDenied, "Choose a folder you may write to"),
            (io::ErrorKind::ReadOnlyFilesystem, "Choose a folder you may write to"),
            (io::ErrorKind::AlreadyExists, "Choose another name"),
        ] {
            let failure = disk_failure(path, &kind.into());
            assert_eq!(failure.remedy.as_ref().map(SafeText::as_str), Some(remedy), "{kind}");
            assert!(failure.message.as_str().starts_with("x.zip: "), "{failure}");
        }
        assert!(disk_failure(path, &io::ErrorKind::Interrupted.into()).remedy.is_none());
    }
}
