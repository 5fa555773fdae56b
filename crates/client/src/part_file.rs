//! The part file of a download: it grows beside the target and takes its name only when it has
//! been verified and is safe on the disk.
//!
//! Its name holds the identifier of the export, so that what is left of one export is never
//! continued with bytes of another.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::{
        fd::AsFd,
        unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use tempfile::TempPath;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _, BufWriter, SeekFrom};

use tessera_model::{ExportTaskId, Failure, FailureKind};

/// Bytes of the disk that a download leaves free.
const MIN_FREE_BYTES: u64 = 64 << 20;

/// Bytes that are written at once; so many at most are fetched again after a kill.
const WRITE_BUFFER_BYTES: usize = 256 << 10;
const FREE_SPACE_REMEDY: &str = "Free some space and download again: it goes on where it stopped";

/// What happens to a file that has the name of the download already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFile {
    /// It stays, and nothing is fetched.
    Keep,
    /// The download takes its place, once it is verified. Only a plain file is replaced.
    Replace,
}

/// A part file, open and locked.
pub(super) struct PartFile {
    target: PathBuf,
    existing: ExistingFile,
    path: PathBuf,
    file: BufWriter<tokio::fs::File>,
    bytes_written: u64,
}

impl PartFile {
    /// Opens the part file of `target`, or creates it.
    ///
    /// # Errors
    /// As [`check_target`]; and when another program downloads to it, or the folder cannot be
    /// written.
    pub(super) async fn open(
        target: &Path,
        existing: ExistingFile,
        task: ExportTaskId,
    ) -> Result<Self, Failure> {
        check_target(target, existing)?;
        let Some(name) = target.file_name() else {
            return Err(local_failure(target, "this is not the name of a file"));
        };
        let mut part = name.to_owned();
        part.push(format!(".{}.part", task.short()));
        let path = target.with_file_name(part);
        let file = open_locked(&path)?;
        let have = file.metadata().map_err(|error| disk_failure(&path, &error))?.len();
        // It may have been finished by another program while this one waited for the file.
        check_target(target, existing)?;
        let mut file =
            BufWriter::with_capacity(WRITE_BUFFER_BYTES, tokio::fs::File::from_std(file));
        let end = file.seek(SeekFrom::End(0)).await;
        end.map_err(|error| disk_failure(&path, &error))?;
        Ok(Self { target: target.to_owned(), existing, path, file, bytes_written: have })
    }

    /// Bytes it holds.
    pub(super) fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Whether the disk has room for so many more bytes, and something over.
    ///
    /// # Errors
    /// [`FailureKind::Local`] with both numbers; what is there stays.
    pub(super) fn check_room(&self, missing: u64) -> Result<(), Failure> {
        check_room(self.file.get_ref(), &self.path, missing)
    }

    /// Adds a piece at the end.
    pub(super) async fn append(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(piece).await;
        written.map_err(|error| disk_failure(&self.path, &error))?;
        self.bytes_written += piece.len() as u64;
        Ok(())
    }

    /// Throws away what it holds.
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

    /// Everything on the disk, and a second door to the file for the verification.
    pub(super) async fn sync(&mut self) -> Result<File, Failure> {
        let settled = async {
            self.file.flush().await?;
            self.file.get_ref().sync_all().await?;
            self.file.get_ref().try_clone().await
        };
        let file = settled.await.map_err(|error| disk_failure(&self.path, &error))?;
        Ok(file.into_std().await)
    }

    /// Gives the file its final name, without replacing another one that is to be kept.
    pub(super) fn publish(self) -> Result<(PathBuf, u64), Failure> {
        check_target(&self.target, self.existing)?;
        let renamed = TempPath::try_from_path(&self.path).and_then(|part| {
            let named = match self.existing {
                ExistingFile::Keep => part.persist_noclobber(&self.target),
                ExistingFile::Replace => part.persist(&self.target),
            };
            named.map_err(|failed| {
                // A temporary path removes its file when dropped; this one must stay.
                let kept = failed.path.keep();
                kept.err().map_or(failed.error, |failed| failed.error)
            })
        });
        renamed.map_err(|error| disk_failure(&self.target, &error))?;
        let folder = match self.target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let settled = File::open(folder).and_then(|folder| folder.sync_all());
        settled.map_err(|error| disk_failure(folder, &error))?;
        Ok((self.target, self.bytes_written))
    }

    /// Removes the file: nothing in it is worth going on with.
    pub(super) fn discard(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| disk_failure(&self.path, &error))
    }
}

/// Looks whether a download may get this name.
///
/// # Errors
/// [`FailureKind::Local`] when it exists and is to be kept, or is no plain file.
pub fn check_target(target: &Path, existing: ExistingFile) -> Result<(), Failure> {
    match fs::symlink_metadata(target) {
        Ok(found) if existing == ExistingFile::Replace && found.is_file() => Ok(()),
        Ok(_) if existing == ExistingFile::Replace => {
            Err(local_failure(target, "is no plain file and is not replaced")
                .with_remedy("Choose another name"))
        }
        Ok(_) => Err(local_failure(target, "already exists and is not overwritten")
            .with_remedy("Choose another name, or move the old file away")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk_failure(target, &error)),
    }
}

/// Whether the disk that `open` lies on has room for so many more bytes, and something over.
///
/// # Errors
/// [`FailureKind::Local`] with both numbers.
pub(super) fn check_room(open: impl AsFd, path: &Path, missing: u64) -> Result<(), Failure> {
    let space = rustix::fs::fstatvfs(open).map_err(|error| disk_failure(path, &error.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if missing == 0 || free >= missing.saturating_add(missing / 20).saturating_add(MIN_FREE_BYTES) {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let reason = format!("{} MiB are still to come, and {} MiB are free", mib(missing), mib(free));
    Err(local_failure(path, &reason).with_remedy(FREE_SPACE_REMEDY))
}

fn open_locked(path: &Path) -> Result<File, Failure> {
    let is_not_a_file = fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if is_not_a_file {
        return Err(local_failure(path, "is in the way and is no file").with_remedy("Move it away"));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path).map_err(|error| disk_failure(path, &error))?;
    let busy = || {
        local_failure(path, "another program downloads this archive").with_remedy("Let it finish")
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(busy()),
        Err(TryLockError::Error(error)) => return Err(disk_failure(path, &error)),
    }
    // Between opening and locking, the other program may have renamed this very file.
    let same = fs::symlink_metadata(path)
        .and_then(|named| Ok(named.ino() == file.metadata()?.ino()))
        .is_ok_and(|same| same);
    if same { Ok(file) } else { Err(busy()) }
}

pub(super) fn local_failure(path: &Path, reason: &str) -> Failure {
    Failure::new(FailureKind::Local, format!("{}: {reason}", path.display()))
}

pub(super) fn disk_failure(path: &Path, error: &io::Error) -> Failure {
    let failure = local_failure(path, &error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.with_remedy(FREE_SPACE_REMEDY)
        }
        io::ErrorKind::NotFound => failure.with_remedy("Make the folder first, or choose another"),
        io::ErrorKind::PermissionDenied => failure.with_remedy("Choose a folder you may write to"),
        io::ErrorKind::AlreadyExists => failure.with_remedy("Choose another name"),
        _ => failure,
    }
}
